/** What is held until it is stored, what memory keeps, and how finely a stretch can be shown. */
import { describe, expect, test } from 'vitest';
import { afterSample, startOf } from '../../../../src/fleet/history/after-sample.ts';
import { inUnits, rowOf, stretched, type StepRow } from '../../../../src/fleet/history/fold.ts';
import { HeldWrites } from '../../../../src/fleet/history/held-writes.ts';
import { History } from '../../../../src/fleet/history/history.ts';
import { MemoryHistory } from '../../../../src/fleet/history/places/memory-history.ts';
import { openOnceFree } from '../../../../src/fleet/history/places/open-once-free.ts';
import { resolutions } from '../../../../src/fleet/history/resolution.ts';
import { NO_WRITE, NOTHING_STORED, type Write } from '../../../../src/fleet/history/store.ts';
import { KEPT_MS } from '../../../../src/fleet/history/tiers.ts';
import { FileInUse } from '../../../../src/storage/database-file.ts';
import { VirtualClock } from '../../../support/log-time.ts';
import { sampleAt } from '../../../support/recorded-fleet.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function writeOf(atMs: number, label = 'chat'): Write {
  const row = rowOf(sampleAt(atMs));
  return { ...NO_WRITE, label, rows: [row, stretched(row, MINUTE)] };
}

describe('writes that are held', () => {
  test('become a batch at once, and the next one when that is stored', () => {
    const held = new HeldWrites();
    expect(held.nextBatch()).toEqual([]);
    const [first, second] = [writeOf(0), writeOf(1)];
    held.add(first);
    expect(held.batch).toEqual([]);
    expect(held.nextBatch()).toEqual([first]);
    held.add(second);
    expect([held.nextBatch(), held.batch]).toEqual([[first], [first]]);
    expect(held.rowsOf('chat')).toEqual([...first.rows, ...second.rows]);
    expect(held.rowsOf('draw')).toEqual([]);
    held.batchStored();
    expect(held.nextBatch()).toEqual([second]);
  });

  test('are 800 at most beside the batch: the oldest goes', () => {
    const held = new HeldWrites();
    held.add(writeOf(-1));
    held.nextBatch();
    for (let atMs = 0; atMs < 800; atMs += 1) held.add(writeOf(atMs));
    expect(held.keepBound()).toBe(false);
    held.add(writeOf(800));
    expect([held.keepBound(), held.keepBound()]).toEqual([true, false]);
    held.batchStored();
    expect(held.nextBatch().map(({ rows }) => rows[0]?.fromMs)).toEqual(
      Array.from({ length: 800 }, (_, index) => index + 1),
    );
  });

  test('have the rows of single looks by endpoint, and may be replaced', async () => {
    const held = new HeldWrites();
    held.add(writeOf(0));
    held.nextBatch();
    for (const write of [writeOf(5), writeOf(7, 'draw'), { ...NO_WRITE, label: 'none' }]) held.add(write);
    const looks = async (stored: readonly StepRow[]) => {
      const unstored = await held.unstored({ read: () => Promise.resolve(stored) });
      return unstored.map(([label, rows]) => [
        label,
        rows.filter(({ lengthMs }) => lengthMs === 0).map(({ fromMs }) => fromMs),
      ]);
    };
    expect(await looks([])).toEqual([
      ['chat', [0, 5]],
      ['draw', [7]],
    ]);
    expect(await looks([rowOf(sampleAt(5)), rowOf(sampleAt(7))])).toEqual([['chat', [0]]]);
    const only = writeOf(9);
    held.replaceWith([only]);
    expect([held.batch, held.rowsOf('chat')]).toEqual([[only], only.rows]);
  });
});

describe('memory', () => {
  test('keeps samples for two hours and minutes for 50, and looks once a minute', async () => {
    const memory = new MemoryHistory();
    expect([memory.isOpen, await memory.open()]).toEqual([true, NOTHING_STORED]);
    await memory.write([writeOf(0), writeOf(MINUTE)], 0);
    const kept = async () => [
      (await memory.read('chat', 'sample', 0, Infinity)).length,
      (await memory.read('chat', 'minute', 0, Infinity)).length,
    ];
    await memory.write([], 2 * HOUR);
    expect(await kept()).toEqual([2, 2]);
    await memory.write([], 2 * HOUR + 1);
    expect(await kept()).toEqual([2, 2]);
    await memory.write([], 2 * HOUR + MINUTE);
    expect(await kept()).toEqual([1, 2]);
    await memory.write([], 50 * HOUR + 1);
    expect(await kept()).toEqual([0, 1]);
    await memory.write([], 51 * HOUR);
    expect(await kept()).toEqual([0, 0]);
    expect(await memory.read('other', 'sample', 0, Infinity)).toEqual([]);
  });

  test('keeps nothing longer for a row of the future, from when the clock was ahead', async () => {
    const store = new MemoryHistory();
    await store.write([writeOf(30 * DAY), writeOf(0)], 0);
    await store.write([], 3 * HOUR);
    const samples = await store.read('chat', 'sample', 0, Infinity);
    expect(samples.map(({ fromMs }) => fromMs)).toEqual([30 * DAY]);
  });

  test('reads from the first moment on, before the second, and adds to a stretch that it has', async () => {
    const memory = new MemoryHistory();
    await memory.write([writeOf(2 * MINUTE), writeOf(MINUTE), writeOf(MINUTE)], 0);
    const read = (fromMs: number, toMs: number) => memory.read('chat', 'minute', fromMs, toMs);
    expect((await read(0, Infinity)).map(({ fromMs, samples }) => [fromMs, samples])).toEqual([
      [MINUTE, 2],
      [2 * MINUTE, 1],
    ]);
    expect(await read(MINUTE, 2 * MINUTE)).toHaveLength(1);
    expect(await read(MINUTE + 1, 2 * MINUTE)).toEqual([]);
    memory.close();
    expect(await read(0, Infinity)).toEqual([]);
  });
});

describe('a stretch of time', () => {
  const NOW = 1_000 * DAY;
  const lengths = (agoMs: number, maxRows: number, over: object = {}) =>
    resolutions({
      fromMs: NOW - agoMs,
      toMs: NOW,
      maxRows,
      sinceMs: 0,
      nowMs: NOW,
      keptMs: KEPT_MS,
      ...over,
    });

  test.each([
    [HOUR, 60, 'sample', 0],
    [HOUR, 59, 'minute', 2 * MINUTE],
    [3 * DAY, 5_000, 'sample', 0],
    [3 * DAY + 1, 5_000, 'minute', MINUTE],
    [40 * DAY, 60_000, 'minute', MINUTE],
    [40 * DAY + 1, 60_000, 'hour', HOUR],
    [2 * HOUR, 16, 'minute', 10 * MINUTE],
    [10 * DAY, 16, 'hour', DAY],
    // What is older than anything that is kept is not there to be shown.
    [900 * DAY, 400, 'hour', DAY],
    [900 * DAY, 16, 'hour', 28 * DAY],
  ])('of %i ms in %i rows is shown by %s of %i ms', (agoMs, maxRows, tier, lengthMs) => {
    expect(lengths(agoMs, maxRows)[0]).toMatchObject({ tier, lengthMs });
  });

  test('begins with the first sample, ends now, and may be in the future', () => {
    expect(lengths(900 * DAY, 60, { sinceMs: NOW - HOUR })[0]).toMatchObject({ lengthMs: 0 });
    expect(lengths(HOUR, 60, { toMs: NOW + 900 * DAY })[0]).toMatchObject({ lengthMs: 0 });
    expect(lengths(-HOUR, 16)[0]).toMatchObject({ lengthMs: 0, isLast: false });
  });

  test('can be shown by anything that is coarser, to the last', () => {
    const all = lengths(HOUR, 60);
    expect(all.map(({ lengthMs }) => lengthMs / MINUTE)).toEqual([
      0, 1, 2, 5, 10, 15, 20, 30, 60, 120, 180, 240, 360, 480, 720, 1_440, 2_880, 10_080, 20_160, 40_320,
    ]);
    expect(all.filter(({ isLast }) => isLast)).toEqual([{ tier: 'hour', lengthMs: 28 * DAY, isLast: true }]);
  });
});

describe('a sample', () => {
  test('opens a minute and an hour, and closes those that are over', () => {
    const first = afterSample(undefined, 'chat', sampleAt(0));
    expect([first.closed, first.state.open.map(({ lengthMs }) => lengthMs)]).toEqual([[], [MINUTE, HOUR]]);
    const second = afterSample(first.state, 'chat', sampleAt(MINUTE - 1));
    expect([second.closed, second.state.open.map(({ samples }) => samples)]).toEqual([[], [2, 2]]);
    const third = afterSample(second.state, 'chat', sampleAt(MINUTE));
    expect(third.closed.map(({ fromMs, lengthMs, samples }) => [fromMs, lengthMs, samples])).toEqual([
      [0, MINUTE, 2],
    ]);
    expect(third.state).toMatchObject({
      sinceMs: 0,
      lastMs: MINUTE,
      open: [{ fromMs: MINUTE }, { samples: 3 }],
    });
    expect(inUnits(third.row).measures.load).toEqual({ count: 1, sum: 42, peak: 42 });
  });

  test('begins with the earliest sample, though the clock was ahead at the first one', () => {
    const ahead = afterSample(undefined, 'chat', sampleAt(30 * DAY)).state;
    expect(afterSample(ahead, 'chat', sampleAt(DAY)).state.sinceMs).toBe(DAY);
    expect(afterSample(ahead, 'chat', sampleAt(31 * DAY)).state.sinceMs).toBe(30 * DAY);
  });

  test('brings the starts that were timed, and nothing of a failure', () => {
    const started = { kind: 'started', workerId: 1, from: 'cold', seconds: 7, perf: 3 } as const;
    expect(startOf(started, 'chat', 5)).toEqual({
      endpoint: 'chat',
      atMs: 5,
      from: 'cold',
      seconds: 7,
      perf: 3,
    });
    expect(startOf({ kind: 'failed', workerId: 1 }, 'chat', 5)).toBeUndefined();
  });
});

describe('a place that another process has', () => {
  const inUse = () => Promise.reject(new FileInUse('it is in use'));

  test('is waited for five seconds', async () => {
    const clock = new VirtualClock(0);
    let tries = 0;
    const store = Object.assign(new MemoryHistory(), { open: () => ((tries += 1), inUse()) });
    const opened = openOnceFree(store, clock, new AbortController().signal).catch((error: unknown) => error);
    await clock.advance(4_999);
    expect(tries).toBe(25);
    await clock.advance(1);
    expect([tries, await opened]).toEqual([26, expect.any(FileInUse)]);
  });

  test('is used once it is free; another trouble is told at once', async () => {
    const clock = new VirtualClock(0);
    const answers = [inUse, () => Promise.resolve(NOTHING_STORED)];
    const store = Object.assign(new MemoryHistory(), { open: () => answers.shift()?.() ?? inUse() });
    const opened = openOnceFree(store, clock, new AbortController().signal);
    await clock.advance(200);
    expect(await opened).toBe(NOTHING_STORED);
    const broken = Object.assign(new MemoryHistory(), { open: () => Promise.reject(new Error('broken')) });
    await expect(openOnceFree(broken, clock, new AbortController().signal)).rejects.toThrow('broken');
  });
});

describe('a history whose place takes nothing', () => {
  class Full extends MemoryHistory {
    trouble: Error | undefined = new Error('no space left');
    readonly written: Write[] = [];
    override write(writes: readonly Write[], nowMs: number): Promise<void> {
      if (this.trouble) return Promise.reject(this.trouble);
      this.written.push(...writes);
      return super.write(writes, nowMs);
    }
  }

  async function keep() {
    const [clock, store] = [new VirtualClock(1_700_000_000_000), new Full()];
    const said: string[] = [];
    const history = new History({
      store,
      clock,
      lives: () => [],
      onTrouble: (error) => said.push(String(error)),
      onStored: () => said.push('stored'),
    });
    await history.open();
    const record = (label = 'chat') =>
      history.record({ label, sample: sampleAt(clock.now()), changed: [], gone: [], events: [] });
    const query = () =>
      history
        .query({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 1_000 })
        .then((rows) => rows.length);
    return { clock, store, history, said, record, query };
  }

  test('shows what it holds, says so once, and stores all of it once it can', async () => {
    const { clock, store, history, said, record, query } = await keep();
    for (let count = 0; count < 5; count += 1) {
      record();
      await clock.advance(15_000);
    }
    expect([said, history.trouble, await query()]).toEqual([['Error: no space left'], 'no space left', 5]);
    store.trouble = undefined;
    await clock.advance(5_000);
    expect([said.at(-1), history.trouble, await query()]).toEqual(['stored', undefined, 5]);
    expect(await store.read('chat', 'sample', 0, Infinity)).toHaveLength(5);
    // In order, also where what is held is older.
    const rows = await history.query({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 1_000 });
    expect(rows.map(({ fromMs }) => fromMs)).toEqual(
      rows.map(({ fromMs }) => fromMs).toSorted((a, b) => a - b),
    );
    await history.stop();
  });

  test('stores the same list of endpoints once, and forgets workers only where there are some', async () => {
    const { clock, store, history } = await keep();
    store.trouble = undefined;
    const known = [{ id: 31, name: 'chat', label: 'chat' }];
    history.recordKnown(known);
    history.recordKnown([...known]);
    history.recordGone([]);
    history.recordGone([7]);
    await clock.advance(1);
    expect(store.written.map((write) => [write.known?.length, write.gone])).toEqual([
      [1, []],
      [undefined, [7]],
    ]);
  });
});
