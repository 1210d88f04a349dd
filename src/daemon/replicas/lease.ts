/**
 * A lease in Redis: one replica at a time holds it, and a dead one loses it within LEASE_MS. Each holding has a fencing
 * token. Writes carry it, and Redis refuses them once another replica has the lease.
 */
import type { Clock } from '../../time/clock.ts';
import { Repeating } from '../../time/repeating.ts';
import type { Redis } from './redis.ts';

const LEASE_MS = 5_000;
const RENEW_EVERY_MS = 1_000;
const TRY_EVERY_MS = 500;
/** Clocks run at different speeds: this replica counts the lease as lost before Redis gives it to another. */
const VALID_MS = LEASE_MS - 500;

/**
 * Takes or renews the lease. Answers with the token, 0 if another has the lease, and with the state of Redis.
 * Without a time it is renewed, under its token: if Redis lost it, it has not run out yet. Tokens rise even if Redis lost
 * earlier ones, as the time is in them.
 */
const HOLD = `
local version = redis.call('HGET', KEYS[2], 'version') or '0'
local info = redis.pcall('INFO', 'server')
local run = type(info) == 'string' and string.match(info, 'run_id:(%w+)') or ''
local holder = redis.call('GET', KEYS[1])
if holder and holder ~= ARGV[1] then return {'0', version, run} end
local token = ARGV[1]
if ARGV[3] ~= '' then
  token = math.max(tonumber(redis.call('HGET', KEYS[2], 'token') or 0) + 1, tonumber(ARGV[3]))
  token = string.format('%.0f', token)
  redis.call('HSET', KEYS[2], 'token', token)
end
redis.call('SET', KEYS[1], token, 'PX', ARGV[2])
return {token, version, run}`;
const RELEASE = `
if redis.call('GET', KEYS[1]) ~= ARGV[1] then return 0 end
return redis.call('DEL', KEYS[1])`;

export interface RedisState {
  /** Of the values. */
  readonly version: number;
  /** The server's process; empty if the user may not ask. */
  readonly run: string;
}

interface LeaseOptions {
  readonly redis: Redis;
  /** The index has the last token and the version of the values. */
  readonly keys: { readonly lease: string; readonly index: string };
  /** Monotonic ms. */
  readonly now: () => number;
  readonly clock: Clock;
  /** Begins the work. The lease is renewed meanwhile, and given back if this rejects. */
  readonly onTaken: (token: number, state: RedisState) => Promise<void>;
  readonly onRenewed: (state: RedisState) => void;
  /** Another replica holds it. */
  readonly onDenied: (state: RedisState) => Promise<void>;
  /** Awaited before the lease is tried again. */
  readonly onLost: () => Promise<void>;
  readonly onFailed: (error: unknown) => void;
}

export type Lease = ReturnType<typeof startLease>;

export function startLease({ redis, keys, now, clock, ...on }: LeaseOptions) {
  let token = '0';
  let validUntil = -Infinity;
  let work: 'none' | 'begins' | 'goes on' = 'none';
  let beginning = Promise.resolve();
  const held = (): boolean => now() < validUntil;
  const trying = new Repeating({ run: turn, firstInMs: 0, clock });

  /** @returns The pause before the next turn, ms. */
  async function turn(signal: AbortSignal): Promise<number> {
    // While Redis is away, the lease runs out by itself.
    if (work === 'none' || held()) await hold(work !== 'none').catch(on.onFailed);
    if (work === 'none') return TRY_EVERY_MS;
    if (held() || signal.aborted) return RENEW_EVERY_MS;
    await beginning;
    if (work === 'goes on') await on.onLost();
    work = 'none';
    return 0;
  }

  async function hold(isRenewal: boolean): Promise<void> {
    const askedAt = now();
    const time = isRenewal ? '' : String(Math.floor(clock.now()));
    const args = [keys.lease, keys.index, token, String(LEASE_MS), time];
    const answer = (await redis.command('EVAL', HOLD, '2', ...args)) as [string, string, string];
    const state = { version: Number(answer[1]), run: answer[2] };
    const isDenied = answer[0] === '0';
    if (isDenied && !isRenewal) return on.onDenied(state);
    // It may have been forfeited or released meanwhile.
    if (isRenewal && !held()) return;
    validUntil = isDenied ? -Infinity : askedAt + VALID_MS;
    if (isDenied) return;
    if (work === 'goes on') return on.onRenewed(state);
    if (work === 'begins') return;
    token = answer[0];
    work = 'begins';
    beginning = begin(state);
  }

  async function begin(state: RedisState): Promise<void> {
    try {
      await on.onTaken(Number(token), state);
      work = 'goes on';
    } catch (error) {
      await giveBack();
      work = 'none';
      on.onFailed(error);
    }
  }

  async function giveBack(): Promise<void> {
    validUntil = -Infinity;
    await redis.command('EVAL', RELEASE, '1', keys.lease, token).catch(() => {});
  }

  return {
    /** Whether this replica may act now. It turns false before another replica could act. */
    held,
    /** A write was refused: ends the holding, and tries to take the lease again. */
    forfeit(): void {
      validUntil = -Infinity;
      trying.wake();
    },
    /** Gives it up: the work under it has ended. */
    async release(): Promise<void> {
      validUntil = -Infinity;
      await trying.stop();
      await beginning;
      await giveBack();
    },
  };
}
