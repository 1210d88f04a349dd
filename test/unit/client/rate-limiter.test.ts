/** What the limiter believes of a key's rate limit, and what it lets leave. Times are ms. */
import { describe, expect, test } from 'vitest';
import { RateLimiter, type RateAnswer } from '../../../src/client/rate-limiter.ts';

const HEARTBEAT = 'deployments.heartbeat';
const LIST = 'deployments.list';
const LOGS = 'workergroups.logs';
const WORKERS = 'endpointGroups.workers';
const LATENCY = 20;

/** Requests of one key, each answered after 20 ms. */
class Key {
  readonly limiter: RateLimiter;

  constructor({ random = 0, spacings = {} }: { random?: number; spacings?: Record<string, number> } = {}) {
    this.limiter = new RateLimiter({ random: () => random, spacings });
  }

  accepted(operation: string, at: number) {
    return this.#answered(operation, at, { throttled: false });
  }

  refused(operation: string, at: number, says: Omit<RateAnswer, 'throttled'> = {}) {
    return this.#answered(operation, at, { throttled: true, ...says });
  }

  #answered(operation: string, at: number, answer: RateAnswer) {
    const departure = this.limiter.sent(operation, at, operation === HEARTBEAT ? 'heartbeat' : 'daemon');
    this.limiter.answered(departure, answer, at + LATENCY);
    return departure;
  }

  /** The key is closed by refusals of two operations. */
  closed({ at = 0, retryAfterMs = 4_000 } = {}): this {
    this.refused(LOGS, at, { retryAfterMs });
    this.refused(WORKERS, at, { retryAfterMs });
    return this;
  }

  /** One request of the operation is accepted every 5 s, and another one half a second later is refused. */
  proven(operation: string, says: Omit<RateAnswer, 'throttled'> = {}, refusals = 4): this {
    for (let at = 0; at < refusals * 5_000; at += 5_000) {
      this.accepted(operation, at);
      this.refused(operation, at + 500, says);
    }
    return this;
  }

  /** The same moment for all: until when the operation is closed after an answer at 20 ms. */
  waits(operation: string): number {
    return this.limiter.opensAt(operation) - LATENCY;
  }
}

/** Of the daemon, while the next heartbeat leaves then. */
function grantOf(limiter: RateLimiter, operation: string, now: number, heartbeatAt = Infinity) {
  limiter.heartbeatAt = () => heartbeatAt;
  return limiter.grant(operation, now);
}

function opens(limiter: RateLimiter, operation: string, now: number, heartbeatAt = Infinity): number {
  limiter.heartbeatAt = () => heartbeatAt;
  return limiter.opensAt(operation, 'daemon', now);
}

test('nothing is held back before the service refuses anything', () => {
  const key = new Key({ spacings: { [HEARTBEAT]: 2_000 } });
  expect([key.limiter.opensAt(HEARTBEAT), key.limiter.spacing(HEARTBEAT)]).toEqual([-Infinity, 0]);
  for (let count = 0; count < 100; count += 1) expect(key.accepted(HEARTBEAT, 5).early).toBe(false);
  expect(key.limiter.opensAt(HEARTBEAT)).toBeLessThanOrEqual(5);
  expect([key.limiter.closedMs(5), key.limiter.allowedPerSecond(5)]).toEqual([0, undefined]);
});

describe('a 429', () => {
  test.each([
    ['the time of Retry-After', { retryAfterMs: 7_000 }, 0, 7_000],
    ['that time though a spacing is named', { retryAfterMs: 7_000, thresholdMs: 3_000 }, 0, 7_000],
    ['a spacing that is named', { thresholdMs: 3_000 }, 0, 3_000],
    ['2 s if nothing is named', {}, 0, 2_000],
    ['up to 200 ms more', { retryAfterMs: 7_000 }, 0.5, 7_100],
    ['and no longer', { retryAfterMs: 7_000 }, 1, 7_200],
  ])('closes its operation for %s', (_what, says, random, waitMs) => {
    const key = new Key({ random });
    key.refused(LOGS, 0, says);
    expect(key.waits(LOGS)).toBe(waitMs);
    expect(key.limiter.opensAt(WORKERS)).toBeLessThanOrEqual(0);
    expect(key.limiter.closedMs(LATENCY)).toBe(0);
  });

  test('without words closes for twice as long when it comes again, but 4 s at most', () => {
    const key = new Key();
    const waits = [0, 10_000, 20_000, 30_000].map((at) => {
      key.refused(LOGS, at);
      return key.waits(LOGS) - at;
    });
    expect(waits).toEqual([2_000, 4_000, 4_000, 4_000]);
    key.accepted(LOGS, 40_000);
    key.refused(LOGS, 50_000);
    expect(key.waits(LOGS) - 50_000).toBe(2_000);
  });

  test.each([
    ['says nothing new', undefined, undefined, 2_030],
    ['may name a later time', 9_000, 1_000, 9_020],
  ])('of a request that was under way at another refusal %s', (_what, one, other, opensAt) => {
    const { limiter } = new Key();
    const [first, second] = [limiter.sent(LOGS, 0), limiter.sent(LOGS, 10)];
    limiter.answered(first, { throttled: true, retryAfterMs: one }, 20);
    limiter.answered(second, { throttled: true, retryAfterMs: other }, 30);
    expect(limiter.opensAt(LOGS)).toBe(opensAt);
  });
});

describe('the key', () => {
  test('is closed if a second operation is refused during the wait of the first', () => {
    const key = new Key({ random: 0.5 });
    key.refused(LOGS, 0, { retryAfterMs: 10_000 });
    key.refused(WORKERS, 9_000, { retryAfterMs: 5_000 });
    expect(key.limiter.opensAt(HEARTBEAT)).toBe(9_000 + LATENCY + 5_100);
    expect(key.limiter.closedMs(9_020)).toBe(5_100);
  });

  test.each([
    ['one operation alone, however often', [LOGS, LOGS, LOGS], 1_000],
    ['a second one when the wait of the first is over', [LOGS, WORKERS], 3_000],
  ])('is not closed by %s', (_what, operations, gapMs) => {
    const key = new Key();
    for (const [index, operation] of operations.entries()) key.refused(operation, index * gapMs);
    const now = gapMs * operations.length;
    expect([key.limiter.closedMs(now), key.limiter.allowedPerSecond(now)]).toEqual([0, undefined]);
    expect(key.limiter.opensAt(HEARTBEAT)).toBeLessThanOrEqual(gapMs * operations.length);
  });

  test('once known to have a limit is closed by each refusal, for ten minutes', () => {
    const key = new Key().closed();
    const isClosedBy = (operation: string, at: number) => {
      key.refused(operation, at, { retryAfterMs: 3_000 });
      return key.limiter.closedMs(at + LATENCY) > 0;
    };
    expect(isClosedBy(LOGS, 599_000)).toBe(true);
    // Another operation renews that, and the same one does not: it may have a limit of its own.
    expect(isClosedBy(LOGS, 1_198_000)).toBe(true);
    expect(isClosedBy(LOGS, 1_205_000)).toBe(false);
  });

  test.each([
    ['two operations show the same limit', [LOGS, 20], [WORKERS, 20], true],
    ['one operation shows it twice', [LOGS, 20], [LOGS, 20], false],
    ['two operations show different ones', [LOGS, 20], [WORKERS, 10], false],
    ['they show 1, as buckets of operations do', [LOGS, 1], [WORKERS, 1], false],
    ['they show none', [LOGS, undefined], [WORKERS, undefined], false],
  ] as const)('is known by headers if %s: %s, %s', (_what, one, other, isKnown) => {
    const { limiter } = new Key();
    for (const [operation, limit] of [one, other])
      limiter.heard(operation, { limit, remaining: 1, resetMs: 3_000 }, 100);
    expect(limiter.allowedPerSecond(100)).toBe(isKnown ? 8 : undefined);
    // The last request is a heartbeat's; of two, one is for the daemon.
    expect(opens(limiter, LOGS, 100)).toBe(isKnown ? 3_100 : -Infinity);
    expect(limiter.opensAt(HEARTBEAT)).toBe(-Infinity);
    // Without a request of the daemon in between it says nothing new.
    limiter.heard(other[0], { limit: other[1], remaining: 1, resetMs: 3_000 }, 1_000);
    expect(opens(limiter, LOGS, 1_000)).toBe(isKnown ? 3_100 : -Infinity);
    limiter.heard(WORKERS, { limit: 20, remaining: 2, resetMs: 3_000 }, 1_000);
    limiter.heard(WORKERS, { limit: 20, remaining: undefined, resetMs: 3_000 }, 1_000);
    expect(opens(limiter, LOGS, 1_000)).toBe(-Infinity);
  });

  test.each([
    ['a heartbeat', 'names 4 s', HEARTBEAT, { retryAfterMs: 4_000 }, [8_000, 12_000, 12_000], 4_000],
    ['a heartbeat', 'names 20 s', HEARTBEAT, { retryAfterMs: 20_000 }, [20_000, 20_000, 20_000], 20_000],
    ['a heartbeat', 'names none', HEARTBEAT, {}, [4_000, 8_000, 12_000], 2_000],
    ['logs', 'names 4 s', LOGS, { retryAfterMs: 4_000 }, [8_000, 8_000, 8_000], 4_000],
    ['logs', 'names none', LOGS, {}, [4_000, 4_000, 4_000], 2_000],
  ])('that was waited out in vain makes the next wait longer: of %s whose refusal %s', (...row) => {
    const [, , operation, says, closedMs, first] = row;
    const key = new Key().closed();
    if (operation === HEARTBEAT) key.refused(HEARTBEAT, 50_000, says);
    const waits = [100_000, 200_000, 300_000].map((at) => {
      key.refused(operation, at, says);
      return key.waits(operation) - at;
    });
    expect(waits).toEqual(closedMs);
    key.accepted(operation, 400_000);
    key.refused(operation, 500_000, says);
    expect(key.waits(operation) - 500_000).toBe(first);
  });

  test('known to have a limit keeps no heartbeat waiting for an answer to another request', () => {
    const { limiter } = new Key().closed();
    limiter.sent(LOGS, 10_000, 'daemon');
    limiter.sent(HEARTBEAT, 10_010);
    expect(limiter.opensAt(HEARTBEAT)).toBeLessThanOrEqual(10_010);
  });

  test('of which another one is used is forgotten with all that was learned', () => {
    const key = new Key().proven(HEARTBEAT, { thresholdMs: 3_000 }).closed({ at: 30_000 });
    key.limiter.sent(HEARTBEAT, 30_100);
    key.limiter.heard(LOGS, { limit: 20, remaining: 9, resetMs: 0 }, 30_100);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(3_060);
    expect(key.limiter.mayLeaveEarly(HEARTBEAT, 30_200, true)).toBe(false);
    key.limiter.forget();
    expect(key.limiter.opensAt(HEARTBEAT)).toBe(-Infinity);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(0);
    key.limiter.heard(WORKERS, { limit: 20, remaining: 9, resetMs: 0 }, 30_200);
    expect(key.limiter.allowedPerSecond(30_200)).toBeUndefined();
    expect(key.limiter.mayLeaveEarly(HEARTBEAT, 30_200, false)).toBe(true);
    expect(grantOf(key.limiter, LOGS, 30_200, 30_200)).toBeDefined();
    expect(opens(key.limiter, LOGS, 30_200)).toBe(30_325);
  });
});

test('an answer to a request with another key says nothing', () => {
  const { limiter } = new Key();
  const departure = limiter.sent(HEARTBEAT, 0);
  limiter.forget();
  limiter.answered(departure, { throttled: true, retryAfterMs: 60_000 }, 20);
  expect(limiter.opensAt(HEARTBEAT)).toBe(-Infinity);
});

test.each([
  ['two', [30_100, 50_200], true],
  ['three, the last after ten minutes', [30_100, 60_100, 700_100], true],
  ['two, an hour apart', [30_100, 3_630_200], false],
  ['one, and one too soon after it', [30_100, 50_050], false],
  ['two, and between them one without', [30_100, 60_000, 90_100], false],
  ['two, and between them an accepted request', [30_100, -60_100, 90_100], false],
])(
  'refusals of an idle operation right after the background, %s: a limit of the key?',
  (_, times, isKeys) => {
    const key = new Key();
    for (const at of times.map(Math.abs)) {
      if (at % 1_000 > 0) key.accepted(LOGS, at - 100);
      if (times.includes(at)) key.refused(HEARTBEAT, at);
      else key.accepted(HEARTBEAT, at);
    }
    expect(key.limiter.allowedPerSecond(times.at(-1)!) !== undefined).toBe(isKeys);
  },
);

test('a heartbeat that leaves early is not idle', () => {
  const key = new Key();
  for (const at of [30_000, 60_000]) {
    key.accepted(LOGS, at);
    key.refused(HEARTBEAT, at + 100, { retryAfterMs: 50_000 });
  }
  expect(key.limiter.allowedPerSecond(60_200)).toBeUndefined();
});

describe('a spacing', () => {
  const CONTRACT = { spacings: { [HEARTBEAT]: 2_500 } };

  test.each([
    ['the one that the service names', CONTRACT, { thresholdMs: 3_000 }, 3_060],
    ['the contract’s', CONTRACT, {}, 2_550],
    ['2 s to begin with', {}, {}, 2_040],
  ])('is kept after four refusals near accepted requests: %s', (_what, options, says, spacing) => {
    expect(new Key(options).proven(HEARTBEAT, says, 3).limiter.spacing(HEARTBEAT)).toBe(0);
    const { limiter } = new Key(options).proven(HEARTBEAT, says);
    expect(limiter.spacing(HEARTBEAT)).toBe(spacing);
    const { at } = limiter.sent(HEARTBEAT, 60_000);
    expect(limiter.opensAt(HEARTBEAT) - at).toBe(spacing);
    // No other operation keeps it.
    expect(limiter.opensAt(LOGS)).toBeLessThanOrEqual(60_000);
  });

  test('is not proven by refusals far from any accepted request', () => {
    const key = new Key(CONTRACT);
    key.accepted(HEARTBEAT, 0);
    for (let at = 10_000; at < 100_000; at += 10_000) key.refused(HEARTBEAT, at);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(0);
  });

  test('is suspected no more if eight requests are accepted that are closer', () => {
    const key = new Key().proven(HEARTBEAT, {}, 3);
    for (let at = 20_000; at < 28_000; at += 1_000) key.accepted(HEARTBEAT, at);
    key.refused(HEARTBEAT, 27_500);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(0);
  });

  test('is not longer than the usual time between two accepted requests', () => {
    const key = new Key(CONTRACT);
    for (let nth = 0; nth < 8; nth += 1) key.accepted(HEARTBEAT, nth * 1_300);
    for (const at of [9_200, 9_300, 9_400, 9_500]) key.refused(HEARTBEAT, at);
    expect(key.limiter.spacing(HEARTBEAT)).toBeCloseTo(1_326, 6);
  });

  test('is searched: halved until one is refused, then half as long again, then a tenth shorter', () => {
    const key = new Key().proven(HEARTBEAT);
    const found = ['accepted', 'refused', 'accepted', 'accepted', 'accepted', 'accepted'].map(
      (how, index) => {
        const at = 60_000 + index * 10_000;
        if (how === 'accepted') key.accepted(HEARTBEAT, at);
        else key.refused(HEARTBEAT, at);
        return Math.round(key.limiter.spacing(HEARTBEAT));
      },
    );
    // A tenth above 1,020, which was refused, is the least.
    expect(found).toEqual([1_020, 1_530, 1_377, 1_239, 1_122, 1_122]);
    const before = key.limiter.sent(HEARTBEAT, 120_000);
    key.refused(HEARTBEAT, 130_000);
    // A request that left before the refusal says nothing new.
    key.limiter.answered(before, { throttled: false }, 131_000);
    expect(Math.round(key.limiter.spacing(HEARTBEAT))).toBe(1_683);
  });

  test.each<[how: string, apart: number, spacings: Record<string, number>, spacing: number]>([
    ['no more if it has sufficed', 1_000, {}, 842],
    ['no more if it has sufficed', 565, {}, 561],
    ['while it is below that of the contract', 565, { [HEARTBEAT]: 2_000 }, 842],
  ])('grows %s: two requests %i ms apart were accepted', (_how, apart, spacings, spacing) => {
    const key = new Key({ spacings }).proven(HEARTBEAT);
    for (const at of [60_000, 70_000]) key.accepted(HEARTBEAT, at);
    key.refused(HEARTBEAT, 80_000);
    for (const at of [90_000, 100_000, 110_000, 120_000, 120_000 + apart]) key.accepted(HEARTBEAT, at);
    key.refused(HEARTBEAT, 130_000);
    expect(Math.round(key.limiter.spacing(HEARTBEAT))).toBe(spacing);
  });

  test('that is named is taken at once, and not shortened by success', () => {
    const key = new Key().proven(HEARTBEAT);
    key.refused(HEARTBEAT, 50_000, { thresholdMs: 3_000 });
    for (let at = 60_000; at < 200_000; at += 10_000) key.accepted(HEARTBEAT, at);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(3_060);
  });

  test('that is named is a minute at most', () => {
    const key = new Key().proven(LOGS);
    key.refused(LOGS, 50_000, { thresholdMs: 86_400_000 });
    expect(key.limiter.spacing(LOGS)).toBe(61_200);
  });

  test('is halved if a heartbeat is accepted that did not keep it, and nothing is closed any more', () => {
    const key = new Key().proven(HEARTBEAT, { thresholdMs: 3_000 });
    key.refused(HEARTBEAT, 60_000, { retryAfterMs: 50_000 });
    expect(key.accepted(HEARTBEAT, 62_000).early).toBe(true);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(1_530);
    expect(key.limiter.opensAt(HEARTBEAT)).toBe(62_000 + 1_530);
    // A refusal of one that did not keep it says nothing of it.
    expect(key.refused(HEARTBEAT, 62_500).early).toBe(true);
    expect(key.limiter.spacing(HEARTBEAT)).toBe(1_530);
  });

  test('is not longer than what leaves each deployment its turn, unless the service or the contract names it', () => {
    const spacingOf = (key: Key, says = {}) => key.proven(HEARTBEAT, says).limiter.spacing(HEARTBEAT);
    const [guessed, named, known] = [new Key(), new Key(), new Key(CONTRACT)];
    for (const { limiter } of [guessed, named, known]) limiter.setWidest(HEARTBEAT, 700);
    const spacings = [spacingOf(guessed), spacingOf(named, { thresholdMs: 3_000 }), spacingOf(known)];
    expect(spacings).toEqual([700, 3_060, 2_550]);
    guessed.limiter.forget();
    expect(spacingOf(guessed)).toBe(700);
  });

  test.each([
    ['gives way to the time that a refusal names', {}, 62_000 + LATENCY + 1_000],
    ['is kept all the same if a refusal named it', { thresholdMs: 3_000 }, 62_000 + 3_060],
  ])('%s', (_what, says, opensAt) => {
    const key = new Key().proven(HEARTBEAT, says);
    key.refused(HEARTBEAT, 62_000, { retryAfterMs: 1_000 });
    expect(key.limiter.opensAt(HEARTBEAT)).toBe(opensAt);
  });

  test('counts from the moment at which a slow request may have arrived, up to half of it', () => {
    const key = new Key().proven(HEARTBEAT, { thresholdMs: 3_000 });
    const slow = (latencyMs: number, at: number) => {
      key.limiter.answered(key.limiter.sent(HEARTBEAT, at), { throttled: false }, at + latencyMs);
      return key.limiter.opensAt(HEARTBEAT) - at;
    };
    expect(slow(LATENCY + 300, 60_000)).toBe(3_360);
    expect(slow(LATENCY + 9_000, 90_000)).toBe(3_060 + 1_530);
  });
});

describe('a heartbeat that cannot wait', () => {
  const early = (limiter: RateLimiter, now: number) =>
    [false, true].map((isLast) => limiter.mayLeaveEarly(HEARTBEAT, now, isLast));

  test('may leave while its operation is closed, one at a time', () => {
    const key = new Key();
    key.refused(HEARTBEAT, 0, { retryAfterMs: 50_000 });
    expect(early(key.limiter, 1_000)).toEqual([true, true]);
    const departure = key.limiter.sent(HEARTBEAT, 1_000);
    expect(departure.early).toBe(true);
    key.accepted(LOGS, 1_000);
    expect(early(key.limiter, 1_000)).toEqual([false, false]);
    key.limiter.lost(departure);
    expect(early(key.limiter, 1_000)).toEqual([true, true]);
  });

  test('and was refused leaves it to those that have no other chance until the wait is over', () => {
    const key = new Key();
    key.refused(HEARTBEAT, 0, { retryAfterMs: 10_000 });
    key.refused(HEARTBEAT, 1_000, { retryAfterMs: 20_000 });
    expect(early(key.limiter, 21_019)).toEqual([false, true]);
    expect(early(key.limiter, 21_020)).toEqual([true, true]);
  });

  test('breaks a proven spacing only as its last chance, and once refused, not for a minute', () => {
    const key = new Key().proven(HEARTBEAT, { thresholdMs: 3_000 });
    expect(early(key.limiter, 16_000)).toEqual([false, true]);
    expect(key.refused(HEARTBEAT, 16_000).early).toBe(true);
    expect(early(key.limiter, 76_019)).toEqual([false, false]);
    expect(early(key.limiter, 76_020)).toEqual([false, true]);
    const other = new Key().proven(HEARTBEAT, { thresholdMs: 3_000 });
    other.refused(HEARTBEAT, 16_000);
    // It is accepted before its time, so others may try as well.
    other.accepted(HEARTBEAT, 16_500);
    expect(early(other.limiter, 16_600)).toEqual([false, true]);
  });
});

describe('the daemon', () => {
  /** Requests granted in each second, all accepted at once. */
  const granted = (limiter: RateLimiter, from: number, seconds: number): number[] => {
    const counts = Array.from({ length: seconds }, () => 0);
    for (let now = from; now < from + seconds * 1_000; now += 0.25) {
      const departure = grantOf(limiter, LOGS, now);
      if (departure === undefined) continue;
      const second = Math.floor((now - from) / 1_000);
      counts[second] = (counts[second] ?? 0) + 1;
      limiter.answered(departure, { throttled: false }, now);
    }
    return counts;
  };

  test('begins at 8 requests a second, and doubles after each 5 s of accepted ones', () => {
    const { limiter } = new Key();
    const counts = granted(limiter, 0, 14);
    expect(counts.slice(0, 5)).toEqual([8, 8, 8, 8, 8]);
    expect(counts.slice(6, 10)).toEqual([16, 16, 16, 16]);
    expect(counts.slice(11)).toEqual([32, 32, 32]);
    // A limit of the key is not known for it.
    expect(limiter.allowedPerSecond(14_000)).toBeUndefined();
  });

  test('does not double its rate if nothing is accepted', () => {
    const { limiter } = new Key();
    for (let now = 0; now < 60_000; now += 1_000) grantOf(limiter, LOGS, now);
    grantOf(limiter, LOGS, 60_000);
    expect(opens(limiter, LOGS, 60_000)).toBe(60_125);
  });

  test.each([WORKERS, HEARTBEAT])(
    'sends nothing after a refusal of the key, of logs and %s, then one in 2 s at most, and doubles',
    (other) => {
      const key = new Key();
      granted(key.limiter, 0, 22);
      for (const operation of [LOGS, other]) key.refused(operation, 22_000, { retryAfterMs: 4_000 });
      expect(key.limiter.allowedPerSecond(22_020)).toBe(0.5);
      // The heartbeat that was refused goes first, and the bucket may be empty after it.
      key.accepted(HEARTBEAT, 26_020);
      expect(grantOf(key.limiter, LOGS, 28_019)).toBeUndefined();
      const counts = granted(key.limiter, 28_020, 18);
      expect(counts.slice(0, 8)).toEqual([1, 1, 1, 1, 1, 2, 2, 2]);
      expect(counts.slice(12, 16)).toEqual([4, 4, 4, 8]);
    },
  );

  test('near the rate that was refused adds a tenth of half of it every 5 s, and beyond doubles again', () => {
    const key = new Key().closed();
    // 4 requests a second are refused.
    granted(key.limiter, 10_000, 16);
    key.refused(LOGS, 26_000);
    const rates = Array.from({ length: 14 }, (_, step) => {
      granted(key.limiter, 30_000 + step * 5_000, 5);
      return key.limiter.allowedPerSecond(0)?.toFixed(1);
    });
    expect(rates.slice(0, 4)).toEqual(['1.0', '2.0', '2.2', '2.4']);
    expect(rates.slice(-3)).toEqual(['4.2', '4.4', '8.8']);
  });

  test('is halved by each refusal that one of its own requests was or came before', () => {
    const key = new Key().closed();
    const rates = [100_000, 200_000, 300_000].map((at) => {
      grantOf(key.limiter, LOGS, at);
      key.refused(HEARTBEAT, at + 50, { retryAfterMs: 1 });
      key.accepted(HEARTBEAT, at + 10_000);
      return key.limiter.allowedPerSecond(at);
    });
    expect(rates).toEqual([1 / 4, 1 / 8, 1 / 16]);
    // Two heartbeats are too close: that is not its fault.
    key.refused(HEARTBEAT, 310_100);
    expect(key.limiter.allowedPerSecond(310_100)).toBe(1 / 16);
  });

  test('has no part in the refusal of a heartbeat that comes 2 s after its request', () => {
    const key = new Key().closed();
    grantOf(key.limiter, LOGS, 100_000);
    const before = key.limiter.allowedPerSecond(100_000);
    key.refused(HEARTBEAT, 102_001);
    expect(key.limiter.allowedPerSecond(103_000)).toBe(before);
  });

  test('shares its rate with the questions of the heart, which take every other turn at most', () => {
    const { limiter } = new Key().closed();
    const spacing = 1_000 / (limiter.allowedPerSecond(10_000) ?? 0);
    limiter.sent(WORKERS, 10_000, 'question');
    expect(limiter.opensAt(LOGS, 'call')).toBeLessThan(10_000);
    expect(limiter.opensAt(LOGS, 'daemon', 10_001)).toBe(10_000 + spacing);
    expect(limiter.opensAt(WORKERS, 'question', 10_001)).toBe(10_000 + 2 * spacing);
    limiter.questions.push(LIST);
    expect(limiter.opensAt(LOGS, 'daemon', 10_000 + spacing)).toBe(10_000 + spacing);
    const { at } = limiter.sent(LOGS, 10_000 + spacing, 'daemon');
    // The question is next.
    expect(limiter.opensAt(LOGS, 'daemon', at + spacing)).toBeGreaterThan(at + spacing);
  });

  test.each([
    ['is closed', { retryAfterMs: 200_000 }],
    ['keeps a spacing', { thresholdMs: 4_500 }],
  ])('waits for no question whose own operation %s', (_what, says) => {
    const key = new Key().proven(LIST, says);
    key.accepted(LIST, 21_000);
    for (const one of [LOGS, WORKERS]) key.limiter.heard(one, { limit: 20, remaining: 9, resetMs: 0 }, 0);
    key.limiter.questions.push(LIST);
    key.accepted(LOGS, 21_500);
    expect(opens(key.limiter, LOGS, 23_000)).toBeLessThanOrEqual(23_000);
  });

  test('goes after a heartbeat that is due, once a limit of the key is known', () => {
    const { limiter } = new Key();
    expect(grantOf(limiter, LOGS, 0, 0)).toBeDefined();
    const key = new Key().closed();
    expect(grantOf(key.limiter, LOGS, 9_000, 9_000)).toBeUndefined();
    expect(opens(key.limiter, LOGS, 9_000, 9_000)).toBe(9_100);
    expect(grantOf(key.limiter, LOGS, 9_000, 9_001)).toMatchObject({ who: 'daemon', early: false });
    key.accepted(HEARTBEAT, 19_000);
    // In the middle between two heartbeats, whatever else leaves there.
    key.limiter.sent(WORKERS, 19_100, 'call');
    expect(opens(key.limiter, LOGS, 19_020, 19_600)).toBe(19_300);
  });

  test('of one operation alone slows down after each refusal, if refusals count as the key’s', () => {
    const limiter = new RateLimiter({ random: () => 0, isKeys: true });
    for (const nth of [0, 1, 2]) {
      const at = nth * 10_000;
      const departure = limiter.grant(LOGS, at);
      expect(departure).toBeDefined();
      if (departure) limiter.answered(departure, { throttled: true, retryAfterMs: 1_000 }, at + LATENCY);
      expect(limiter.opensAt(LOGS, 'daemon', at + LATENCY)).toBe(at + 2_000 * 2 ** nth);
    }
  });

  test('keeps the spacing of the key, once it is found', () => {
    const found = () => new Key().closed().proven(HEARTBEAT, { retryAfterMs: 1_000 }, 5);
    const [key, longest] = [found(), found()];
    key.accepted(HEARTBEAT, 60_000);
    // A request that is far from the one before says nothing; those that come that near halve it.
    expect(opens(key.limiter, LOGS, 60_100)).toBe(62_040);
    key.accepted(HEARTBEAT, 62_550);
    key.accepted(HEARTBEAT, 63_825);
    // Heartbeats keep it too; and a refusal without words closes for twice as long.
    expect([key.limiter.pace(HEARTBEAT), key.limiter.opensAt(HEARTBEAT)]).toEqual([510, 64_335]);
    const waits = [80_000, 90_000].map((at) => key.refused(HEARTBEAT, at) && key.waits(HEARTBEAT) - at);
    expect(waits).toEqual([1_020, 4_000]);
    longest.accepted(HEARTBEAT, 60_000);
    longest.refused(HEARTBEAT, 70_000);
    expect(longest.limiter.pace(HEARTBEAT)).toBe(2_040);
    longest.accepted(HEARTBEAT, 700_000);
    expect(Math.round(longest.limiter.pace(HEARTBEAT))).toBe(1_836);
  });

  test('goes after a heartbeat that was refused, whatever bucket refused it', () => {
    const key = new Key();
    key.refused(HEARTBEAT, 0, { retryAfterMs: 1_000 });
    expect(opens(key.limiter, LOGS, 30_000)).toBe(30_100);
    key.accepted(LOGS, 30_050);
    expect(opens(key.limiter, LOGS, 30_200)).toBe(30_300);
    key.accepted(HEARTBEAT, 31_000);
    expect(opens(key.limiter, LOGS, 31_020)).toBe(30_175);
    key.refused(HEARTBEAT, 40_000, { retryAfterMs: 1_000 });
    expect(opens(key.limiter, LOGS, 40_020 + 60_000)).toBe(30_175);
  });
});
