/**
 * The heart as a service of its process: heartbeats, their log lines, and from `startDaemon` on the daemon beside them.
 * It knows neither signals nor exit codes (main.ts does).
 */
import { unwatchFile, watchFile } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { createApiKey } from '../../client/api-key.ts';
import { type ConfigProblem, describeProblem, isError } from '../../config/problem.ts';
import type { HeartSettings } from '../../config/options/heart-options.ts';
import type { LoadedHeart } from '../../config/load-heart.ts';
import { LOG_LEVELS, type LogLevel } from '../../config/types/log-levels.ts';
import type { ServiceManagerSettings } from '../../config/service-manager.ts';
import { openHeart, type Heart } from '../heart.ts';
import { Announcer } from './log/announcer.ts';
import type { StartDaemon } from './supervision/daemon-child.ts';
import { createHeartLog } from './log/log.ts';
import { attemptsAtOnce } from './open-files.ts';
import { Reports } from './link/reports.ts';
import { nonBlocking, type Stderr } from './log/stderr.ts';
import type { Supervisor } from './supervision/supervisor.ts';
import type { ServiceManager } from './service-manager.ts';

export interface HeartServiceOptions extends LoadedHeart {
  readonly settings: HeartSettings;
  /** Reads the configuration again, for a reload. */
  readonly loadConfig: () => LoadedHeart;
  readonly stderr: Stderr;
}

export interface HeartService {
  /** Resolves when the first request has ended, whatever came of it; never without a deployment. */
  readonly firstExchange: Promise<void>;
  /** False where what it needs could not be loaded: to be tried again. */
  startDaemon(options: DaemonOptions): Promise<boolean>;
  reload(): void;
  /** Something that should not happen, and that ends nothing. */
  fault(what: string, error: unknown): void;
  /** Ends the daemon, sends the last heartbeats, once, and ends everything here. What is left of SHUTDOWN_TIMEOUT. */
  stop(): Promise<{ readonly leftMs: number }>;
}

export interface DaemonOptions {
  readonly onQuit: () => void;
  readonly serviceManager: ServiceManagerSettings | undefined;
  /** How a daemon is started; as a child process when absent. */
  readonly start?: StartDaemon;
}

/** A secret in a file is looked at this often, ms: in a pod it is swapped by way of a symbolic link. */
const LOOK_AT_KEY_MS = 2_000;
/** A daemon that was asked to reload and does not begin to within this long is not waited for, ms. */
const RELOAD_PATIENCE_MS = 3_000;
/** A scheduler that has not looked at the clock for this long is wedged, ms. */
const WEDGED_MS = 10_000;
/** What of SHUTDOWN_TIMEOUT is kept for the process' own end, ms. */
const END_MS = 300;

export function startHeartService(options: HeartServiceOptions): HeartService {
  const { stderr } = options;
  let { settings } = options;
  const apiKey = createApiKey(settings.apiKey, options.files.get('apiKey'));
  const { promise: firstExchange, resolve: exchanged } = Promise.withResolvers<void>();
  const reports = new Reports({
    view: (id) => heart.view(id),
    deploymentIds: () => heart.deploymentIds(),
    lastTickAt: () => heart.lastTickAt(),
    openConnections: () => heart.openConnections(),
  });
  let level: LogLevel = settings.logLevel;
  const log = createHeartLog({
    stderr,
    level: () => level,
    format: settings.logFormat,
    secret: () => apiKey.current(),
    onMessage: (said) => reports.message(said),
  });
  const announcer = new Announcer(log, () => heart.sharedLimit());
  const heart: Heart = openHeart({
    baseUrl: settings.baseUrl,
    apiKey,
    listener: {
      notice(id, notice) {
        if (notice.type === 'sent') reports.lag(notice.lagMs);
        reports.changed(id);
        announcer.notice(id, notice);
      },
      exchange(event) {
        exchanged();
        reports.exchange(event);
      },
      removed(id) {
        reports.removed(id);
        announcer.forget(id);
      },
      remark: (remark) => announcer.remark(remark),
      keyUnreadable: (why) =>
        announcer.rarely('the API key could not be read again; the old one stays', { why }),
    },
    deployments: settings.deployments,
    settings,
    attemptsAtOnce: attemptsAtOnce(),
  });
  sayProblems(options.problems);
  if (options.ignoredNames.length > 0)
    log.info({ names: options.ignoredNames }, 'variables that Kubernetes made for a Service are ignored');
  let unwatch = watchKeyFile(options.files.get('apiKey'));
  let supervisor: Supervisor | undefined;
  let manager: ServiceManager | undefined;
  let reloadAlone: NodeJS.Timeout | undefined;
  let stopping = false;

  function sayProblems(problems: readonly ConfigProblem[]): void {
    for (const problem of problems) {
      if (problem.severity === 'note') continue;
      log[isError(problem) ? 'error' : 'warn'](
        { problem: describeProblem(problem) },
        'configuration problem',
      );
    }
  }

  function watchKeyFile(path: string | undefined): () => void {
    if (path === undefined) return () => {};
    const look = (): void => void heart.keyChanged();
    watchFile(path, { interval: LOOK_AT_KEY_MS, persistent: false }, look);
    return () => unwatchFile(path, look);
  }

  async function reloadOwn(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }> {
    clearTimeout(reloadAlone);
    const result = await loadAgain();
    manager?.ready(statusLine());
    return result;
  }

  /** All of the heart's part, or nothing. What only a restart can change stays, and the daemon says so. */
  async function loadAgain(): Promise<{ readonly ok: boolean; readonly problems: readonly string[] }> {
    const { settings: next, problems, files } = options.loadConfig();
    if (next === undefined || problems.some(isError)) {
      const words = problems.filter(isError).map((problem) => describeProblem(problem));
      log.error(
        { problems: words },
        'reload refused: the configuration is invalid; the old one stays in force',
      );
      return { ok: false, problems: words };
    }
    if (next.logLevel !== settings.logLevel) level = next.logLevel;
    settings = { ...next, baseUrl: settings.baseUrl, logFormat: settings.logFormat };
    apiKey.replace(settings.apiKey, files.get('apiKey'));
    unwatch();
    unwatch = watchKeyFile(files.get('apiKey'));
    heart.reload(settings.deployments, settings);
    await heart.keyChanged();
    log.info({ deployments: settings.deployments.length }, 'heartbeats reloaded');
    return { ok: true, problems: [] };
  }

  function statusLine(): string {
    const { length } = settings.deployments;
    return `keeping ${length} deployment${length === 1 ? '' : 's'} lit`;
  }

  /** When the last heartbeats must leave at the latest, so that they end in time, ms before that. */
  function lastBeatsMs(): number {
    return settings.finalHeartbeat ? Math.min(settings.shutdownTimeout, heart.lastBeatsTakeMs()) : 0;
  }

  return {
    firstExchange,
    async startDaemon({ onQuit, serviceManager, start }) {
      try {
        const [{ superviseDaemon }, { startDaemonChild }, memory, { createServiceManager }] =
          await Promise.all([
            import('./supervision/supervisor.ts'),
            import('./supervision/daemon-child.ts'),
            import('./supervision/memory.ts'),
            import('./service-manager.ts'),
          ]);
        if (stopping) return true;
        manager = createServiceManager(serviceManager, ({ message }) =>
          log.warn({ error: message }, 'systemd-notify failed; systemd does not know how this service fares'),
        );
        manager.ready(statusLine());
        manager.watch(() => Date.now() - heart.lastTickAt() < WEDGED_MS || settings.deployments.length === 0);
        const output = { stdout: nonBlocking(1), stderr: nonBlocking(2) };
        const { bound, heapMebibytes } = memory.daemonMemory(memory.containerLimit());
        supervisor = superviseDaemon({
          start: start ?? ((restarts) => startDaemonChild({ restarts, ...output, heapMebibytes })),
          reports,
          log,
          memoryOf: memory.residentMemory,
          memoryBound: bound,
          onReload: reloadOwn,
          onReloadRefused: () => clearTimeout(reloadAlone),
          onLogLevel(wanted) {
            level = LOG_LEVELS.find((known) => known === wanted) ?? level;
          },
          onQuit,
        });
        return true;
      } catch (error) {
        log.error({ error: (error as Error).message }, 'the daemon cannot be started; heartbeats go on');
        return false;
      }
    },
    reload() {
      manager?.reloading();
      // The daemon asks for it in turn, once it knows that its own part is fine.
      const asked = supervisor?.reload() ?? false;
      clearTimeout(reloadAlone);
      reloadAlone = setTimeout(() => void reloadOwn(), asked ? RELOAD_PATIENCE_MS : 0);
    },
    fault(what, error) {
      const { message, stack } =
        error instanceof Error ? error : { message: String(error), stack: undefined };
      log.fatal({ error: message, stack }, `${what}: please report this`);
    },
    async stop() {
      stopping = true;
      clearTimeout(reloadAlone);
      manager?.stopping();
      const deadline = performance.now() + settings.shutdownTimeout - END_MS;
      const left = (): number => Math.max(0, deadline - performance.now());
      const daemonEnds = supervisor?.stop(left()) ?? Promise.resolve(true);
      await Promise.race([daemonEnds, delay(Math.max(0, left() - lastBeatsMs()))]);
      if (settings.finalHeartbeat) {
        const missed = await heart.lastBeats(left());
        if (missed.length > 0)
          log.warn(
            { count: missed.length, deploymentIds: missed.slice(0, 20) },
            'no last heartbeat reached these deployments',
          );
      }
      if (!(await daemonEnds))
        log.error({}, 'the daemon did not end in time and was killed; log lines may be missing');
      unwatch();
      announcer.close();
      await Promise.race([heart.stop(), delay(END_MS / 2)]);
      log.info({}, 'heartbeats ended');
      return { leftMs: left() + END_MS / 2 };
    },
  };
}
