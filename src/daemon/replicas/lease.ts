/**
 * A lease in Redis: one replica at a time holds it, and one that dies loses it within LEASE_MS. What is written under
 * it is fenced: a write carries the holder's token, and Redis refuses it when the lease has gone to another.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Redis } from './redis.ts';

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_000;
const TRY_EVERY_MS = 500;
/** Before Redis would give the lease to another, this replica counts it as lost: clocks run at different speeds. */
const SAFETY_MS = 500;

const RENEW = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('PEXPIRE', KEYS[1], ARGV[2])`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export interface LeaseOptions {
  readonly redis: Redis;
  readonly key: string;
  /** Distinct for each replica and each of its lives. */
  readonly token: string;
  /** Monotonic ms. */
  readonly now: () => number;
  /** The lease was taken. When it rejects, the lease is given back and tried again. */
  readonly onTaken: () => Promise<void>;
  /** Another replica holds it. */
  readonly onDenied: () => Promise<void>;
  /** The lease was lost, or could not be renewed in time; awaited before it is tried again. */
  readonly onLost: () => Promise<void>;
}

export interface Lease {
  /** Whether this replica may act now. False from the moment another could. */
  held(): boolean;
  /** Gives it up: the work under it has ended. A second call waits for the first. */
  release(): Promise<void>;
}

export function startLease({ redis, key, token, now, onTaken, onDenied, onLost }: LeaseOptions): Lease {
  const stopping = new AbortController();
  let validUntil = -Infinity;
  let taken = false;
  const running = run();
  let released: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Redis is away, or the work could not begin: what was taken runs out by itself, or was given back.
      await (taken ? renew() : attempt()).catch(() => {});
      if (taken && now() >= validUntil) {
        taken = false;
        await onLost();
      }
      const pause = taken ? RENEW_EVERY_MS : TRY_EVERY_MS;
      await sleep(pause, undefined, { signal: stopping.signal }).catch(() => {});
    }
  }

  async function attempt(): Promise<void> {
    const askedAt = now();
    if ((await redis.command('SET', key, token, 'NX', 'PX', String(LEASE_MS))) !== 'OK') return onDenied();
    validUntil = askedAt + LEASE_MS - SAFETY_MS;
    taken = true;
    try {
      await onTaken();
    } catch {
      await giveBack();
    }
  }

  async function renew(): Promise<void> {
    const askedAt = now();
    const renewed = await redis.command('EVAL', RENEW, '1', key, token, String(LEASE_MS));
    validUntil = renewed === 1 ? askedAt + LEASE_MS - SAFETY_MS : -Infinity;
  }

  async function giveBack(): Promise<void> {
    taken = false;
    validUntil = -Infinity;
    await redis.command('EVAL', RELEASE, '1', key, token).catch(() => {});
  }

  async function release(): Promise<void> {
    stopping.abort();
    await running;
    if (taken) await giveBack();
  }

  return {
    held: () => now() < validUntil,
    release: () => (released ??= release()),
  };
}
