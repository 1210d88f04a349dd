import { describe, expect, test } from 'vitest';
import * as fc from '../../../support/fast-check.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';
import { RateLimiter } from '../../../../src/client/rate-limiter.ts';
import { Calls, DeadlineHeap, HEARTBEAT, Queue } from '../../../../src/heartbeat/driver/queue.ts';
import type { BeatRequest, Ports } from '../../../../src/heartbeat/driver/ports.ts';
import {
  expiresAt,
  startHeartbeat,
  type AttemptOutcome,
  type Heartbeat,
} from '../../../../src/heartbeat/engine/state.ts';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';

/** Monotonic ms. */
const NOW = 1_000_000;

interface Item {
  readonly beat: Heartbeat;
}

/** A heartbeat that is due, whose last acknowledged beat left so long ago, ms. */
function due(
  id: number,
  age: number,
  changes: Partial<Heartbeat> = {},
  { ttl }: { readonly ttl: number | undefined } = { ttl: 60_000 },
): Item {
  const begun = { mono: NOW - age, wall: NOW - age };
  const timing = timingFor({ ttl, interval: 'auto' });
  const beat = startHeartbeat({ id, timing, spread: 1, dueAt: begun.mono, keyGeneration: 1 }, begun);
  return { beat: { ...beat, acknowledged: true, ...changes } };
}

/** One whose attempt is slow, and that may have a second one beside it. */
function hedging(id: number, age: number): Item {
  const attempt = { id: 1, sentAt: NOW - 2_000, elapsedAt: NOW - 2_000, keyGeneration: 1, overdue: false };
  const latencies = Array.from({ length: 20 }, () => 50);
  return due(id, age, {
    inFlight: [attempt],
    lastSentAt: NOW - 2_000,
    dueAt: Infinity,
    latencies,
    state: 'urgent',
  });
}

const ENDLESS = { beat: () => new Promise<never>(() => {}) } as unknown as Ports;
const REQUEST = { deploymentId: 1, key: 'key', timeoutMs: 1_000, fresh: false };

function queueOf(limiter = new RateLimiter(), { concurrency = 10, openLimit = 10, underWay = 0 } = {}) {
  const calls = new Calls(ENDLESS);
  for (let number = 0; number < underWay; number += 1) calls.start(REQUEST, { ended() {}, evicted() {} });
  return new Queue<Item>(limiter, calls, { concurrency, openLimit });
}

/** A spacing of 3.06 s is proven; the last heartbeat left then. */
function spaced(lastAt = NOW - 10_000): RateLimiter {
  const limiter = new RateLimiter({ random: () => 0 });
  const departures = Array.from({ length: 5 }, () => limiter.sent(HEARTBEAT, lastAt));
  for (const [index, departure] of departures.entries()) {
    const throttled = index > 0;
    limiter.answered(departure, { throttled, ...(throttled && { thresholdMs: 3_000 }) }, lastAt + 20);
  }
  return limiter;
}

/** One heartbeat was refused, so that the next may leave so long after it. */
function closed(lastAt: number, retryAfterMs = 3_000): RateLimiter {
  const limiter = new RateLimiter({ random: () => 0 });
  limiter.answered(limiter.sent(HEARTBEAT, lastAt), { throttled: true, retryAfterMs }, lastAt + 20);
  return limiter;
}

function placed(queue: Queue<Item>, ...items: readonly Item[]): void {
  for (const item of items) {
    queue.add(item.beat.timing);
    queue.place(item, NOW);
  }
}

describe('without a limit', () => {
  test('the one that expires first goes first, and nothing is waited for', () => {
    const queue = queueOf();
    const [one, other] = [due(1, 20_000), due(2, 40_000)];
    placed(queue, one, other);
    expect(queue.next(NOW)).toBe(other);
    expect([queue.nextAt(NOW), queue.leavesAt()]).toEqual([NOW, -Infinity]);
  });

  test('one without a TTL is as urgent as one that expires a minute after it was due', () => {
    const [endless, soon, late] = [due(1, 5_000, {}, { ttl: undefined }), due(2, 10_000), due(3, 1_000)];
    for (const [other, first] of [[soon, soon] as const, [late, endless] as const]) {
      const queue = queueOf();
      placed(queue, endless, other);
      expect(queue.next(NOW)).toBe(first);
    }
  });
});

describe('the room for requests', () => {
  test('is that for so many that are not overdue', () => {
    const full = queueOf(new RateLimiter(), { concurrency: 2, underWay: 2 });
    const item = due(1, 20_000);
    placed(full, item);
    expect(full.next(NOW)).toBeUndefined();
    // The end of a request makes room, and no timer.
    expect(full.nextAt(NOW)).toBe(expiresAt(item.beat));
    full.place(item, NOW);
    expect(full.nextAt(NOW)).toBe(NOW);
    const free = queueOf(new RateLimiter(), { concurrency: 2, underWay: 1 });
    placed(free, item);
    expect(free.next(NOW)).toBe(item);
  });

  test('of a second attempt is what leaves each deployment a place for its first', () => {
    const second = hedging(1, 58_000);
    const withOpen = (underWay: number) => {
      const queue = queueOf(new RateLimiter(), { openLimit: 4, underWay });
      placed(queue, second, due(2, 0, { dueAt: NOW + 900 }));
      return queue.next(NOW);
    };
    expect(withOpen(1)).toBe(second);
    expect(withOpen(2)).toBeUndefined();
  });
});

describe('under a spacing that is proven', () => {
  /** One that expires sooner, and has had its turn; another that has not. */
  const short = due(1, 4_000, { state: 'healthy' }, { ttl: 20_000 });
  const long = due(2, 16_000, { state: 'healthy' });

  test('none goes before it opens', () => {
    const queue = queueOf(spaced(NOW - 1_000));
    placed(queue, short, long);
    expect([queue.next(NOW), queue.nextAt(NOW)]).toEqual([undefined, NOW + 2_060]);
    expect(queue.leavesAt()).toBe(NOW + 2_060);
    expect(queue.next(NOW + 2_060)).toBeDefined();
  });

  test('a healthy one waits for its turn', () => {
    const queue = queueOf(spaced());
    placed(queue, short, long);
    expect(queue.next(NOW)).toBe(long);
  });

  test('one in trouble does not, nor any when the last beats are sent', () => {
    const troubled = queueOf(spaced());
    const retrying = due(1, 4_000, { state: 'retrying' }, { ttl: 20_000 });
    placed(troubled, retrying, long);
    expect(troubled.next(NOW)).toBe(retrying);
    const draining = queueOf(spaced());
    placed(draining, short, long);
    draining.draining = true;
    expect(draining.next(NOW)).toBe(short);
  });

  test('if none has its turn the next turn is waited for', () => {
    const queue = queueOf(spaced());
    const [later, earlier] = [due(3, 5_000, { state: 'healthy' }), due(4, 6_000, { state: 'healthy' })];
    placed(queue, later, earlier);
    // Each has the same part of T − ε − X, and leaves a fifth of the limit to other processes.
    const turnAt = 1.25 * 2 * 3_060;
    expect(queue.next(NOW)).toBeUndefined();
    expect(queue.nextAt(NOW)).toBeCloseTo(NOW + turnAt - 6_000, 6);
    expect(queue.leavesAt()).toBeCloseTo(NOW + turnAt - 6_000, 6);
    const then = NOW + turnAt - 6_000 + 0.001;
    expect(queue.due(then)).toBeUndefined();
    expect(queue.next(then)).toBe(earlier);
  });

  test('twelve that need most of the limit leave a twentieth of it', () => {
    const queue = queueOf(spaced());
    placed(queue, ...Array.from({ length: 12 }, (_, id) => due(id, 20_000, { state: 'healthy' })));
    expect(queue.next(NOW)).toBeUndefined();
    expect(queue.nextAt(NOW)).toBeCloseTo(NOW + 1.05 * 12 * 3_060 - 20_000, 6);
  });

  test('a second attempt goes last', () => {
    const queue = queueOf(spaced());
    const second = hedging(6, 58_000);
    placed(queue, second);
    expect(queue.next(NOW)).toBe(second);
    const first = due(7, 20_000, { state: 'healthy' });
    placed(queue, first);
    expect(queue.next(NOW)).toBe(first);
  });

  test.each([
    ['that has another chance', 30_000, 3_000, false],
    ['that has another chance, but would not live until it opens', 30_000, 40_000, false],
    ['that has none, but lives until it opens', 55_000, 3_000, false],
    ['that has none, and would not live until then', 55_000, 20_000, true],
  ])('one %s goes early, or not', (_which, age, retryAfterMs, isEarly) => {
    const limiter = spaced(NOW - 1_000);
    limiter.answered(limiter.sent(HEARTBEAT, NOW - 100), { throttled: true, retryAfterMs }, NOW - 80);
    // The refused one left early: another one may after a minute.
    const now = NOW + 60_000;
    const again = limiter.sent(HEARTBEAT, now - 100);
    limiter.answered(again, { throttled: true, retryAfterMs }, now - 80);
    const queue = queueOf(limiter);
    const item = due(1, age - 60_000, { latestAt: NOW, state: 'throttled' });
    queue.add(item.beat.timing);
    queue.place(item, now);
    expect(queue.next(now)).toBe(isEarly ? item : undefined);
  });
});

describe('while the service wants to be left alone', () => {
  test('a heartbeat waits for as long as it can, or until that is over', () => {
    const queue = queueOf(closed(NOW - 1_000, 60_000));
    const item = due(3, 20_000, { latestAt: NOW + 1_500 });
    placed(queue, item);
    expect([queue.next(NOW), queue.nextAt(NOW)]).toEqual([undefined, NOW + 1_500]);
    expect(queue.next(NOW + 1_499)).toBeUndefined();
    expect(queue.next(NOW + 1_500)).toBe(item);
    const patient = queueOf(closed(NOW - 1_000));
    placed(patient, due(3, 20_000, { latestAt: NOW + 5_000 }));
    expect(patient.nextAt(NOW)).toBe(NOW + 2_020);
    expect(patient.next(NOW + 2_020)).toBeDefined();
  });

  test('a wait that leaves room for an attempt is kept to its end', () => {
    const queue = queueOf(closed(NOW - 1_000));
    placed(queue, due(3, 20_000, { latestAt: NOW + 1_500 }));
    expect(queue.next(NOW + 1_500)).toBeUndefined();
    expect(queue.nextAt(NOW + 1_500)).toBe(NOW + 2_020);
    expect(queue.next(NOW + 2_020)).toBeDefined();
  });

  test('one goes early at a time, and its end wakes the driver', () => {
    const limiter = closed(NOW - 1_000, 60_000);
    const queue = queueOf(limiter);
    placed(queue, due(3, 20_000, { latestAt: NOW - 10 }));
    limiter.sent(HEARTBEAT, NOW - 5);
    expect(queue.next(NOW)).toBeUndefined();
    expect(queue.nextAt(NOW)).toBeGreaterThan(NOW + 30_000);
  });

  test('a second attempt does not go early', () => {
    const queue = queueOf(closed(NOW - 1_000));
    placed(queue, hedging(6, 58_000));
    expect(queue.next(NOW)).toBeUndefined();
  });
});

describe('what the deployments need', () => {
  test('is not known without a spacing, or without deployments', () => {
    const queue = queueOf();
    placed(queue, due(1, 0));
    expect(queue.sharedLimit()).toBeUndefined();
    expect(queueOf(spaced()).sharedLimit()).toBeUndefined();
  });

  test('bounds a spacing that is only guessed, with room for half as much again', () => {
    const limiter = new RateLimiter({ random: () => 0 });
    const queue = queueOf(limiter);
    for (let id = 1; id <= 40; id += 1) placed(queue, due(id, 0));
    for (let round = 0; round < 4; round += 1) {
      limiter.answered(limiter.sent(HEARTBEAT, round * 5_000), { throttled: false }, round * 5_000);
      const refused = limiter.sent(HEARTBEAT, round * 5_000 + 500);
      limiter.answered(refused, { throttled: true }, round * 5_000 + 500);
    }
    expect(limiter.spacing(HEARTBEAT)).toBeCloseTo(47_400 / 1.5 / 40, 6);
  });
});

test('what is due is told whether it may leave or not', () => {
  const queue = queueOf(closed(NOW - 1_000));
  const item = due(1, 20_000);
  placed(queue, item);
  const expiry = expiresAt(item.beat);
  expect(queue.due(expiry - 1)).toBeUndefined();
  expect(queue.due(expiry)).toBe(item);
});

function calling() {
  const time = new VirtualTime();
  const requests: (BeatRequest & { readonly answer: (outcome: AttemptOutcome) => void })[] = [];
  const calls = new Calls({
    setTimer: time.setTimer,
    beat: (request: BeatRequest) =>
      new Promise<AttemptOutcome>((resolve) => requests.push({ ...request, answer: resolve })),
  } as unknown as Ports);
  const [settled, evicted] = [[] as AttemptOutcome[], [] as number[]];
  const start = (deploymentId: number) =>
    calls.start(
      { deploymentId, key: 'key', timeoutMs: 1_000, fresh: false },
      { ended: (outcome) => settled.push(outcome), evicted: () => evicted.push(deploymentId) },
    );
  return { time, requests, calls, settled, evicted, start };
}

const ACCEPTED: AttemptOutcome = { type: 'accepted' };

test('a call that is overdue is open, and counts no more', async () => {
  const { time, requests, calls, settled, start } = calling();
  const call = start(1);
  start(2);
  expect([calls.counted, calls.open]).toEqual([2, 2]);
  calls.overdue(call);
  calls.overdue(call);
  expect([calls.counted, calls.open]).toEqual([1, 2]);
  requests[0]?.answer(ACCEPTED);
  await time.pass(1);
  expect([calls.counted, calls.open, settled]).toEqual([1, 1, [ACCEPTED]]);
});

test('a call that is ended is neither, and its answer is not heard', async () => {
  const { time, requests, calls, settled, start } = calling();
  const call = start(1);
  calls.abort(call);
  calls.abort(call);
  expect([calls.counted, calls.open, requests[0]?.signal.aborted]).toEqual([0, 0, true]);
  requests[0]?.answer(ACCEPTED);
  await time.pass(1);
  calls.overdue(call);
  expect([calls.counted, calls.open, calls.evict(), settled]).toEqual([0, 0, false, []]);
});

test('the place of the oldest that is overdue and has no connection is free for another, once', () => {
  const { requests, calls, evicted, start } = calling();
  const all = [1, 2, 3, 4].map((id) => start(id));
  expect(calls.evict()).toBe(false);
  requests[0]?.connected();
  for (const call of all) calls.overdue(call);
  // Late, and yet on its way.
  requests[1]?.connected();
  if (all[3]) calls.abort(all[3]);
  expect([calls.evict(), calls.evict(), evicted]).toEqual([true, false, [3]]);
});

test('the end waits for all of them, and a second at most', async () => {
  const { time, requests, calls, start } = calling();
  await calls.drained();
  const one = start(1);
  start(2);
  calls.abort(one);
  let over = 0;
  void calls.drained().then(() => (over = time.now));
  requests[0]?.answer(ACCEPTED);
  await time.pass(500);
  expect(over).toBe(0);
  await time.pass(501);
  expect(over).toBeCloseTo(1_000, 3);
  const again = calls.drained();
  requests[1]?.answer(ACCEPTED);
  await again;
  await time.pass(1);
  expect(time.timers).toBe(0);
});

test('a heap always has the smallest key on top, through additions, moves and removals', () => {
  const change = fc.record({
    item: fc.nat(20),
    key: fc.option(fc.oneof(fc.nat(100), fc.constant(Infinity))),
  });
  fc.assert(
    fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
      const heap = new DeadlineHeap<number>();
      const model = new Map<number, number>();
      for (const { item, key } of changes) {
        if (key === null) {
          heap.delete(item);
          model.delete(item);
        } else {
          heap.set(item, key);
          model.set(item, key);
        }
        const least = Math.min(Infinity, ...model.values());
        expect([heap.size, heap.next]).toEqual([model.size, least]);
        const top = heap.peek();
        expect(top === undefined ? [] : [model.get(top)]).toEqual(model.size === 0 ? [] : [least]);
      }
    }),
  );
});
