import { randomUUID } from 'node:crypto';
import type { Logger } from 'pino';
import { buildInfo } from '../build-info.ts';
import { createApiKey } from '../client/api-key.ts';
import { RequestQueue } from '../client/request-queue.ts';
import { systemMs } from '../client/retry.ts';
import { credentialsOf } from '../config/secrets.ts';
import type { LoadedConfig } from '../config/load.ts';
import { FEATURES, SECRET_KEYS, type Settings } from '../config/options.ts';
import { isError } from '../config/problem.ts';
import { watchFiles } from '../config/files.ts';
import { Redaction } from '../contract/text/redaction.ts';
import type { DaemonMessage, HeartMessage, Link } from '../heartbeat/process/link.ts';
import type { LineOutput } from '../logs/sinks/stdout.ts';
import { systemClock, type Clock } from '../time/clock.ts';
import { keepListening, type ListenerOptions } from './http/listener.ts';
import { adminRoutes, publicRoutes } from './http/routes.ts';
import { createMetrics } from './metrics.ts';
import { Lifecycle } from './process/lifecycle.ts';
import type { LoggerOptions } from './process/logger.ts';
import { createDaemonClient, DAEMON_OPERATION_IDS, ClockSkew } from './services/client.ts';
import { receiveHeartbeats } from './services/heartbeats.ts';
import { awaitFiles, Reloading, type CurrentSettings } from './services/reloading.ts';
import { ServiceTraits } from './services/service-traits.ts';
import { startSharedWork } from './services/shared-work.ts';
import type { Status } from './status/schema.ts';
import { statusSnapshot } from './status/snapshot.ts';

export interface DaemonOptions {
  readonly config: LoadedConfig & { readonly settings: Settings };
  readonly loadConfig: () => LoadedConfig | Promise<LoadedConfig>;
  /** For the watch of endpoints; default: the system's. */
  readonly fleetClock?: Clock;
  /** The metrics count its messages, so they exist first. */
  readonly createLogger: (hooks: Pick<LoggerOptions, 'redaction' | 'onMessage'>) => Promise<Logger>;
  readonly stdout: LineOutput;
  readonly heart: Link<DaemonMessage, HeartMessage>;
  /** How many daemons of this heart there were before. */
  readonly restarts: number;
  /** The heart asks for the end, or a missing file of the configuration appeared. */
  readonly onEnd: (withinMs: number) => void;
}

export type Daemon = Awaited<ReturnType<typeof startDaemon>>;

export async function startDaemon(options: DaemonOptions) {
  const { config, loadConfig, heart, stdout, restarts, onEnd } = options;
  const { settings } = config;
  const current: CurrentSettings = { settings, problems: config.daemonProblems };
  const startedAt = Date.now() / 1000;
  const apiKey = createApiKey(settings.apiKey, config.files.get('apiKey'));

  // The parts refer to each other: some are called back only after they exist, further down.
  const metrics = createMetrics(() => status(), DAEMON_OPERATION_IDS);
  metrics.reloaded(true, startedAt);
  const redaction = new Redaction(() => credentialsOf(current.settings, apiKey.current()));
  const logger = await options.createLogger({
    redaction,
    onMessage: (level) => metrics.logMessages(level, 1),
  });
  const lifecycle = new Lifecycle(logger);
  const clockSkew = new ClockSkew();
  const traits = new ServiceTraits(settings, logger);
  const heartbeats = receiveHeartbeats({
    heart,
    metrics,
    clockSkew,
    traits,
    logger,
    onReload: () => void reloading.reload(),
    onGrants: (grants) => requests.hear(grants),
    onStop: onEnd,
  });
  const requests = new RequestQueue({
    ask: (ask) => heart.send({ type: 'ask', ask }),
    now: systemMs,
    setTimer: (ms, fn) => {
      const timer = setTimeout(fn, ms);
      return () => clearTimeout(timer);
    },
  });
  const client = createDaemonClient({ settings, apiKey, metrics, clockSkew, traits, gate: requests });
  const work = await startSharedWork({
    id: randomUUID(),
    client,
    settings,
    logger,
    stdout,
    restarts,
    onEvent: metrics.fleet,
    clock: options.fleetClock ?? systemClock,
    onTraits: (learned) => traits.note(learned),
  });

  const known = { build: buildInfo(), startedAt, restarts, current, lifecycle, clockSkew, traits };
  const status = (): Status => statusSnapshot({ ...known, heartbeats, requests, work });
  let endWatching = (): void => {};
  /** A reload may name other files. */
  function watchSecrets(files: LoadedConfig['files']): void {
    endWatching();
    const named = SECRET_KEYS.flatMap((key) => files.get(key) ?? []);
    endWatching = watchFiles(named, () => void reloading.refreshSecrets());
  }
  const reloading = new Reloading({
    loadConfig,
    onFiles: watchSecrets,
    current,
    apiKey,
    work,
    heartbeats,
    lifecycle,
    metrics,
    logger,
  });

  watchSecrets(config.files);
  lifecycle.onStop('files', () => endWatching());
  const problemsNow = async () => (await loadConfig()).daemonProblems;
  const endAwaiting = awaitFiles(config.daemonProblems, problemsNow, () => {
    logger.info('a file of the configuration is there now: the daemon is restarted to use it');
    onEnd(current.settings.shutdownTimeout);
  });
  lifecycle.onStop('awaited files', endAwaiting);
  work.stopWith(lifecycle);
  lifecycle.onStop('requests', async () => requests.close());
  lifecycle.onStop('service traits', () => traits.stored());
  lifecycle.onStop('connections', () => client[Symbol.asyncDispose]());
  async function open(what: string, listener: Omit<ListenerOptions, 'onError' | 'redaction'>) {
    const kept = await keepListening(what, { ...listener, redaction }, logger);
    lifecycle.onStop(what, () => kept.close());
    return kept;
  }
  const { listen, adminListen } = settings;
  const shown = publicRoutes({ status, fleet: work.fleet, lifecycle, heartbeats, metrics, current });
  const main = listen && (await open('metrics and status page', { address: listen, routes: shown }));
  const routes = adminRoutes({ reloading, heart, logger, current });
  const admin =
    adminListen && (await open('admin routes', { address: adminListen, routes, isForPrograms: true }));

  lifecycle.begin();
  heart.send({ type: 'started' });
  logStarted(logger, config, { url: main?.url, adminUrl: admin?.url });
  return {
    /** Undefined while nothing is bound. */
    get url() {
      return main?.url;
    },
    get adminUrl() {
      return admin?.url;
    },
    logger,
    fleet: work.fleet,
    status,
    reload: () => reloading.reload(),
    /** Not ready, then polling ends, sinks are flushed, listeners close. Idempotent. */
    stop: (withinMs: number) => lifecycle.stop(withinMs),
  };
}

function logStarted(logger: Logger, config: DaemonOptions['config'], urls: object): void {
  const { settings, off, daemonProblems } = config;
  logger.info(
    {
      version: buildInfo().version,
      ...urls,
      deployments: settings.deployments.length,
      workerGroups: settings.workerGroups.length,
      endpointGroups: settings.endpointGroups.length,
    },
    'pilotlight started',
  );
  if (settings.deployments.length === 0) {
    const rest = 'logs, endpoints, groups and watches run as configured';
    logger.warn(`PILOTLIGHT_DEPLOYMENTS is not set: no deployment is kept alive; ${rest}`);
  }
  for (const feature of off) logger.error({ feature }, `switched off: ${FEATURES[feature]}`);
  for (const problem of daemonProblems) {
    const { failsCheck: _, ...shown } = problem;
    if (problem.severity === 'note') continue;
    logger[isError(problem) ? 'error' : 'warn'](shown, 'configuration problem');
  }
}
