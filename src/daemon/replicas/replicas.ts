/**
 * Several replicas of this daemon: all send heartbeats, which is redundancy, and one at a time follows the logs and
 * runs the watches. Those with one Redis database and one service are replicas of one another.
 */
import { createHash } from 'node:crypto';
import type { Logger } from 'pino';
import type { Settings } from '../../config/options.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import type { LogStore } from '../../logs/follow/group-follower.ts';
import type { Spool } from '../../logs/spool/spool.ts';
import { systemClock } from '../../time/clock.ts';
import type { LogFollowing } from '../services/logs/following.ts';
import type { Status } from '../status/schema.ts';
import { LEASE_MS, startLease } from './lease.ts';
import { RedisTrouble } from './redis-trouble.ts';
import { connectRedis } from './redis.ts';
import { SharedProgress, type LeaseLost, type SharedKeys } from './shared-progress.ts';

/** The last leader may still know what Redis lost: it is waited for so long, ms. A lease is shorter. */
const PATIENCE_MS = 10_000;

/** Redis has less than it had. The lease is given back, and tried again. */
export class RedisForgot extends PilotlightError {
  readonly code = 'redis_forgot';
  readonly actor = 'service';

  constructor() {
    super(
      'Redis may have lost something: the replica that held the lease last is waited for, some seconds at most',
    );
  }
}

export interface ReplicasOptions {
  readonly redisUrl: string;
  readonly id: string;
  readonly settings: Settings;
  readonly logger: Logger;
  /** Opens the spool and the sinks; nothing is followed yet. */
  readonly startFollowing: (share: (spool: Spool) => LogStore) => Promise<LogFollowing>;
  /** The watches are this replica's now. */
  readonly onTaken: () => void;
  /** Redis says, again and again, that they are another's; awaited before the lease is tried again. */
  readonly onDenied: () => Promise<void>;
}

export async function joinReplicas(options: ReplicasOptions) {
  const { id, redisUrl, settings, logger } = options;
  const nobody = 'heartbeats go on, nobody follows logs until it is mended';
  const away = new RedisTrouble(logger, 'Redis is away', nobody);
  const leasing = new RedisTrouble(logger, 'The lease could not be had or used', nobody);
  const writing = new RedisTrouble(
    logger,
    'Redis did not take log lines',
    'they wait, and it is tried again',
  );
  let shared!: SharedProgress;
  let readyAt = -Infinity;
  const onReady = (): void => {
    readyAt = performance.now();
    shared?.lostSight();
    away.passed();
  };
  const redis = await connectRedis(redisUrl, (error) => away.failed(error), onReady);
  const keys = keysOf(settings);
  function onRefused({ message: reason }: LeaseLost): void {
    logger.warn({ replica: id, reason }, 'this replica must not write any more');
    lease.forfeit();
  }
  function onWrite(error?: unknown): void {
    if (error === undefined) writing.passed();
    else writing.failed(error);
  }
  const logs = await options.startFollowing(
    (spool) => (shared = new SharedProgress({ redis, keys, spool, clock: systemClock, onRefused, onWrite })),
  );
  let forgottenSince: number | undefined;

  function waitForLastHolder(): void {
    forgottenSince ??= performance.now();
    if (!shared.isLast && performance.now() - forgottenSince < PATIENCE_MS) throw new RedisForgot();
    logger.warn(
      { replica: id },
      'Redis may have lost some of what the replicas keep in it: logs begin a new epoch',
    );
  }
  const lease = startLease({
    redis,
    keys,
    now: () => performance.now(),
    clock: systemClock,
    async onTaken(token, version) {
      if (shared.isBehind(version)) waitForLastHolder();
      forgottenSince = undefined;
      await shared.begin(token, version, () => lease.held());
      logs.follow();
      logger.info({ replica: id, token }, 'this replica follows the logs now');
      leasing.passed();
      options.onTaken();
    },
    onRenewed(version) {
      leasing.passed();
      if (shared.refresh(version))
        logger.warn(
          { replica: id },
          'Redis has lost some of what the replicas keep in it, and is told again',
        );
    },
    async onDenied(version) {
      await options.onDenied();
      // The lease of a leader that died may come back with an earlier Redis; it runs out.
      shared.saw(version, performance.now() - readyAt > 2 * LEASE_MS);
      leasing.passed();
      // Another replica writes, and this one has nothing to.
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
 * Logs are numbered by the service, so its address is what replicas have in common. Never the key: a key that was
 * rotated would find nothing of what they know. Two spellings of an address (HTTPS://Host:443) are one service. The
 * braces keep all keys on one node of a cluster.
 */
function keysOf({ redisPrefix, baseUrl, serverlessUrl }: Settings): SharedKeys {
  const addresses = [baseUrl, serverlessUrl ?? baseUrl].map((url) => new URL(url).href.replace(/\/$/, ''));
  const scope = createHash('sha256').update(addresses.join(' ')).digest('hex').slice(0, 16);
  const name = (key: string): string => `${redisPrefix}:{${scope}}:${key}`;
  return { lease: name('lease'), index: name('logs'), logs: name('log:'), old: name('version') };
}
