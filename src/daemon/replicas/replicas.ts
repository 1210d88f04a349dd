/**
 * Several replicas of this daemon: all send heartbeats, which is redundancy, and one at a time follows the logs and
 * runs the watches. Those with one Redis database and one service are replicas of one another.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import { systemClock } from '../../time/clock.ts';
import type { LogFollowing } from '../services/logs/following.ts';
import type { Status } from '../status/schema.ts';
import { startLease } from './lease.ts';
import { RedisTrouble } from './redis-trouble.ts';
import { connectRedis } from './redis.ts';
import { ReplicaMemory } from './replica-memory.ts';
import { createReplicatedLogs, type StartFollowing } from './replicated-logs.ts';
import { SharedSpool } from './shared-spool.ts';
import { SharedKeys } from './shared-keys.ts';
import { LeaseLost } from './fenced-commit.ts';
import { NOTHING, SharedStore, UnreadableState, type SharedState } from './shared-store.ts';

export interface ReplicasOptions {
  readonly redisUrl: string;
  readonly id: string;
  readonly settings: Settings;
  readonly logger: Logger;
  readonly startFollowing: StartFollowing;
  /** The watches are this replica's now. */
  readonly onTaken: () => void;
  /** Redis says, again and again, that they are another's; awaited before the lease is tried again. */
  readonly onDenied: () => Promise<void>;
}

export interface Replicas {
  readonly logs: LogFollowing;
  status(): Status['replica'];
  /** Whether this replica may act for all. */
  readonly held: () => boolean;
  /** Lets another replica take over at once; after the logs have stopped. */
  leave(): Promise<void>;
}

export async function joinReplicas(options: ReplicasOptions): Promise<Replicas> {
  const { id, redisUrl, settings, logger } = options;
  const keys = new SharedKeys(settings.redisPrefix, scopeOf(settings));
  const memory = new ReplicaMemory(Date.now);
  const nobody = 'heartbeats go on, nobody follows logs until it is mended';
  const away = new RedisTrouble(logger, 'Redis is away', nobody);
  const leasing = new RedisTrouble(logger, 'The lease could not be had or used', nobody);
  const writing = new RedisTrouble(
    logger,
    'Redis did not take log lines',
    'they wait, and it is tried again',
  );
  const redis = await connectRedis(
    redisUrl,
    (error, wasThere) => {
      if (wasThere) memory.lostSight();
      away.failed(error);
    },
    () => away.passed(),
  );
  const store = new SharedStore(redis, keys, id);
  const logs = createReplicatedLogs(settings, options.startFollowing);
  function onRefused(error: LeaseLost): void {
    logger.warn({ replica: id, reason: error.message }, 'this replica must not write any more');
    lease.forfeit();
  }
  function onCommit(error?: unknown): void {
    if (error === undefined) writing.passed();
    else writing.failed(error);
  }
  const lease = startLease({
    redis,
    key: keys.lease,
    token: id,
    now: () => performance.now(),
    clock: systemClock,
    async onTaken() {
      const held = () => lease.held();
      const { isReadable, ...loaded } = await loadedState(store, held, leasing);
      const { state: known, restore, version, epochAfterLoss } = memory.decide(loaded, isReadable);
      if (restore || epochAfterLoss !== undefined)
        logger.warn(
          { restore, epochAfterLoss },
          'Redis has lost what the replicas keep in it, or some of it',
        );
      if (restore) await store.replace(loaded, known, version, isReadable ? [] : await store.windowKeys());
      else await store.begin(loaded, version);
      const state = { ...known, version };
      await logs.takeOver(
        (sinks, observe) =>
          new SharedSpool({ store, keys, state, epochAfterLoss, sinks, held, onRefused, onCommit, observe }),
      );
      logger.info({ replica: id, waitingRecords: state.records.length }, 'this replica follows the logs now');
      leasing.passed();
      options.onTaken();
    },
    async onRenewed() {
      leasing.passed();
      const written = logs.version() ?? 0;
      if ((await store.version()) < written) onRefused(new LeaseLost('Redis went back in time'));
    },
    async onDenied() {
      await options.onDenied();
      memory.saw(await store.version());
      leasing.passed();
      // Another replica writes, and this one has nothing to.
      writing.passed();
    },
    async onLost() {
      logger.warn({ replica: id }, 'the lease is gone; another replica may follow the logs');
      const spool = await logs.standDown();
      if (spool) memory.held(spool.version, spool.snapshot());
    },
    onFailed: (error) => leasing.failed(error),
  });
  return {
    logs,
    status: () => ({
      id,
      role: lease.held() ? 'holder' : 'standby',
      last_error: away.last ?? leasing.last ?? writing.last ?? null,
    }),
    held: () => lease.held(),
    async leave() {
      await lease.release();
      redis.close();
    },
  };
}

/** What Redis has; where that cannot be read, nothing, under its version. */
async function loadedState(
  store: SharedStore,
  held: () => boolean,
  trouble: RedisTrouble,
): Promise<SharedState & { readonly isReadable: boolean }> {
  try {
    return { ...(await store.load(held)), isReadable: true };
  } catch (error) {
    if (!(error instanceof UnreadableState)) throw error;
    trouble.failed(error);
    return { ...NOTHING, version: error.version, isReadable: false };
  }
}

/**
 * Worker groups are numbered by the service, so its address is what replicas have in common. Never the key: a key that
 * was rotated would find nothing of what they know. Two spellings of an address (HTTPS://Host:443) are one service.
 */
function scopeOf({ baseUrl, serverlessUrl }: Settings): string {
  const addresses = [baseUrl, serverlessUrl ?? baseUrl].map((url) => new URL(url).href.replace(/\/$/, ''));
  return createHash('sha256').update(addresses.join(' ')).digest('hex').slice(0, 16);
}
