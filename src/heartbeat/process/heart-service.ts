/** The heart as a service of its process, and the daemon beside it. It knows no signals or exit codes. */
import { setTimeout as delay } from 'node:timers/promises';
import { createApiKey, type ApiKey } from '../../client/api-key.ts';
import { daemonEnvironment, type ServiceManagerSettings } from '../../config/other-variables.ts';
import { describeProblem, isError, errorsIn, type ConfigProblem } from '../../config/problem.ts';
import { credentialsOf } from '../../config/secrets.ts';
import { HEART_OPTIONS, type HeartSettings } from '../../config/options.ts';
import { unreadable } from '../../config/values.ts';
import type { LoadedHeart } from '../../config/load-heart.ts';
import { LOG_LEVELS, type LogLevel } from '../../config/value-types.ts';
import { Redaction } from '../../contract/text/redaction.ts';
import { watchFiles } from '../../config/files.ts';
import { Turns } from '../../time/repeating.ts';
import { labelOf, type Wanted } from '../discovery/wanted.ts';
import { Heart, type AppChoice, type HeartListener } from '../heart.ts';
import { HeartbeatLogger } from './heartbeat-logger.ts';
import { startDaemonChild, Supervisor, type StartDaemon, type SupervisorOptions } from './supervisor.ts';
import {
  attemptsAtOnce,
  containerLimit,
  daemonMemory,
  residentMemory,
  Vitals,
  createServiceManager,
  type ServiceManager,
} from './system.ts';
import { counted, createHeartLog, MESSAGES, NAMED, nonBlocking, type HeartLog, type Stderr } from './log.ts';
import { Reports } from './reports.ts';

interface HeartServiceOptions extends LoadedHeart {
  readonly settings: HeartSettings;
  readonly loadConfig: () => LoadedHeart | Promise<LoadedHeart>;
  readonly stderr: Stderr;
}

export interface DaemonOptions {
  readonly onQuit: () => void;
  readonly serviceManager: ServiceManagerSettings | undefined;
  readonly start?: StartDaemon;
}

/** If the daemon does not begin a reload within this time, the heart reloads alone, ms. */
const RELOAD_PATIENCE_MS = 3_000;
/** A scheduler that has not looked at the clock for this long is stuck, ms. */
const STUCK_MS = 10_000;
/** Part of SHUTDOWN_TIMEOUT that is kept for the process' own end, ms. */
const END_MS = 300;

type ReloadResult = Awaited<ReturnType<SupervisorOptions['onReload']>>;

export class HeartService {
  readonly firstExchange: Promise<void>;
  readonly #options: HeartServiceOptions;
  readonly #apiKey: ApiKey;
  readonly #reports: Reports;
  readonly #log: HeartLog;
  readonly #logger: HeartbeatLogger;
  readonly #heart: Heart;
  #settings: HeartSettings;
  #level: LogLevel;
  #unwatchKey: () => void;
  #supervisor: Supervisor | undefined;
  #manager: ServiceManager | undefined;
  #reloadAlone: NodeJS.Timeout | undefined;
  /** Variables that were malformed at the last load, so that their defaults are used. */
  #tolerated: ReadonlySet<string>;
  readonly #turns = new Turns();

  constructor(options: HeartServiceOptions) {
    const { settings, stderr, files, problems, ignoredNames } = options;
    const { promise: firstExchange, resolve: exchanged } = Promise.withResolvers<void>();
    this.firstExchange = firstExchange;
    this.#options = options;
    this.#tolerated = new Set(errorsIn(options.tolerated));
    this.#settings = settings;
    this.#level = settings.logLevel;
    this.#apiKey = createApiKey(settings.apiKey, files.get('apiKey'));
    this.#log = createHeartLog({
      stderr,
      level: () => this.#level,
      format: settings.logFormat,
      redaction: new Redaction(() => credentialsOf(this.#settings, this.#apiKey.current())),
      onMessage: (level) => this.#reports.message(level),
    });
    this.#reports = new Reports(() => this.#heart, new Vitals());
    this.#logger = new HeartbeatLogger(this.#log, () => this.#heart);
    this.#heart = new Heart({
      baseUrl: settings.baseUrl,
      apiKey: this.#apiKey,
      listener: this.#listener(exchanged),
      deployments: settings.deployments,
      settings,
      app: appOf(settings),
      attemptsAtOnce: attemptsAtOnce(),
    });
    this.#logProblems(problems);
    if (ignoredNames.length > 0) this.#log(MESSAGES.ignoredVariables, { names: ignoredNames });
    this.#logOverridden(problems);
    this.#unwatchKey = this.#watchKeyFile();
  }

  startDaemon({ onQuit, serviceManager, start }: DaemonOptions): void {
    const onFailure = ({ message }: Error): unknown => this.#log(MESSAGES.systemdFailed, { error: message });
    this.#manager = serviceManager && createServiceManager(serviceManager, onFailure);
    this.#manager?.ready(this.#statusLine());
    this.#manager?.watch(() => this.#isLive());
    const output = { stdout: nonBlocking(1), stderr: nonBlocking(2) };
    const { bound, heapMebibytes } = daemonMemory(containerLimit());
    const environment = daemonEnvironment();
    this.#supervisor = new Supervisor({
      start: start ?? ((restarts) => startDaemonChild({ restarts, ...output, heapMebibytes, environment })),
      reports: this.#reports,
      log: this.#log,
      memoryOf: residentMemory,
      memoryBound: bound,
      onReload: () => this.#reloadOwn(),
      onReloadRefused: () => clearTimeout(this.#reloadAlone),
      onAsk: (ask) => this.#heart.answer(ask),
      onLogLevel: (wanted) => {
        this.#level = LOG_LEVELS.find((known) => known === wanted) ?? this.#level;
      },
      onQuit,
    });
  }

  reload(): void {
    this.#manager?.reloading();
    // The daemon asks for it in turn, once it knows that its own part is fine.
    const asked = this.#supervisor?.reload() ?? false;
    clearTimeout(this.#reloadAlone);
    this.#reloadAlone = setTimeout(() => void this.#reloadOwn(), asked ? RELOAD_PATIENCE_MS : 0);
  }

  fault(what: string, error: unknown): void {
    const { message, stack } = error instanceof Error ? error : { message: String(error), stack: undefined };
    this.#log(MESSAGES.unexpected, { event: what, error: message, stack });
  }

  /** Ends the daemon, sends the last heartbeats, ends the rest. Returns what is left of SHUTDOWN_TIMEOUT. */
  async stop(): Promise<{ readonly leftMs: number }> {
    clearTimeout(this.#reloadAlone);
    this.#manager?.stopping();
    const deadline = performance.now() + this.#settings.shutdownTimeout - END_MS;
    const left = (): number => Math.max(0, deadline - performance.now());
    const daemonEnds = this.#supervisor?.stop(left()) ?? Promise.resolve(true);
    await Promise.race([daemonEnds, delay(Math.max(0, left() - this.#lastBeatsMs()))]);
    const missed = this.#settings.finalHeartbeat ? await this.#heart.lastBeats(left()) : [];
    if (missed.length > 0) this.#log(MESSAGES.lastNotAccepted, counted(missed));
    if (!(await daemonEnds)) this.#log(MESSAGES.daemonKilled);
    this.#unwatchKey();
    this.#logger.close();
    await Promise.race([this.#heart.stop(), delay(END_MS / 2)]);
    this.#log(MESSAGES.ended);
    return { leftMs: left() + END_MS / 2 };
  }

  #listener(exchanged: () => void): HeartListener {
    const [reports, logger] = [this.#reports, this.#logger];
    return {
      notice(id, notice) {
        if (notice.type === 'sent') reports.lag(notice.lagMs);
        reports.changed(id);
        logger.notice(id, notice);
      },
      exchange(event) {
        exchanged();
        reports.exchange(event);
      },
      removed(id) {
        reports.removed(id);
        logger.forget(id);
      },
      replaced(id, by, name) {
        reports.changed(id);
        logger.replaced(id, by, name);
      },
      discovery: (notice) => logger.discovery(notice),
      keyUnreadable: (why) => {
        const message = this.#apiKey.current() === '' ? MESSAGES.keyMissing : MESSAGES.keyUnreadable;
        this.#log(message, unreadable(HEART_OPTIONS.apiKey, this.#apiKey.file() ?? '', why));
      },
      app: (news) => logger.app(news),
    };
  }

  #logProblems(problems: readonly ConfigProblem[]): void {
    for (const problem of problems.filter(({ severity }) => severity !== 'note')) {
      const message = isError(problem) ? MESSAGES.configError : MESSAGES.configWarning;
      this.#log(message, { problem: describeProblem(problem) });
    }
  }

  #logOverridden(problems: readonly ConfigProblem[]): void {
    const names = problems.filter(({ severity }) => severity === 'note').map(({ variable }) => variable);
    if (names.length > 0) this.#log(MESSAGES.overriddenVariables, { names });
  }

  #watchKeyFile(): () => void {
    const path = this.#apiKey.file();
    return watchFiles(path === undefined ? [] : [path], () => void this.#heart.keyChanged());
  }

  async #reloadOwn(): Promise<ReloadResult> {
    clearTimeout(this.#reloadAlone);
    // One after the other: a slow file must not bring back what a later reload has replaced.
    const result = await this.#turns.take('reload', () => this.#loadAgain());
    this.#manager?.ready(this.#statusLine());
    return result;
  }

  /** All of the heart's part, or nothing. What only a restart can change stays. */
  async #loadAgain(): Promise<ReloadResult> {
    const { settings: next, files, ...loaded } = await this.#options.loadConfig();
    // What would fall back at a start stays as it is.
    const words = [...loaded.problems, ...loaded.tolerated]
      .filter((problem) => errorsIn([problem]).some((error) => !this.#tolerated.has(error)))
      .map((problem) => describeProblem(problem));
    if (next === undefined || words.length > 0) {
      this.#log(MESSAGES.reloadRefused, { problems: words });
      return { ok: false, problems: words };
    }
    this.#logOverridden(loaded.problems);
    this.#tolerated = new Set(errorsIn(loaded.tolerated));
    const { logLevel, baseUrl, logFormat, deployments } = this.#settings;
    if (next.logLevel !== logLevel) this.#level = next.logLevel;
    this.#settings = { ...next, baseUrl, logFormat };
    this.#apiKey.replace(next.apiKey, files.get('apiKey'));
    this.#unwatchKey();
    this.#unwatchKey = this.#watchKeyFile();
    this.#heart.reload(next.deployments, next, appOf(next));
    // A deployment that goes on may have another name.
    for (const id of this.#heart.deploymentIds()) this.#reports.changed(id);
    await this.#heart.keyChanged();
    this.#log(MESSAGES.reloaded, {
      deployments: next.deployments.length,
      added: missingIn(deployments, next.deployments),
      dropped: missingIn(next.deployments, deployments),
    });
    return { ok: true, problems: [] };
  }

  #isLive(): boolean {
    return this.#settings.deployments.length === 0 || Date.now() - this.#heart.lastTickAt() < STUCK_MS;
  }

  #statusLine(): string {
    const { length } = this.#settings.deployments;
    return `keeping ${length} deployment${length === 1 ? '' : 's'} alive`;
  }

  /** How long before the end the last heartbeats must leave, ms. */
  #lastBeatsMs(): number {
    const { finalHeartbeat, shutdownTimeout } = this.#settings;
    return finalHeartbeat ? Math.min(shutdownTimeout, this.#heart.lastBeatsTakeMs()) : 0;
  }
}

function appOf({ appHealth, appGrace }: HeartSettings): AppChoice | undefined {
  return appHealth === undefined ? undefined : { address: appHealth, grace: appGrace };
}

function missingIn(some: readonly Wanted[], all: readonly Wanted[]): readonly string[] | undefined {
  const known = new Set(some.map((one) => labelOf(one)));
  const labels = all.map((one) => labelOf(one)).filter((label) => !known.has(label));
  const more = labels.length - NAMED;
  if (labels.length === 0) return undefined;
  return more > 0 ? [...labels.slice(0, NAMED), `and ${more} more`] : labels;
}
