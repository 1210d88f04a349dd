/**
 * The daemon as a whole, all of the program but the heart: builds its parts, hands each the others' faces, and takes
 * them down in order. It knows neither signals nor exit codes (process/main.ts does), so that tests run the same thing.
 */
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import { buildInfo } from '../build-info.ts';
import { createApiKey } from '../client/api-key.ts';
import type { DaemonMessage, HeartMessage, Link } from '../heartbeat/process/link/link.ts';
import { createDaemonClient, DAEMON_OPERATION_IDS } from './services/client.ts';
import { redactedSettings } from '../config/describe.ts';
import { describeProblem, isError } from '../config/problem.ts';
import type { LoadedConfig } from '../config/load.ts';
import { FEATURES } from '../config/options/features.ts';
import { SECRET_KEYS, type Settings } from '../config/options/options.ts';
import type { ListenAddress } from '../config/types/value-types.ts';
import { receiveHeartbeats, type ReloadResult } from './services/heartbeats.ts';
import { keepListening, type KeptListener } from './http/kept-listener.ts';
import { ShutdownSequence, type LifecycleState } from './lifecycle.ts';
import type { ListenerOptions } from './http/http-server.ts';
import { startLogFollowing } from './services/log-following.ts';
import type { LogLevel } from '../config/types/log-levels.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createReloading } from './reload.ts';
import { joinReplicas } from './replicas/replicas.ts';
import { adminRoutes, publicRoutes } from './http/routes.ts';
import { secretsOf } from './process/secrets.ts';
import type { Status } from './status/status.ts';
import { watchFiles } from './services/watched-files.ts';
import { startWatches } from './services/watches.ts';

export interface DaemonOptions {
  readonly config: LoadedConfig & { readonly settings: Settings };
  /** Reads the configuration again, for a reload. */
  readonly loadConfig: () => LoadedConfig;
  /** Makes the logger once the metrics that count its messages exist. */
  readonly createLogger: (hooks: LoggerHooks) => Promise<Logger>;
  /** Where worker-group lines go. */
  readonly stdout: Writable;
  readonly heart: Link<DaemonMessage, HeartMessage>;
  /** How many daemons of this heart there were before. */
  readonly restarts: number;
  /** The heart asks for the end, or the files of a configuration that was incomplete have come. */
  readonly onEnd: (withinMs: number) => void;
}

export interface LoggerHooks {
  readonly secrets: () => readonly string[];
  readonly onMessage: (level: LogLevel) => void;
}

export interface Daemon {
  /** Addresses as they are bound, with the port that was picked for port 0; undefined while nothing is bound. */
  readonly url: string | undefined;
  readonly adminUrl: string | undefined;
  readonly logger: Logger;
  status(): Status;
  reload(): Promise<ReloadResult>;
  /** Stops within so many ms: not ready any more, polling ends, sinks are flushed, listeners close. Idempotent. */
  stop(withinMs: number): Promise<void>;
}

const NOTHING_SEEN = { instances: {}, maintenance_windows: [], account: null } as const;
/** Between two looks at files of the configuration that were not there, ms. */
const AWAITED_FILES_MS = 5_000;

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  let { settings } = options.config;
  let { daemonProblems } = options.config;
  let state: LifecycleState = 'starting';
  const startedAt = Date.now() / 1000;
  const replicaId = randomUUID();
  const build = buildInfo();
  const apiKey = createApiKey(settings.apiKey, options.config.files.get('apiKey'));
  const shutdown = new ShutdownSequence();

  const metrics = createMetrics(() => withDeployments(heartbeats.figures()), DAEMON_OPERATION_IDS);
  metrics.reloaded(true, startedAt);
  const logger = await options.createLogger({
    secrets: () => secretsOf(settings, apiKey.current()),
    onMessage: (level) => metrics.logMessages(level, 1),
  });

  const clock = watchServiceClock();
  const heartbeats = receiveHeartbeats({
    heart: options.heart,
    onLag: (ms) => metrics.schedulingLag(ms),
    onExchange(event) {
      metrics.client.exchange?.(event);
      clock.saw(event.serverDate, event.at);
    },
    onMessages: (level, count) => metrics.logMessages(level as LogLevel, count),
    onMissed: (events) =>
      logger.warn({ events }, 'heartbeats went on, but events of theirs were not counted'),
    onReload: () => void reloading.reload(),
    onStop: options.onEnd,
  });
  const client = createDaemonClient({
    baseUrl: settings.baseUrl,
    ...(settings.serverlessUrl !== undefined && { serverlessUrl: settings.serverlessUrl }),
    apiKey: () => apiKey.current() || undefined,
    observe: {
      ...metrics.client,
      exchange(event) {
        metrics.client.exchange?.(event);
        clock.saw(event.serverDate, Date.now());
      },
    },
  });
  const following = { client, logger, stdout: options.stdout, isRestart: options.restarts > 0 };
  const replicas =
    settings.redisUrl === undefined
      ? undefined
      : await joinReplicas({
          id: replicaId,
          redisUrl: settings.redisUrl,
          settings,
          logger,
          startFollowing: (now, openSpool) => startLogFollowing({ ...following, settings: now, openSpool }),
          onTaken: () => watches.runNow(),
        });
  const logs = replicas?.logs ?? (await startLogFollowing({ ...following, settings }));
  const watches = startWatches(client, settings, logger, replicas?.held);

  const status = (): Status => withDeployments(heartbeats.status());

  /** The status at this moment, with its deployments as they were asked for. */
  function withDeployments<Deployments>(
    deployments: Deployments,
  ): Omit<Status, 'deployments'> & { deployments: Deployments } {
    return {
      version: build.version,
      revision: build.revision,
      node_version: process.versions.node,
      state,
      now: Date.now() / 1000,
      started_at: startedAt,
      replica: replicas?.status() ?? { id: replicaId, role: 'alone' },
      heart: { daemon_restarts: options.restarts, open_connections: heartbeats.openConnections() },
      config_problems: daemonProblems
        // A rule of endpoint groups only advises, and is told with its group.
        .filter((problem) => isError(problem) && problem.rule === undefined)
        .map((problem) => ({ variable: problem.variable, problem: describeProblem(problem) })),
      service: {
        base_url: settings.baseUrl,
        serverless_url: settings.serverlessUrl ?? settings.baseUrl,
        clock_skew_seconds: clock.skewSeconds(),
      },
      deployments,
      ...logs.status(),
      endpoint_groups: settings.endpointGroups.map(({ label, parameters, findings }) => ({
        endpoint_group: label,
        parameters: { ...parameters },
        findings,
      })),
      ...watches.status(),
      // What a replica saw before another took the watches over is out of date.
      ...(replicas?.held() === false && NOTHING_SEEN),
    };
  }

  /** Nothing here can fail for what a configuration says: all of that was checked before. */
  async function apply(next: Settings): Promise<void> {
    // A level that was set at run time stays, unless it is the setting that changed.
    if (next.logLevel !== settings.logLevel) logger.level = next.logLevel;
    settings = next;
    apiKey.replace(settings.apiKey, apiKey.file());
    await logs.apply(settings);
    await watches.apply(settings);
  }

  const reloading = createReloading({
    loadConfig: options.loadConfig,
    settings: () => settings,
    problems: () => daemonProblems,
    apply: async (next, problems) => {
      await apply(next);
      daemonProblems = problems;
    },
    reloadHeart: () => heartbeats.reload(),
    refuseHeart: () => heartbeats.refuseReload(),
    stopping: () => state === 'draining' || state === 'stopped',
    reloaded: (successful) => metrics.reloaded(successful, Date.now() / 1000),
    logger,
  });
  const secretFiles = SECRET_KEYS.flatMap((key) => options.config.files.get(key) ?? []);
  const unwatch = watchFiles(secretFiles, () => void reloading.refreshSecrets());
  const awaited = awaitFiles();

  /** Files that were not there: what they configure begins with the next daemon, which the heart starts. */
  function awaitFiles(): NodeJS.Timeout | undefined {
    const missing = daemonProblems.filter(({ awaitedFile }) => awaitedFile !== undefined).length;
    if (missing === 0) return undefined;
    return setInterval(() => {
      const { daemonProblems: now } = options.loadConfig();
      if (now.filter(({ awaitedFile }) => awaitedFile !== undefined).length >= missing) return;
      clearInterval(awaited);
      logger.info('a file of the configuration is there now: the daemon starts anew with it');
      options.onEnd(settings.shutdownTimeout);
    }, AWAITED_FILES_MS);
  }

  shutdown.add('files', () => {
    unwatch();
    clearInterval(awaited);
  });
  shutdown.add('watches', () => watches.stop());
  shutdown.add('log polling', (remainingMs) =>
    logs.beginStop(AbortSignal.timeout(Math.floor(remainingMs / 2))),
  );
  shutdown.add('log sinks', () => logs.stopped());
  shutdown.add('replicas', () => replicas?.leave());
  shutdown.add('connections', () => client[Symbol.asyncDispose]());

  const onError = (error: unknown, route: string): void =>
    logger.error({ err: error, route }, 'HTTP route failed');
  const main = await open('metrics and status page', settings.listen, {
    onError,
    routes: publicRoutes({
      state: () => state,
      schedulerLateMs: () => heartbeats.lateMs(),
      status,
      metrics,
      metricsToken: () => settings.metricsToken,
    }),
  });
  const admin = await open('admin routes', settings.adminListen, {
    onError,
    loopbackHostsOnly: true,
    routes: adminRoutes({
      reload: () => reloading.reload(),
      quit: () => options.heart.send({ type: 'quit' }),
      setLogLevel,
      config: () => redactedSettings(settings),
    }),
  });

  async function open(
    what: string,
    address: ListenAddress | undefined,
    rest: Omit<ListenerOptions, 'address'>,
  ): Promise<KeptListener | undefined> {
    if (address === undefined) return undefined;
    const listener = await keepListening(what, { address, ...rest }, logger);
    shutdown.add(what, () => listener.close());
    return listener;
  }

  function setLogLevel(level: LogLevel): void {
    logger.level = level;
    options.heart.send({ type: 'log-level', level });
    logger.info({ level }, 'log level changed');
  }

  let stopped: Promise<void> | undefined;
  async function stopOnce(withinMs: number): Promise<void> {
    state = 'draining';
    const deadline = performance.now() + withinMs;
    logger.info('draining');
    const failure = await shutdown.run(() => deadline - performance.now());
    state = 'stopped';
    if (failure) logger.error({ err: failure }, 'shutdown was not clean');
    else logger.info('stopped');
  }

  state = 'running';
  options.heart.send({ type: 'started' });
  logger.info(
    {
      version: build.version,
      url: main?.url,
      adminUrl: admin?.url,
      deployments: settings.deployments.length,
      workerGroups: settings.workerGroups.length,
      endpointGroups: settings.endpointGroups.length,
    },
    'pilotlight started',
  );
  for (const feature of options.config.off)
    logger.error({ feature }, `switched off: ${FEATURES[feature].words}`);
  for (const problem of daemonProblems) {
    if (problem.severity === 'note') continue;
    logger[isError(problem) ? 'error' : 'warn'](problem, 'configuration problem');
  }
  return {
    get url() {
      return main?.url;
    },
    get adminUrl() {
      return admin?.url;
    },
    logger,
    status,
    reload: () => reloading.reload(),
    stop: (withinMs) => (stopped ??= stopOnce(withinMs)),
  };
}

/** How far the service's clock is from ours, by the Date header of its last answer. */
function watchServiceClock() {
  let skew: number | null = null;
  return {
    skewSeconds: () => skew,
    /** `at`: when the answer came, Unix ms. */
    saw(serverDate: string | undefined, at: number): void {
      const served = Date.parse(serverDate ?? '');
      // The header counts whole seconds, so half of one is added; the time on the wire is part of the error.
      if (!Number.isNaN(served)) skew = Math.round((served + 500 - at) / 100) / 10;
    },
  };
}
