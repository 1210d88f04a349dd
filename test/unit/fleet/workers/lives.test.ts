import { describe, expect, test } from 'vitest';
import type { Worker } from '../../../../src/contract/operations/serverless/workers.ts';
import {
  afterLook,
  gapBetween,
  isFailing,
  isPresent,
  isStuck,
  NO_STARTS,
  presentStatus,
  stuckAfterMs,
  withStart,
  type FleetEvent,
  type WorkerLife,
} from '../../../../src/fleet/workers/lives.ts';
import { workerLife } from '../../../support/recorded-fleet.ts';

const INTERVAL = 15_000;
const BEGIN = 1_790_000_000_000;

/** Looks at endpoints, one after the other, that never forget what they saw. */
class Watcher {
  readonly lives = new Map<number, WorkerLife>();
  readonly #lastMs = new Map<string, number>();
  readonly changed: number[] = [];
  now = BEGIN;

  /** A look at `chat` after one interval, or after so long. Statuses by worker id, or whole rows. */
  look(
    workers: Readonly<Record<number, string>> | readonly Worker[],
    afterMs = INTERVAL,
    endpoint = 'chat',
  ): readonly FleetEvent[] {
    this.now += afterMs;
    const rows = Array.isArray(workers)
      ? (workers as readonly Worker[])
      : Object.entries(workers).map(([id, status]) => ({ id: Number(id), status: status as string }));
    const gapMs = gapBetween(this.#lastMs.get(endpoint), this.now, 3 * INTERVAL);
    const look = { endpoint, atMs: this.now, gapMs, workers: rows };
    const { changed, gone, events } = afterLook(this.lives, look);
    for (const life of changed) this.lives.set(life.id, life);
    for (const id of gone) this.lives.delete(id);
    this.changed.push(changed.length);
    this.#lastMs.set(endpoint, this.now);
    return events;
  }

  life(id: number): WorkerLife {
    const life = this.lives.get(id);
    if (!life) throw new Error(`nobody knows worker ${id}`);
    return life;
  }
}

function watching(): Watcher {
  const watcher = new Watcher();
  watcher.look({});
  return watcher;
}

type Looks = readonly (
  | Readonly<Record<number, string>>
  | readonly [statuses: Readonly<Record<number, string>>, afterMs: number]
)[];

/** What the last of these looks tells. */
function toldBy(watcher: Watcher, looks: Looks): readonly FleetEvent[] {
  let events: readonly FleetEvent[] = [];
  for (const look of looks) {
    const [statuses, afterMs] = Array.isArray(look) ? look : [look];
    events = watcher.look(statuses, afterMs);
  }
  return events;
}

const HOLE_MS = 10 * INTERVAL;

describe('a start', () => {
  test('from nothing takes from when the worker is first seen until it is ready', () => {
    const watcher = watching();
    for (const status of ['creating', 'loading', 'model_loading'])
      expect(watcher.look({ 1: status })).toEqual([]);
    expect(watcher.look([{ id: 1, status: 'idle', measured_perf: 250 }])).toEqual([
      { kind: 'worker started', endpoint: 'chat', from: 'new', seconds: 45 },
    ]);
    expect(watcher.look({ 1: 'idle' })).toEqual([]);
    const { changes, firstSeenMs } = watcher.life(1);
    expect(changes.map(([status]) => status)).toEqual(['creating', 'loading', 'model_loading', 'idle']);
    expect(firstSeenMs).toBe(BEGIN + 2 * INTERVAL);
  });

  test.each<[string, Looks, Partial<Extract<FleetEvent, { kind: 'worker started' }>>]>([
    [
      'from cold takes from when the worker is no longer stopped',
      [{ 1: 'stopped' }, { 1: 'STARTING' }, { 1: 'Idle' }],
      { from: 'cold', seconds: 15 },
    ],
    [
      'from cold that no look saw took about half the time between two looks',
      [{ 1: 'stopped' }, { 1: 'idle' }],
      { from: 'cold', seconds: 7.5 },
    ],
    [
      'goes on through a status that nobody knows',
      [{ 1: 'loading' }, { 1: 'thinking' }, { 1: 'loading' }, { 1: 'idle' }],
      { from: 'new', seconds: 45 },
    ],
    [
      'that ends in a hole is not timed; one that a hole lies within is',
      [{ 1: 'loading', 2: 'loading' }, [{ 1: 'idle', 2: 'loading' }, 600_000], { 1: 'idle', 2: 'idle' }],
      { seconds: 615 },
    ],
  ])('%s', (_, looks, started) => {
    expect(toldBy(watching(), looks)).toMatchObject([{ kind: 'worker started', ...started }]);
  });

  test.each<[string, Looks]>([
    ['begins in a hole', [[{ 1: 'loading' }, HOLE_MS], { 1: 'idle' }]],
    ['from cold begins and ends in a hole', [{ 1: 'stopped' }, [{ 1: 'idle' }, HOLE_MS]]],
    ['from cold may have begun while a look missed it', [{ 1: 'stopped' }, {}, { 1: 'idle' }]],
    ['from cold begins in a hole', [{ 1: 'stopped' }, [{ 1: 'starting' }, HOLE_MS], { 1: 'idle' }]],
    ['is over when the worker is first seen: it may be an old one', [{ 1: 'idle' }]],
    ['fails', [{ 1: 'loading' }, { 1: 'error' }, { 1: 'loading' }, { 1: 'idle' }]],
    ['ends cold', [{ 1: 'loading' }, { 1: 'stopped' }]],
    [
      'is that of a ready worker that is rebooted or updated',
      ['idle', 'update_ready', 'update_rebooting', 'update_starting', 'idle'].map((one) => ({ 1: one })),
    ],
  ])('that %s is not timed', (_, looks) => {
    const watcher = watching();
    expect(toldBy(watcher, looks)).toEqual([]);
    expect(watcher.life(1).start).toBeUndefined();
  });
});

describe('a failure', () => {
  test('is counted each time a worker falls into it, and once while it lasts', () => {
    const watcher = watching();
    watcher.look({ 1: 'loading' });
    expect(watcher.look({ 1: 'error' })).toEqual([{ kind: 'worker failed', endpoint: 'chat', workerId: 1 }]);
    expect(watcher.look({ 1: 'error' })).toEqual([]);
    watcher.look({ 1: 'loading' });
    expect(watcher.look({ 1: 'error' })).toEqual([{ kind: 'worker failed', endpoint: 'chat', workerId: 1 }]);
  });

  test('of a worker that is new is one, and of one that was there before anybody looked is not', () => {
    expect(watching().look({ 1: 'error' })).toHaveLength(1);
    expect(new Watcher().look({ 1: 'error' })).toEqual([]);
  });
});

describe('a worker that is missing', () => {
  test('from one answer is the same when it is back, and its start goes on', () => {
    const watcher = watching();
    watcher.look({ 1: 'loading' });
    watcher.look({});
    expect(isPresent(watcher.life(1))).toBe(true);
    expect(watcher.look({ 1: 'idle' })).toMatchObject([{ from: 'new', seconds: 30 }]);
    expect(watcher.life(1).firstSeenMs).toBe(BEGIN + 2 * INTERVAL);
    // Also if nothing else has changed.
    watcher.look({});
    expect(watcher.life(1)).toMatchObject({ missed: 1, missingSinceMs: watcher.now });
    watcher.look({ 1: 'idle' });
    expect(watcher.life(1)).toMatchObject({ missed: 0, missingSinceMs: undefined });
  });

  test('from two counts no more, is remembered for ten minutes, and then is forgotten', () => {
    const watcher = watching();
    watcher.look({ 1: 'idle' });
    watcher.look({});
    watcher.look({});
    expect(isPresent(watcher.life(1))).toBe(false);
    for (let looks = 0; looks < 38; looks += 1) watcher.look({});
    expect(watcher.lives.get(1)).toBeDefined();
    watcher.look({});
    expect(watcher.lives.get(1)).toBeUndefined();
  });

  test('changes nothing that would have to be stored at each look', () => {
    const watcher = watching();
    watcher.look({ 1: 'idle' });
    for (let looks = 0; looks < 5; looks += 1) watcher.look({});
    expect(watcher.changed.slice(-5)).toEqual([1, 1, 0, 0, 0]);
  });

  test('here and there at another endpoint has moved, and is no new one', () => {
    const watcher = watching();
    watcher.look({}, INTERVAL, 'draw');
    watcher.look({ 1: 'loading' });
    watcher.look({});
    expect(watcher.look({ 1: 'idle' }, 1_000, 'draw')).toMatchObject([{ from: 'new', seconds: 16 }]);
    expect(watcher.life(1)).toMatchObject({ endpoint: 'draw', firstSeenMs: BEGIN + 3 * INTERVAL });
    // Nobody misses it where it was.
    watcher.look({});
    watcher.look({});
    expect(isPresent(watcher.life(1))).toBe(true);
  });
});

test('timestamps of 0, missing fields and null tell nothing, and break nothing', () => {
  const watcher = watching();
  const row = { id: 1, status: 'loading', started_at: 0, loaded_at: 0, measured_perf: 0, perf: null };
  watcher.look([row]);
  expect(watcher.life(1)).toMatchObject({ perf: undefined, start: { from: 'new', timed: true } });
  watcher.look([{ id: 1 }]);
  expect(presentStatus(watcher.life(1))).toBe('unknown');
});

test('what a worker says of its performance counts once it has been ready, and small changes are none', () => {
  const watcher = watching();
  watcher.look([{ id: 1, status: 'loading', measured_perf: 900 }]);
  expect(watcher.life(1).perf).toBeUndefined();
  watcher.look([{ id: 1, status: 'idle', measured_perf: 100 }]);
  watcher.look([{ id: 1, status: 'idle', measured_perf: 100.5 }]);
  expect(watcher.life(1).perf).toBe(100);
  expect(watcher.changed.at(-1)).toBe(0);
  watcher.look([{ id: 1, status: 'idle', measured_perf: 120 }]);
  watcher.look([{ id: 1, status: 'idle', measured_perf: -1 }]);
  watcher.look([{ id: 1, status: 'stopped', measured_perf: 0 }]);
  expect(watcher.life(1).perf).toBe(120);
});

test('a worker that changes without end is remembered by its last twenty statuses', () => {
  const watcher = watching();
  for (let turn = 0; turn < 50; turn += 1) watcher.look({ 1: turn % 2 ? 'idle' : 'stopped' });
  expect(watcher.life(1).changes).toHaveLength(20);
});

test('a clock that is set back leaves a hole, and no time that is less than nothing', () => {
  const watcher = watching();
  watcher.look({ 1: 'loading', 2: 'stopped' });
  expect(watcher.look({ 1: 'idle', 2: 'idle' }, -3_600_000)).toEqual([]);
});

const MINUTE = 60_000;

const lifeOf = (changes: WorkerLife['changes'], start?: WorkerLife['start']) =>
  workerLife({ changes, start });

describe('a start is stuck', () => {
  test.each([
    ['new', [], 30],
    ['cold', [], 10],
    ['new', [60, 60, 60, 60], 30],
    // Three times as long as nearly all, and never before ten or three minutes.
    ['new', [300, 20, 10, 10, 40], 15],
    ['new', [60, 60, 60, 60, 60], 10],
    ['cold', [100, 100, 100, 100, 100], 5],
    ['cold', [10, 10, 10, 10, 10], 3],
  ] as const)('from %s after starts of %j s, after %d minutes', (from, seconds, minutes) => {
    expect(stuckAfterMs(from, seconds)).toBe(minutes * MINUTE);
  });

  test('when it has lasted longer than that, timed or not, and only while the worker is there', () => {
    const loading = lifeOf([['loading', 0]], { from: 'cold', sinceMs: 0, timed: false });
    expect(isStuck(loading, NO_STARTS, 10 * MINUTE)).toBe(false);
    expect(isStuck(loading, NO_STARTS, 10 * MINUTE + 1)).toBe(true);
    expect(isStuck({ ...loading, missed: 2 }, NO_STARTS, 11 * MINUTE)).toBe(false);
    expect(isStuck(lifeOf([['idle', 0]]), NO_STARTS, 100 * MINUTE)).toBe(false);
  });
});

test('the last hundred starts are the like of the next', () => {
  let times = NO_STARTS;
  for (let seconds = 1; seconds <= 150; seconds += 1) times = withStart(times, 'cold', seconds);
  expect(times.cold).toHaveLength(100);
  expect(times.cold[0]).toBe(51);
  expect(times.new).toEqual([]);
});

test('a worker fails again and again with three failures within an hour', () => {
  const errors = [0, 20, 50].map((minute) => ['error', minute * MINUTE] as const);
  const changes = errors.flatMap((error) => [['loading', error[1] - 1] as const, error]);
  expect(isFailing(lifeOf(changes), 55 * MINUTE)).toBe(true);
  expect(isFailing(lifeOf(changes.slice(0, 4)), 55 * MINUTE)).toBe(false);
  // The first of them is over an hour old.
  expect(isFailing(lifeOf(changes), 61 * MINUTE)).toBe(false);
  expect(isFailing({ ...lifeOf(changes), missed: 2 }, 55 * MINUTE)).toBe(false);
  expect(isFailing(lifeOf([...changes, ['destroying', 52 * MINUTE]]), 55 * MINUTE)).toBe(false);
});
