/**
 * Several replicas of this daemon: all send heartbeats, and one at a time follows the logs and runs the watches.
 * Replicas are daemons with one Redis database and one service.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import type { LogStore } from '../../logs/follow/group-follower.ts';
import type { Spool } from '../../logs/spool/spool.ts';
import { systemClock as clock } from '../../time/clock.ts';
import type { LogFollowing } from '../services/logs.ts';
import type { Status } from '../status/schema.ts';
import { startLease } from './lease.ts';
import { connectRedis, RedisTrouble, type RedisError } from './redis.ts';
import { SharedProgress, type SharedKeys } from './shared-progress.ts';

interface ReplicasOptions {
  readonly redisUrl: string;
  readonly id: string;
  readonly settings: Settings;
  readonly logger: Logger;
  /** Opens the spool and the sinks; nothing is followed yet. */
  readonly startFollowing: (share: (spool: Spool) => LogStore) => Promise<LogFollowing>;
  /** The watches are this replica's now. */
  readonly onTaken: () => void;
  /** Called at every try while another replica has the lease; awaited before the next try. */
  readonly onDenied: () => Promise<void>;
}

export async function joinReplicas({ id, redisUrl, settings, logger, ...options }: ReplicasOptions) {
  const nobody = 'heartbeats go on; no replica follows logs until Redis works';
  const away = new RedisTrouble(logger, 'Redis is away', nobody);
  const leasing = new RedisTrouble(logger, 'The lease could not be had or used', nobody);
  const wait = 'they wait, and it is tried again';
  const writing = new RedisTrouble(logger, 'Redis did not take log lines', wait);
  const now = () => performance.now();
  const keys = keysOf(settings);
  let shared!: SharedProgress;
  const redis = await connectRedis(
    redisUrl,
    (error) => away.failed(error),
    () => away.passed(),
  );
  function onRefused({ message: reason }: RedisError): void {
    logger.warn({ replica: id, reason }, 'this replica must not write any more');
    lease.forfeit();
  }
  const logs = await options.startFollowing(
    (spool) => (shared = new SharedProgress({ redis, keys, spool, clock, now, writing, onRefused })),
  );
  const lease = startLease({
    redis,
    keys,
    now,
    clock,
    async onTaken(token, state) {
      if (await shared.begin(token, state, () => lease.held()))
        logger.warn(
          { replica: id },
          'Redis may have lost some of what the replicas keep in it: logs begin a new epoch',
        );
      logs.follow();
      logger.info({ replica: id, token }, 'this replica follows the logs now');
      leasing.passed();
      options.onTaken();
    },
    onRenewed({ version }) {
      leasing.passed();
      shared.refresh(version);
    },
    async onDenied(state) {
      await options.onDenied();
      shared.saw(state);
      leasing.passed();
      // Another replica writes now.
      writing.passed();
    },
    async onLost() {
      logger.warn({ replica: id }, 'the lease is gone; another replica may follow the logs');
      shared.end();
      await logs.rest();
    },
    onFailed: (error) => leasing.failed(error),
  });
  return {
    logs,
    status: (): Status['replica'] => ({
      id,
      role: lease.held() ? 'holder' : 'standby',
      last_error: away.last ?? leasing.last ?? writing.last ?? null,
    }),
    /** Whether this replica may act for all. */
    held: () => lease.held(),
    /** Lets another replica take over at once; after the logs have stopped. */
    async leave() {
      shared.end();
      await lease.release();
      redis.close();
    },
  };
}

/**
 * The service numbers logs, so replicas have its address in common. Not the API key: it may be rotated. Two spellings of
 * an address (HTTPS://Host:443) are one service. The braces keep all keys on one node of a cluster.
 */
function keysOf({ redisPrefix, baseUrl, serverlessUrl }: Settings): SharedKeys {
  const addresses = [baseUrl, serverlessUrl ?? baseUrl].map((url) => new URL(url).href.replace(/\/$/, ''));
  const scope = createHash('sha256').update(addresses.join(' ')).digest('hex').slice(0, 16);
  const name = (key: string): string => `${redisPrefix}:{${scope}}:${key}`;
  return { lease: name('lease'), index: name('logs'), logs: name('log:') };
}
