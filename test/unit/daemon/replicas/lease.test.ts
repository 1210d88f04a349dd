import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startLease, type Lease } from '../../../../src/daemon/replicas/lease.ts';
import type { Redis } from '../../../../src/daemon/replicas/redis.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';

/** One key with a holder, which it loses by itself; answers what the lease's scripts ask. */
class LeaseInRedis implements Redis {
  readonly #clock: VirtualClock;
  holder: string | undefined;
  until = 0;
  tokens = 0;
  isAway = false;
  /** Delays the next answer until this is resolved; what was asked has its effect at once. */
  slow: Promise<void> | undefined;
  readonly asked: string[] = [];

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async command(...[, script, , , ...args]: readonly (string | Buffer)[]): Promise<unknown> {
    const isRelease = String(script).includes('DEL');
    const [token = '', ms = '', least = ''] = args.slice(isRelease ? 0 : 1).map(String);
    const kind = isRelease ? 'release' : least === '' ? 'renew' : 'take';
    this.asked.push(kind);
    const { slow } = this;
    this.slow = undefined;
    if (this.isAway) throw new Error('away');
    const answer = this.#answer(kind, token, Number(ms), Number(least));
    await slow;
    return answer;
  }

  close(): void {}

  #answer(kind: string, token: string, ms: number, least: number): unknown {
    if (this.until <= this.#clock.now()) this.holder = undefined;
    const isOthers = this.holder !== undefined && this.holder !== token;
    if (isOthers) return kind === 'release' ? 0 : ['0', '7', 'run'];
    if (kind === 'release') {
      this.holder = undefined;
      return 1;
    }
    this.tokens = kind === 'take' ? Math.max(this.tokens + 1, least) : this.tokens;
    this.holder = String(this.tokens);
    this.until = this.#clock.now() + ms;
    return [this.holder, kind === 'take' ? '7' : '8', 'run'];
  }

  binary(): Promise<unknown> {
    return expect.unreachable();
  }
}

let clock: VirtualClock;
let redis: LeaseInRedis;
let happened: string[];
let failures: unknown[];
let begin: () => Promise<void>;
let lose: () => Promise<void>;
/** What a test lets another wait for. */
let waiting: PromiseWithResolvers<void>;
const leases: Lease[] = [];
beforeEach(() => {
  clock = new VirtualClock(0);
  redis = new LeaseInRedis(clock);
  [happened, failures] = [[], []];
  begin = async () => {};
  lose = async () => {};
  waiting = Promise.withResolvers();
});
afterEach(async () => {
  for (const one of leases.splice(0)) {
    const released = one.release();
    await clock.advance(10_000);
    await released;
  }
});

function lease(): Lease {
  const started = startLease({
    redis,
    keys: { lease: 'the lease', index: 'the index' },
    now: () => clock.now(),
    clock,
    onTaken: (token, state) => {
      expect([String(token), state]).toEqual([redis.holder, { version: 7, run: 'run' }]);
      happened.push('taken');
      return begin();
    },
    onRenewed: ({ version }) => void happened.push(version === 8 ? 'renewed' : 'wrong version'),
    onDenied: async ({ version }) => void happened.push(version === 7 ? 'denied' : 'wrong version'),
    onLost: () => {
      happened.push('lost');
      return lose();
    },
    onFailed: (error) => failures.push(error),
  });
  leases.push(started);
  return started;
}

test('it is taken, and renewed every second', async () => {
  const own = lease();
  expect(own.held()).toBe(false);
  await settled();
  expect([own.held(), redis.holder, redis.until]).toEqual([true, '1', 5_000]);
  await clock.advance(999);
  expect(happened).toEqual(['taken']);
  await clock.advance(2_001);
  expect(happened).toEqual(['taken', 'renewed', 'renewed', 'renewed']);
  expect(redis.until).toBe(8_000);
  await clock.advance(60_000);
  expect([own.held(), failures]).toEqual([true, []]);
});

test('that of another is tried every half second, and taken when it is free', async () => {
  [redis.holder, redis.until] = ['other', 1_200];
  const own = lease();
  await clock.advance(1_100);
  expect(happened).toEqual(['denied', 'denied', 'denied']);
  expect(own.held()).toBe(false);
  await clock.advance(400);
  expect([own.held(), happened.at(-1)]).toEqual([true, 'taken']);
});

describe('when Redis is away', () => {
  test('it is tried again, and each failure is told', async () => {
    redis.isAway = true;
    const own = lease();
    await clock.advance(1_000);
    expect(failures).toHaveLength(3);
    redis.isAway = false;
    await clock.advance(500);
    expect([own.held(), happened]).toEqual([true, ['taken']]);
  });

  test('it counts as lost half a second before another could have it', async () => {
    const own = lease();
    await clock.advance(2_000);
    redis.isAway = true;
    await clock.advance(4_499);
    expect(own.held()).toBe(true);
    await clock.advance(1);
    expect(own.held()).toBe(false);
    expect(happened.filter((what) => what === 'lost')).toEqual([]);
    await clock.advance(500);
    expect(happened.filter((what) => what === 'lost')).toEqual(['lost']);
    // At once, and then as ever; it is not renewed any more.
    const before = redis.asked.length;
    await clock.advance(1_000);
    expect(new Set(redis.asked.slice(before))).toEqual(new Set(['take']));
    redis.isAway = false;
    await clock.advance(500);
    expect([own.held(), happened.at(-1)]).toEqual([true, 'taken']);
  });
});

test('one that Redis gave to another is lost, and tried again', async () => {
  const own = lease();
  await clock.advance(500);
  [redis.holder, redis.until] = ['other', 60_000];
  expect(own.held()).toBe(true);
  await clock.advance(500);
  expect(own.held()).toBe(false);
  expect(happened).toEqual(['taken', 'lost', 'denied']);
});

test('it counts from when it was asked for, not from when the answer came', async () => {
  redis.slow = waiting.promise;
  const own = lease();
  await clock.advance(3_000);
  expect(own.held()).toBe(false);
  waiting.resolve();
  await settled();
  expect(own.held()).toBe(true);
  redis.isAway = true;
  await clock.advance(1_499);
  expect(own.held()).toBe(true);
  await clock.advance(1);
  expect(own.held()).toBe(false);
});

describe('the work under it', () => {
  test('that still begins is no reason not to renew it, and is told of no renewal', async () => {
    begin = () => waiting.promise;
    const own = lease();
    await clock.advance(10_000);
    expect([own.held(), happened]).toEqual([true, ['taken']]);
    waiting.resolve();
    await clock.advance(1_000);
    expect(happened).toEqual(['taken', 'renewed']);
  });

  test('that still begins when it is lost is waited for', async () => {
    begin = () => waiting.promise;
    const own = lease();
    await settled();
    [redis.holder, redis.until] = ['other', 60_000];
    await clock.advance(3_000);
    expect([own.held(), happened]).toEqual([false, ['taken']]);
    waiting.resolve();
    await settled();
    expect(happened).toEqual(['taken', 'lost', 'denied']);
  });

  test('that ends slowly is waited for before it is tried again', async () => {
    const own = lease();
    await clock.advance(500);
    lose = () => waiting.promise;
    [redis.holder, redis.until] = ['other', 2_000];
    await clock.advance(5_000);
    expect(happened).toEqual(['taken', 'lost']);
    waiting.resolve();
    await settled();
    expect([own.held(), happened.at(-1)]).toEqual([true, 'taken']);
  });
});

test('one that is forfeited is lost at once, and taken anew before anybody else can', async () => {
  const own = lease();
  await clock.advance(300);
  own.forfeit();
  expect(own.held()).toBe(false);
  await settled();
  expect(happened).toEqual(['taken', 'lost', 'taken']);
  expect([own.held(), redis.asked]).toEqual([true, ['take', 'take']]);
});

test('one that is forfeited while it is renewed stays so', async () => {
  const own = lease();
  await clock.advance(500);
  redis.slow = waiting.promise;
  await clock.advance(500);
  own.forfeit();
  waiting.resolve();
  await settled();
  expect(happened).toEqual(['taken', 'lost', 'taken']);
  expect(own.held()).toBe(true);
});

describe('released', () => {
  test('it is the next one’s at once, and was not lost', async () => {
    const own = lease();
    await clock.advance(500);
    const released = own.release();
    expect(own.held()).toBe(false);
    await released;
    expect([redis.holder, redis.asked]).toEqual([undefined, ['take', 'release']]);
    await clock.advance(60_000);
    expect([happened, redis.asked]).toEqual([['taken'], ['take', 'release']]);
  });

  test('while Redis is away it ends all the same', async () => {
    const own = lease();
    await clock.advance(500);
    redis.isAway = true;
    await own.release();
    expect(failures).toEqual([]);
  });

  test('while its work begins it waits for that', async () => {
    begin = () => waiting.promise;
    const own = lease();
    await settled();
    let over = false;
    const released = own.release().then(() => (over = true));
    await settled();
    expect([over, own.held(), redis.holder]).toEqual([false, false, '1']);
    waiting.resolve();
    await released;
    expect(redis.holder).toBeUndefined();
  });

  test('while it is renewed it is given back', async () => {
    const own = lease();
    await clock.advance(500);
    redis.slow = waiting.promise;
    await clock.advance(500);
    const released = own.release();
    waiting.resolve();
    await released;
    expect([redis.holder, own.held(), happened]).toEqual([undefined, false, ['taken']]);
  });
});
