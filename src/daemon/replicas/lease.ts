/**
 * A lease in Redis: one replica at a time holds it, and one that dies loses it within LEASE_MS. What is written under
 * it is fenced: a write carries the holder's token, and Redis refuses it when the lease has gone to another.
 */
import type { Clock } from '../../time/clock.ts';
import type { Redis } from './redis.ts';

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_000;
const TRY_EVERY_MS = 500;
/** Before Redis would give the lease to another, this replica counts it as lost: clocks run at different speeds. */
const SAFETY_MS = 500;

/** Also where it is this replica's already: it has forfeited it, and begins anew before another can. */
const TAKE = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return 0 end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return 1`;
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
  readonly clock: Pick<Clock, 'sleep'>;
  /**
   * The lease was taken; it is renewed meanwhile. When it rejects, the lease is given back and tried again; once
   * `held` says no, it must settle soon.
   */
  readonly onTaken: () => Promise<void>;
  /** It was renewed, and the work under it has begun. */
  readonly onRenewed: () => Promise<void>;
  /** Another replica holds it. */
  readonly onDenied: () => Promise<void>;
  /** The lease was lost, or could not be renewed in time; awaited before it is tried again. */
  readonly onLost: () => Promise<void>;
  /** It could not be asked for or renewed, or what had to be done with that failed. It is tried again. */
  readonly onFailed: (error: unknown) => void;
}

export interface Lease {
  /** Whether this replica may act now. False from the moment another could. */
  held(): boolean;
  /** What was written under it was refused: ends the holding, whoever Redis says has it, and tries to take it anew. */
  forfeit(): void;
  /** Gives it up: the work under it has ended. A second call waits for the first. */
  release(): Promise<void>;
}

/** Above 60 lines because its short parts share one state: until when it is held, and what has begun under it. */
export function startLease({ redis, key, token, now, clock, onTaken, ...on }: LeaseOptions): Lease {
  const stopping = new AbortController();
  let validUntil = -Infinity;
  /** Settles when the work under the lease has begun, or could not. */
  let beginning: Promise<void> | undefined;
  let hasBegun = false;
  let wake: () => void = () => {};
  const running = run();
  let released: Promise<void> | undefined;

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      // Redis is away: what was taken runs out by itself.
      await (beginning === undefined ? attempt() : renew()).catch(on.onFailed);
      // What is released is not lost.
      if (stopping.signal.aborted) return;
      const ended = beginning !== undefined && now() >= validUntil && (await end(beginning));
      // Whoever has forfeited it and knows why takes it again at once.
      if (!ended) await pause(beginning === undefined ? TRY_EVERY_MS : RENEW_EVERY_MS);
    }
  }

  async function attempt(): Promise<void> {
    const askedAt = now();
    if ((await redis.command('EVAL', TAKE, '1', key, token, String(LEASE_MS))) !== 1) return on.onDenied();
    validUntil = askedAt + LEASE_MS - SAFETY_MS;
    hasBegun = false;
    beginning = begin();
  }

  async function begin(): Promise<void> {
    try {
      await onTaken();
      hasBegun = true;
    } catch (error) {
      on.onFailed(error);
      beginning = undefined;
      await giveBack();
    }
  }

  async function renew(): Promise<void> {
    // What is over is not renewed, also where Redis has this replica's name under it.
    if (now() >= validUntil) return;
    const askedAt = now();
    const renewed = await redis.command('EVAL', RENEW, '1', key, token, String(LEASE_MS));
    // It may have been forfeited or given back since it was asked.
    if (now() >= validUntil) return;
    validUntil = renewed === 1 ? askedAt + LEASE_MS - SAFETY_MS : -Infinity;
    if (renewed === 1 && hasBegun) await on.onRenewed();
  }

  /** @returns Whether there was anything to end. */
  async function end(begun: Promise<void>): Promise<boolean> {
    validUntil = -Infinity;
    await begun;
    if (beginning === undefined) return false;
    beginning = undefined;
    await on.onLost();
    return true;
  }

  async function giveBack(): Promise<void> {
    validUntil = -Infinity;
    await redis.command('EVAL', RELEASE, '1', key, token).catch(() => {});
  }

  async function release(): Promise<void> {
    stopping.abort();
    const wasHeld = now() < validUntil;
    // The work under it has ended, and what still begins need not.
    validUntil = -Infinity;
    await running;
    await beginning;
    if (wasHeld) await giveBack();
  }

  async function pause(ms: number): Promise<void> {
    const woken = new AbortController();
    wake = () => woken.abort();
    await clock.sleep(ms, AbortSignal.any([stopping.signal, woken.signal])).catch(() => {});
  }

  return {
    held: () => now() < validUntil,
    forfeit() {
      validUntil = -Infinity;
      wake();
    },
    release: () => (released ??= release()),
  };
}
