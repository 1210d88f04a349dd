/** The heartbeat driver in the daemon: its ports, its log lines, and its view as the status shows it. */
import type { Logger } from 'pino';
import type { Client } from '../client/client.ts';
import { ApiError } from '../client/errors.ts';
import { delay } from '../client/delay.ts';
import { createBeatPort } from '../heartbeat/beat.ts';
import { HeartbeatDriver } from '../heartbeat/driver.ts';
import type { FailureLabel } from '../heartbeat/outcome.ts';
import type { HeartbeatState, Notice } from '../heartbeat/machine.ts';
import type { DeploymentView } from '../heartbeat/view.ts';
import type { ApiKey } from './api-key.ts';
import type { Settings } from './config/options.ts';
import type { DeploymentStatus } from './status.ts';

type HeartbeatSettings = Pick<Settings, 'deployments' | 'deploymentTtl' | 'heartbeatInterval'>;

export interface HeartbeatsOptions {
  readonly client: Pick<Client, 'deployments'>;
  readonly apiKey: ApiKey;
  readonly settings: HeartbeatSettings;
  readonly logger: Logger;
  readonly onLag: (ms: number) => void;
}

export interface Heartbeats {
  status(): DeploymentStatus[];
  /** Ms by which the scheduler is late with its next look at the clock. */
  lateMs(): number;
  apply(settings: HeartbeatSettings): void;
  /** The key may have changed. */
  rereadKey(): Promise<void>;
  /** One last heartbeat each; the ids that were not reached. */
  finalBeat(signal: AbortSignal): Promise<number[]>;
  stop(): Promise<void>;
}

/** The driver looks at the clock at least this often. */
const LONGEST_SLEEP_MS = 1_000;
/** Between two questions for a TTL that the service could not answer for the moment. */
const ASK_AGAIN_MS = 60_000;

export function startHeartbeats(options: HeartbeatsOptions): Heartbeats {
  const { client, apiKey, logger } = options;
  const stopping = new AbortController();
  const asking = new Map<number, AbortController>();
  /** TTLs that the service told, in ms. */
  const learned = new Map<number, number>();
  let { settings } = options;

  const driver = new HeartbeatDriver({
    key: apiKey.current(),
    ports: {
      clock: { mono: () => performance.now(), wall: Date.now },
      random: Math.random,
      setTimer(ms, fn) {
        const timer = setTimeout(fn, ms);
        return () => clearTimeout(timer);
      },
      beat: createBeatPort(client),
      readKey: (signal) => apiKey.reread(signal),
      listener(deploymentId, notice) {
        if (notice.type === 'sent') options.onLag(notice.lagMs);
        logNotice(logger, deploymentId, notice);
      },
    },
  });
  apply(settings);

  function apply(next: HeartbeatSettings): void {
    settings = next;
    const wanted = new Set(settings.deployments.map(({ id }) => id));
    for (const { deploymentId } of driver.view().deployments) {
      if (wanted.has(deploymentId)) continue;
      driver.remove(deploymentId);
      asking.get(deploymentId)?.abort();
      asking.delete(deploymentId);
      learned.delete(deploymentId);
    }
    for (const { id, ttlMs = settings.deploymentTtl ?? learned.get(id) } of settings.deployments) {
      driver.add({ id, ttl: ttlMs, interval: settings.heartbeatInterval });
      if (ttlMs === undefined && !asking.has(id)) void askForTtl(id);
    }
  }

  /** Some services tell a deployment's TTL (public dialect); until then a heartbeat goes out every 20 s. */
  async function askForTtl(id: number): Promise<void> {
    const controller = new AbortController();
    const signal = AbortSignal.any([stopping.signal, controller.signal]);
    asking.set(id, controller);
    while (!signal.aborted) {
      try {
        const { ttl } = await client.deployments.get({ id }, { signal });
        if (signal.aborted) return;
        if (typeof ttl === 'number' && ttl > 0) {
          learned.set(id, ttl * 1000);
          driver.add({ id, ttl: ttl * 1000, interval: settings.heartbeatInterval });
          logger.info({ deploymentId: id, ttlSeconds: ttl }, 'TTL learned from the service');
        }
        return;
      } catch (error) {
        if (signal.aborted) return;
        // 404, 405, 501: this service does not tell; the heartbeat itself finds out whether the deployment exists.
        if (error instanceof ApiError && error.actor === 'user') return;
        if (error instanceof ApiError && error.status === 501) return;
        logger.debug({ deploymentId: id, err: error }, 'TTL not learned yet');
      }
      await delay(ASK_AGAIN_MS, signal).catch(() => {});
    }
  }

  return {
    status: () => driver.view().deployments.map((view) => deploymentStatus(view)),
    lateMs() {
      const { lastTickAt, deployments } = driver.view();
      return deployments.length === 0 ? 0 : Math.max(0, Date.now() - lastTickAt - LONGEST_SLEEP_MS);
    },
    apply,
    rereadKey: () => driver.readKey(),
    finalBeat: (signal) => driver.finalBeat(signal),
    async stop() {
      stopping.abort(new Error('stopping'));
      await driver.stop();
    },
  };
}

const LOUD: Partial<Record<HeartbeatState, 'error' | 'warn'>> = {
  retrying: 'warn',
  throttled: 'warn',
  'suspect-gone': 'warn',
  urgent: 'error',
  unauthorized: 'error',
  lapsed: 'error',
  gone: 'error',
};

/** What to do, for the states in which somebody has to. */
const ADVICE: Partial<Record<HeartbeatState, string>> = {
  urgent: 'heartbeats fail and the TTL runs out; is the service reachable from here?',
  unauthorized: 'the service refuses the key; put a valid one where PILOTLIGHT_API_KEY or its _FILE has it',
  lapsed: 'the TTL has passed without an accepted heartbeat; the deployment has probably expired',
  gone: 'the service no longer knows this deployment; no further heartbeats are sent',
};

/** A line at each change of state, and none in steady state. */
function logNotice(logger: Logger, deploymentId: number, notice: Notice): void {
  switch (notice.type) {
    case 'state': {
      const { from, to, remainingMs } = notice;
      if (to === 'stopped') return;
      const fields = {
        deploymentId,
        from,
        to,
        ...(remainingMs !== undefined && { remainingSeconds: Math.round(remainingMs / 100) / 10 }),
        ...(ADVICE[to] !== undefined && { advice: ADVICE[to] }),
      };
      logger[LOUD[to] ?? 'info'](fields, 'heartbeat state changed');
      return;
    }
    case 'wait-cut-short':
      logger.warn({ deploymentId, ...notice }, 'the service asked for a wait that would cost the deployment');
      return;
    case 'clocks-parted':
      logger.warn(
        { deploymentId, byMs: notice.byMs },
        'the clocks parted: a suspend, or a clock that was set',
      );
      return;
    case 'failed':
      logger.debug({ deploymentId, reason: notice.reason }, 'heartbeat failed');
      return;
    case 'sent':
    case 'accepted':
    case 'overdue':
    case 'superseded':
      return;
  }
}

function deploymentStatus(view: DeploymentView): DeploymentStatus {
  const failed = view.timeline.findLast(({ result }) => !SETTLED_WELL.has(result));
  return {
    deployment_id: view.deploymentId,
    state: view.state,
    ttl_seconds: secondsOrNull(view.ttlMs),
    interval_seconds: view.intervalMs / 1000,
    heartbeats: view.attempts,
    failures: view.failures,
    last_success_at: secondsOrNull(view.lastSuccessAt),
    next_heartbeat_at: secondsOrNull(view.nextBeatAt),
    expires_at: secondsOrNull(view.expiresAt),
    min_margin_ratio: view.minMarginRatio ?? null,
    lapses: view.lapses,
    last_error: failed ? FAILURE_WORDS[failed.result as FailureLabel | 'overdue'] : null,
    last_error_at: failed ? failed.at / 1000 : null,
    beats: view.timeline.map(({ at, result, tookMs }) => ({
      at: at / 1000,
      outcome: result,
      latency_ms: tookMs ?? null,
    })),
  };
}

/** What a person reads where a metric has a label. */
const FAILURE_WORDS: Readonly<Record<FailureLabel | 'overdue', string>> = {
  dns: 'the name of the service does not resolve',
  connect: 'no connection: refused or unreachable, or the proxy would not make it',
  tls: 'the TLS handshake failed: is the CA of the service in NODE_EXTRA_CA_CERTS?',
  reset: 'the connection broke',
  timeout: 'no answer in time',
  overdue: 'no answer yet',
  'server-error': 'the service failed (5xx)',
  status: 'an unexpected status',
  unreadable: 'the answer was no answer to a heartbeat: a proxy in between?',
  rejected: 'the service said success: false',
  'wrong-deployment': 'the answer was for another deployment',
  unknown: 'an unclassified error: see the log at level debug',
  throttled: 'the service asks to come more slowly (429)',
  unauthorized: 'the service refuses the API key',
  'stale-key': 'an older API key was refused',
  'not-found': 'the service does not know this deployment',
};

const SETTLED_WELL: ReadonlySet<string> = new Set(['accepted', 'waiting', 'superseded']);

function secondsOrNull(ms: number | undefined): number | null {
  return ms === undefined ? null : ms / 1000;
}
