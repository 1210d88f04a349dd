/**
 * A lease in Redis: one replica at a time holds it, and one that dies loses it within LEASE_MS. Each holding has a
 * fencing token of its own. What is written under it carries the token, and Redis refuses it when the lease has gone to
 * another.
 */
import type { Clock } from '../../time/clock.ts';
import { Repeating } from '../../time/repeating.ts';
import type { Redis } from './redis.ts';

export const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_000;
const TRY_EVERY_MS = 500;
/** Before Redis would give the lease to another, this replica counts it as lost: clocks run at different speeds. */
const SAFETY_MS = 500;

/**
 * Answers with the token, 0 if another has the lease, and with the version of what the replicas keep. A token is above
 * all before; the time is in it because Redis may have lost the others. Taken again while it has this replica's token:
 * that was forfeited, and begins anew before another can.
 */
const TAKE = `
local version = redis.call('HGET', KEYS[2], 'version') or '0'
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return {'0', version} end
local token = math.max(tonumber(redis.call('HGET', KEYS[2], 'token') or 0) + 1, tonumber(ARGV[3]))
token = string.format('%.0f', token)
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
redis.call('HSET', KEYS[2], 'token', token)
return {token, version}`;
/** One that is not there was lost by Redis: it has not run out yet. */
const RENEW = `
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return '-1' end
redis.call('SET', KEYS[1], ARGV[1], 'PX', ARGV[2])
return redis.call('HGET', KEYS[2], 'version') or '0'`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export interface LeaseOptions {
  readonly redis: Redis;
  /** Names of the lease, and of the hash with the last token and the version of what is kept. */
  readonly keys: { readonly lease: string; readonly index: string };
  /** Monotonic ms. */
  readonly now: () => number;
  readonly clock: Clock;
  /** It was taken; it is renewed meanwhile. Rejected, it is given back; once `held` says no, this must settle soon. */
  readonly onTaken: (token: number, version: number) => Promise<void>;
  /** It was renewed, and the work under it has begun. */
  readonly onRenewed: (version: number) => void;
  /** Another replica holds it. */
  readonly onDenied: (version: number) => Promise<void>;
  /** The lease was lost, or could not be renewed in time; awaited before it is tried again. */
  readonly onLost: () => Promise<void>;
  /** It could not be asked for or renewed, or what had to be done with that failed. It is tried again. */
  readonly onFailed: (error: unknown) => void;
}

export type Lease = ReturnType<typeof startLease>;

/** Above 60 lines because its short parts share one state: until when it is held, and what has begun under it. */
export function startLease({ redis, keys, now, clock, onTaken, ...on }: LeaseOptions) {
  let token = '0';
  let validUntil = -Infinity;
  /** Settles when the work under the lease has begun, or could not. */
  let beginning: Promise<void> | undefined;
  let hasBegun = false;
  let released: Promise<void> | undefined;
  const trying = new Repeating({ run: tryOnce, firstInMs: 0, clock });

  /** @returns The pause before the next try, ms. */
  async function tryOnce(signal: AbortSignal): Promise<number> {
    // Redis is away: what was taken runs out by itself.
    await (beginning === undefined ? attempt() : renew()).catch(on.onFailed);
    // What is released is not lost.
    if (!signal.aborted && beginning !== undefined && now() >= validUntil) await end(beginning);
    return beginning === undefined ? TRY_EVERY_MS : RENEW_EVERY_MS;
  }

  async function attempt(): Promise<void> {
    const askedAt = now();
    const args = [token, String(LEASE_MS), String(Math.floor(clock.now()))];
    const answer = await redis.command('EVAL', TAKE, '2', keys.lease, keys.index, ...args);
    const [taken, version] = answer as [string, string];
    if (taken === '0') return on.onDenied(Number(version));
    token = taken;
    validUntil = askedAt + LEASE_MS - SAFETY_MS;
    hasBegun = false;
    beginning = begin(Number(version));
  }

  async function begin(version: number): Promise<void> {
    try {
      await onTaken(Number(token), version);
      hasBegun = true;
    } catch (error) {
      on.onFailed(error);
      beginning = undefined;
      await giveBack();
    }
  }

  async function renew(): Promise<void> {
    // What is over is not renewed, also where Redis has this replica's token.
    if (now() >= validUntil) return;
    const askedAt = now();
    const args = [token, String(LEASE_MS)];
    const version = Number(await redis.command('EVAL', RENEW, '2', keys.lease, keys.index, ...args));
    // It may have been forfeited or given back since it was asked.
    if (now() >= validUntil) return;
    validUntil = version >= 0 ? askedAt + LEASE_MS - SAFETY_MS : -Infinity;
    if (version >= 0 && hasBegun) on.onRenewed(version);
  }

  async function end(begun: Promise<void>): Promise<void> {
    validUntil = -Infinity;
    await begun;
    if (beginning === undefined) return;
    beginning = undefined;
    await on.onLost();
    // Whoever has forfeited it and knows why takes it again at once.
    trying.wake();
  }

  async function giveBack(): Promise<void> {
    validUntil = -Infinity;
    await redis.command('EVAL', RELEASE, '1', keys.lease, token).catch(() => {});
  }

  async function release(): Promise<void> {
    const wasHeld = now() < validUntil;
    // The work under it has ended, and what still begins need not.
    validUntil = -Infinity;
    await trying.stop();
    await beginning;
    if (wasHeld) await giveBack();
  }

  return {
    /** Whether this replica may act now. False from the moment another could. */
    held: () => now() < validUntil,
    /** What was written under it was refused: ends the holding, whoever Redis says has it, and tries to take it anew. */
    forfeit(): void {
      validUntil = -Infinity;
      trying.wake();
    },
    /** Gives it up: the work under it has ended. A second call waits for the first. */
    release: () => (released ??= release()),
  };
}
