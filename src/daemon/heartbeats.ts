/** The heartbeats in the daemon: which deployments they are of, their log lines, and how the status shows them. */
import type { Logger } from 'pino';
import type { ApiKey } from '../client/api-key.ts';
import type { ClientOf } from '../client/partial-client.ts';
import { ApiError } from '../client/errors.ts';
import { delay } from '../client/delay.ts';
import type { DeploymentFigures } from '../heartbeat/figures.ts';
import type { ExchangeEvent, OpenHeart } from '../heartbeat/heart.ts';
import type { FailureLabel } from '../heartbeat/outcome.ts';
import type { HeartbeatState, Notice } from '../heartbeat/machine.ts';
import type { DeploymentView } from '../heartbeat/view.ts';
import { deploymentChoices, type HeartbeatSettings } from './deployment-choices.ts';
import type { DeploymentStatus } from './status.ts';

export interface HeartbeatsOptions {
  /** Where the heartbeats run. */
  readonly openHeart: OpenHeart;
  /** For what a deployment's TTL is, where the service tells. */
  readonly client: Pick<ClientOf<'deployments.get'>, 'deployments'>;
  readonly apiKey: ApiKey;
  readonly settings: HeartbeatSettings;
  readonly logger: Logger;
  readonly onLag: (ms: number) => void;
  readonly onExchange: (event: ExchangeEvent) => void;
}

export interface Heartbeats {
  status(): Promise<DeploymentStatus[]>;
  /** The numbers of the status, for the metrics. */
  figures(): Promise<DeploymentFigures>;
  /** Ms by which the scheduler is late with its next look at the clock. */
  lateMs(): number;
  apply(settings: HeartbeatSettings): void;
  /** The key may have changed. */
  rereadKey(): Promise<void>;
  /** One last heartbeat each; the ids that were not reached. */
  finalBeat(limitMs: number): Promise<number[]>;
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
  let beating: ReadonlySet<number>;

  const heart = options.openHeart({
    baseUrl: settings.baseUrl,
    apiKey,
    listener: {
      notice(deploymentId, notice, at) {
        if (notice.type === 'sent') options.onLag(notice.lagMs);
        logNotice(logger, deploymentId, notice, at);
      },
      exchange: (event) => options.onExchange(event),
      missed: (events) =>
        logger.warn({ events }, 'heartbeats went on, but events of theirs were not counted'),
    },
  });
  // They began before all this, and may have learned a TTL from a daemon before this one.
  const begun = new Map(heart.choices().map((choice) => [choice.id, choice]));
  beating = new Set(begun.keys());
  for (const { id, ttl } of deploymentChoices(settings)) {
    const known = begun.get(id)?.ttl;
    if (ttl === undefined && known !== undefined) learned.set(id, known);
  }
  apply(settings);

  function apply(next: HeartbeatSettings): void {
    settings = next;
    const wanted = new Set(settings.deployments.map(({ id }) => id));
    for (const deploymentId of beating) {
      if (wanted.has(deploymentId)) continue;
      heart.remove(deploymentId);
      asking.get(deploymentId)?.abort();
      asking.delete(deploymentId);
      learned.delete(deploymentId);
    }
    beating = wanted;
    for (const choice of deploymentChoices(settings, learned)) {
      heart.add(choice);
      if (choice.ttl === undefined && !asking.has(choice.id)) void askForTtl(choice.id);
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
          heart.add({ id, ttl: ttl * 1000, interval: settings.heartbeatInterval });
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
    status: async () => (await heart.view()).map((view) => deploymentStatus(view)),
    figures: () => heart.figures(),
    lateMs: () => (beating.size === 0 ? 0 : Math.max(0, Date.now() - heart.lastTickAt() - LONGEST_SLEEP_MS)),
    apply,
    rereadKey: () => heart.keyChanged(),
    finalBeat: (limitMs) => heart.finalBeat(limitMs),
    async stop() {
      stopping.abort(new Error('stopping'));
      await heart.stop();
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
  gone: 'the service no longer knows this deployment; it is asked on at its interval until its TTL has passed, then every 30 s',
};

/** News this much older than its line carry their own time, ms. */
const OLD_NEWS_MS = 1_000;

/** A line at each change of state, and none in steady state. */
function logNotice(logger: Logger, deploymentId: number, notice: Notice, at: number): void {
  const told = { deploymentId, ...(Date.now() - at > OLD_NEWS_MS && { at: new Date(at).toISOString() }) };
  switch (notice.type) {
    case 'state': {
      const { from, to, remainingMs } = notice;
      if (to === 'stopped') return;
      const fields = {
        ...told,
        from,
        to,
        ...(remainingMs !== undefined && { remainingSeconds: Math.round(remainingMs / 100) / 10 }),
        ...(ADVICE[to] !== undefined && { advice: ADVICE[to] }),
      };
      logger[LOUD[to] ?? 'info'](fields, 'heartbeat state changed');
      return;
    }
    case 'wait-cut-short':
      logger.warn({ ...told, ...notice }, 'the service asked for a wait that would cost the deployment');
      return;
    case 'clocks-parted':
      logger.warn(
        { ...told, byMs: Math.round(notice.byMs) },
        'the clocks parted: a suspend, or a clock that was set',
      );
      return;
    case 'failed':
      logger.debug({ ...told, reason: notice.reason }, 'heartbeat failed');
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
