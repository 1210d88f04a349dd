/**
 * The daemon as a whole: builds its parts, hands each the others' faces, and takes them down in order. It
 * knows neither signals nor exit codes (main.ts does), so that the demo and the tests run the same thing.
 */
import { randomUUID } from 'node:crypto';
import type { Writable } from 'node:stream';
import type { Logger } from 'pino';
import { buildInfo } from '../build-info.ts';
import { createApiKey } from '../client/api-key.ts';
import type { ClientObserver } from '../client/caller.ts';
import { openHeart, type OpenHeart } from '../heartbeat/heart.ts';
import { createDaemonClient, DAEMON_OPERATION_IDS } from './client.ts';
import { redactedSettings } from '../config/describe.ts';
import type { LoadedConfig } from '../config/load.ts';
import { SECRET_KEYS, type Settings } from '../config/options.ts';
import { startHeartbeats } from './heartbeats.ts';
import { listen, type HttpListener } from './http-server.ts';
import { isLive, ShutdownSequence, type LifecycleState } from './lifecycle.ts';
import { startLogFollowing } from './log-following.ts';
import type { LogLevel } from '../config/log-levels.ts';
import { createMetrics } from './metrics/metrics.ts';
import { createReloading, type ReloadResult } from './reload.ts';
import { joinReplicas } from './replicas/replicas.ts';
import { adminRoutes, publicRoutes } from './routes.ts';
import type { Status } from './status.ts';
import { watchFiles } from './watched-files.ts';
import { startWatches } from './watches.ts';

export interface DaemonOptions {
  readonly config: LoadedConfig & { readonly settings: Settings };
  /** Reads the configuration again, for a reload. */
  readonly loadConfig: () => LoadedConfig;
  /** Makes the logger once the metrics that count its messages exist. */
  readonly createLogger: (hooks: LoggerHooks) => Promise<Logger>;
  /** Where worker-group lines go. */
  readonly stdout: Writable;
  /** Where the heartbeats run: in this thread, unless it says otherwise. */
  readonly openHeart?: OpenHeart;
  /** Called when POST /-/quit asks for the end. */
  readonly onQuit: () => void;
}

export interface LoggerHooks {
  readonly secrets: () => readonly string[];
  readonly onMessage: (level: LogLevel) => void;
}

export interface Daemon {
  /** Addresses as they are bound, with the port that was picked for port 0. */
  readonly url: string;
  readonly adminUrl: string;
  readonly logger: Logger;
  status(): Promise<Status>;
  /** As /livez tells: false when the heartbeat scheduler is wedged. */
  live(): boolean;
  reload(): Promise<ReloadResult>;
  /**
   * Stops within SHUTDOWN_TIMEOUT: not ready any more, polling ends, one last heartbeat for each deployment,
   * sinks are flushed, listeners close. Idempotent.
   */
  stop(): Promise<void>;
}

const NOTHING_SEEN = { instances: {}, maintenance_windows: [], account: null } as const;

export async function startDaemon(options: DaemonOptions): Promise<Daemon> {
  let { settings } = options.config;
  let state: LifecycleState = 'starting';
  const startedAt = Date.now() / 1000;
  const replicaId = randomUUID();
  const build = buildInfo();
  const apiKey = createApiKey(settings.apiKey, options.config.files.get('apiKey'));
  const shutdown = new ShutdownSequence();

  const metrics = createMetrics(async () => withRest(await heartbeats.figures()), DAEMON_OPERATION_IDS);
  metrics.reloaded(true, startedAt);
  const logger = await options.createLogger({
    secrets: () =>
      [
        apiKey.current(),
        settings.apiKey,
        settings.metricsToken,
        settings.redisUrl,
        ...Object.values(settings.otlpHeaders ?? {}),
      ].filter((secret) => secret !== undefined),
    onMessage: (level) => metrics.logMessage(level),
  });

  let clockSkew: number | null = null;
  const observe: ClientObserver = {
    ...metrics.client,
    exchange(event) {
      metrics.client.exchange?.(event);
      const served = Date.parse(event.serverDate ?? '');
      // The header counts whole seconds, so half of one is added; the time on the wire is part of the error.
      if (!Number.isNaN(served)) clockSkew = Math.round((served + 500 - Date.now()) / 100) / 10;
    },
  };
  const client = createDaemonClient({
    baseUrl: settings.baseUrl,
    ...(settings.serverlessUrl !== undefined && { serverlessUrl: settings.serverlessUrl }),
    apiKey: () => apiKey.current(),
    observe,
  });
  // They have connections of their own, and where it matters a thread: nothing that happens to the rest may touch them.
  const heartbeats = startHeartbeats({
    openHeart: options.openHeart ?? openHeart,
    client,
    apiKey,
    settings,
    logger,
    onLag: (ms) => metrics.schedulingLag(ms),
    onExchange: (event) => observe.exchange?.(event),
  });
  const following = { client, logger, stdout: options.stdout };
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

  const status = async (): Promise<Status> => withRest(await heartbeats.status());

  /** The status at this moment, with its deployments as they were asked for. */
  function withRest<Deployments>(
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
      service: {
        base_url: settings.baseUrl,
        serverless_url: settings.serverlessUrl ?? settings.baseUrl,
        clock_skew_seconds: clockSkew,
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
    heartbeats.apply(settings);
    await heartbeats.rereadKey();
    await logs.apply(settings);
    await watches.apply(settings);
  }

  const reloading = createReloading({
    loadConfig: options.loadConfig,
    settings: () => settings,
    apply,
    stopping: () => state === 'draining' || state === 'stopped',
    reloaded: (successful) => metrics.reloaded(successful, Date.now() / 1000),
    logger,
  });
  const secretFiles = SECRET_KEYS.flatMap((key) => options.config.files.get(key) ?? []);
  const unwatch = watchFiles(secretFiles, () => void reloading.refreshSecrets());

  shutdown.add('files', unwatch);
  shutdown.add('watches', () => watches.stop());
  shutdown.add('log polling', () => logs.beginStop(AbortSignal.timeout(settings.shutdownTimeout / 2)));
  shutdown.add('final heartbeat', finalHeartbeat);
  shutdown.add('heartbeats', () => heartbeats.stop());
  shutdown.add('log sinks', () => logs.stopped());
  shutdown.add('replicas', () => replicas?.leave());
  shutdown.add('connections', () => client[Symbol.asyncDispose]());

  async function finalHeartbeat(): Promise<void> {
    if (!settings.finalHeartbeat) return;
    const missed = await heartbeats.finalBeat(settings.shutdownTimeout / 2);
    if (missed.length > 0) {
      logger.warn({ deploymentIds: missed }, 'no last heartbeat reached these deployments');
    }
  }

  async function openListeners(): Promise<{ main: HttpListener; admin: HttpListener }> {
    const onError = (error: unknown, route: string): void =>
      logger.error({ err: error, route }, 'HTTP route failed');
    const publicListener = await listen({
      address: settings.listen,
      onError,
      routes: publicRoutes({
        state: () => state,
        schedulerLateMs: () => heartbeats.lateMs(),
        status,
        metrics,
        metricsToken: () => settings.metricsToken,
      }),
    });
    shutdown.add('listener', () => publicListener.close());
    const adminListener = await listen({
      address: settings.adminListen,
      onError,
      loopbackHostsOnly: true,
      routes: adminRoutes({
        reload: () => reloading.reload(),
        quit: options.onQuit,
        setLogLevel,
        config: () => redactedSettings(settings),
      }),
    });
    shutdown.add('admin listener', () => adminListener.close());
    return { main: publicListener, admin: adminListener };
  }

  function setLogLevel(level: LogLevel): void {
    logger.level = level;
    logger.info({ level }, 'log level changed');
  }

  let stopped: Promise<void> | undefined;
  async function stopOnce(): Promise<void> {
    state = 'draining';
    const deadline = performance.now() + settings.shutdownTimeout;
    logger.info('draining');
    const failure = await shutdown.run(() => deadline - performance.now());
    state = 'stopped';
    if (failure) logger.error({ err: failure }, 'shutdown was not clean');
    else logger.info('stopped');
  }

  const { main, admin } = await openListeners().catch(async (error: unknown) => {
    await stopOnce();
    throw error;
  });
  state = 'running';
  logger.info(
    {
      version: build.version,
      url: main.url,
      adminUrl: admin.url,
      deployments: settings.deployments.length,
      workerGroups: settings.workerGroups.length,
      endpointGroups: settings.endpointGroups.length,
    },
    'pilotlight started',
  );
  for (const problem of options.config.problems) {
    if (problem.severity === 'warning') logger.warn(problem, 'configuration warning');
  }
  return {
    url: main.url,
    adminUrl: admin.url,
    logger,
    status,
    live: () => isLive(heartbeats.lateMs()),
    reload: () => reloading.reload(),
    stop: () => (stopped ??= stopOnce()),
  };
}
