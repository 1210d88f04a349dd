import { describe, expect, test } from 'vitest';
import { Calls } from '../../../../src/heartbeat/driver/calls.ts';
import { Pacer } from '../../../../src/heartbeat/driver/pacing/pacer.ts';
import { Queue } from '../../../../src/heartbeat/driver/queue.ts';
import type { Ports } from '../../../../src/heartbeat/driver/ports.ts';
import { due, hedging, NOW, type Item } from './due.ts';

const ENDLESS = { beat: () => new Promise<never>(() => {}) } as unknown as Ports;
const REQUEST = { deploymentId: 1, key: 'key', keyGeneration: 1, timeoutMs: 1_000, fresh: false };

interface Scene {
  readonly queue: Queue<Item>;
  readonly calls: Calls;
  readonly evicted: number[];
}

function scene(pacer = new Pacer(), { concurrency = 10, openLimit = 10, underWay = 0 } = {}): Scene {
  const evicted: number[] = [];
  const calls = new Calls(ENDLESS);
  for (let number = 0; number < underWay; number += 1)
    calls.start(REQUEST, { settled() {}, evicted: () => evicted.push(number) });
  return { queue: new Queue<Item>(pacer, calls, { concurrency, openLimit }), calls, evicted };
}

/** A limit of 3 s that was found long ago: 61 ms more are kept. */
function confirmed(lastAt = NOW - 10_000): Pacer {
  const pacer = new Pacer();
  const departures = Array.from({ length: 6 }, (_, id) => pacer.sent(id, lastAt, -Infinity));
  for (const [id, departure] of departures.entries())
    pacer.settled(
      departure,
      id === 0 ? { type: 'accepted' } : { type: 'throttled', thresholdMs: 3_000 },
      lastAt + 20,
    );
  return pacer;
}

/** One that is only suspected, by one refusal. */
function suspected(lastAt: number): Pacer {
  const pacer = new Pacer();
  pacer.settled(pacer.sent(1, lastAt - 500, -Infinity), { type: 'accepted' }, lastAt - 480);
  pacer.settled(pacer.sent(2, lastAt, -Infinity), { type: 'throttled', thresholdMs: 3_000 }, lastAt + 20);
  expect([pacer.confirmed, pacer.gap]).toEqual([false, 3_061]);
  return pacer;
}

function placed(at: Scene, ...items: readonly Item[]): void {
  for (const item of items) {
    at.queue.demand.add(item.beat.timing);
    at.queue.place(item, NOW);
  }
}

describe('without a limit', () => {
  test('the one that expires first goes first, and nothing is waited for', () => {
    const at = scene();
    const [one, other] = [due(1, 20_000), due(2, 40_000)];
    placed(at, one, other);
    expect(at.queue.next(NOW)).toBe(other);
    expect(at.queue.nextAt(NOW)).toBe(NOW);
  });

  test('where none is due the next is waited for', () => {
    const at = scene();
    placed(at, due(1, 20_000, { dueAt: NOW + 700 }));
    expect([at.queue.next(NOW), at.queue.nextAt(NOW)]).toEqual([undefined, NOW + 700]);
  });
});

describe('the room for requests', () => {
  test('is that for so many that are not overdue', () => {
    const full = scene(new Pacer(), { concurrency: 2, underWay: 2 });
    const item = due(1, 20_000);
    placed(full, item);
    expect(full.queue.next(NOW)).toBeUndefined();
    // The end of a request makes room, and no timer.
    expect(full.queue.nextAt(NOW)).toBe(full.queue.backlog.nextAt);
    full.queue.place(item, NOW);
    expect(full.queue.nextAt(NOW)).toBe(NOW);
    const free = scene(new Pacer(), { concurrency: 2, underWay: 1 });
    placed(free, item);
    expect(free.queue.next(NOW)).toBe(item);
  });

  test('is made by one that is overdue without a connection', () => {
    const at = scene(new Pacer(), { concurrency: 2, openLimit: 2, underWay: 1 });
    const item = due(1, 20_000);
    placed(at, item);
    expect(at.queue.next(NOW)).toBe(item);
    const hanging = at.calls.start(REQUEST, { settled() {}, evicted: () => at.evicted.push(99) });
    hanging.discount();
    expect(at.queue.next(NOW)).toBe(item);
    expect(at.evicted).toEqual([99]);
    expect(at.queue.next(NOW)).toBeUndefined();
  });

  test('of a second attempt is what leaves each deployment a place for its first', () => {
    const second = hedging(1, 58_000);
    const withOpen = (underWay: number) => {
      const at = scene(new Pacer(), { openLimit: 4, underWay });
      placed(at, second, due(2, 0, { dueAt: NOW + 900 }));
      return at.queue.next(NOW);
    };
    expect(withOpen(1)).toBe(second);
    expect(withOpen(2)).toBeUndefined();
  });
});

describe('under a limit that is confirmed', () => {
  /** One that expires sooner, and has had its turn; another that has not. */
  const short = due(1, 4_000, { state: 'healthy' }, { ttl: 20_000 });
  const long = due(2, 13_000, { state: 'healthy' });

  test('nobody goes before it opens', () => {
    const at = scene(confirmed(NOW - 1_000));
    placed(at, short, long);
    expect([at.queue.next(NOW), at.queue.nextAt(NOW)]).toEqual([undefined, NOW + 2_061]);
    expect(at.queue.next(NOW + 2_061)).toBeDefined();
  });

  test('a healthy one waits for its turn', () => {
    const at = scene(confirmed());
    placed(at, short, long);
    expect(at.queue.next(NOW)).toBe(long);
  });

  test('one in trouble does not, nor anybody when the last beats are sent', () => {
    const troubled = scene(confirmed());
    const retrying = due(1, 4_000, { state: 'retrying' }, { ttl: 20_000 });
    placed(troubled, retrying, long);
    expect(troubled.queue.next(NOW)).toBe(retrying);
    const hurrying = scene(confirmed());
    placed(hurrying, short, long);
    hurrying.queue.hurrying = true;
    expect(hurrying.queue.next(NOW)).toBe(short);
  });

  test('where nobody has its turn the one goes that has waited longest', () => {
    const at = scene(confirmed());
    const later = due(3, 5_000, { state: 'healthy', latestAt: NOW - 100 });
    const earlier = due(4, 4_000, { state: 'healthy', latestAt: NOW - 200 });
    placed(at, later, earlier, due(5, 0, { dueAt: NOW + 900 }));
    expect(at.queue.next(NOW)).toBe(earlier);
  });

  test('a second attempt goes last', () => {
    const at = scene(confirmed());
    const second = hedging(6, 58_000);
    placed(at, second);
    expect(at.queue.next(NOW)).toBe(second);
    const first = due(7, 5_000, { state: 'healthy' });
    placed(at, first);
    expect(at.queue.next(NOW)).toBe(first);
  });
});

describe('under a limit that is suspected', () => {
  test('what can be put off is, until it cannot or the gap is over', () => {
    const at = scene(suspected(NOW - 1_000));
    const item = due(3, 20_000, { latestAt: NOW + 1_500 });
    placed(at, item);
    expect([at.queue.next(NOW), at.queue.nextAt(NOW)]).toEqual([undefined, NOW + 1_500]);
    expect(at.queue.next(NOW + 1_499)).toBeUndefined();
    expect(at.queue.next(NOW + 1_500)).toBe(item);
    const patient = scene(suspected(NOW - 1_000));
    placed(patient, due(3, 20_000, { latestAt: NOW + 5_000 }));
    expect(patient.queue.nextAt(NOW)).toBe(NOW + 2_061);
    expect(patient.queue.next(NOW + 2_061)).toBeDefined();
  });

  test('a healthy one lets one in trouble go first that will want to within the gap', () => {
    const healthy = due(3, 20_000, { latestAt: NOW + 20_000 });
    const troubled = (at: number, changes = {}) =>
      due(4, 20_000, { dueAt: at, trouble: 'failing', state: 'retrying', ...changes });
    const next = (other: Item, pacer = suspected(NOW - 5_000)) => {
      const at = scene(pacer);
      placed(at, healthy, other);
      return [at.queue.next(NOW), at.queue.nextAt(NOW)];
    };
    expect(next(troubled(NOW + 3_060))).toEqual([undefined, NOW + 3_060]);
    expect(next(troubled(NOW + 3_061))[0]).toBe(healthy);
    // One that wants to now goes.
    const now = troubled(NOW - 1, { basis: NOW - 50_000, basisMono: NOW - 50_000 });
    expect(next(now)[0]).toBe(now);
    // Where no gap is kept nobody waits for anybody.
    expect(next(troubled(NOW + 3_060), new Pacer())[0]).toBe(healthy);
  });
});
