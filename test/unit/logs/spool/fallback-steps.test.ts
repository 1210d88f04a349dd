/** One step each, with a file in memory; fallback-spool.test.ts has disks that are full or read-only. */
import { rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import { FallbackSpool } from '../../../../src/logs/spool/fallback-spool.ts';
import { bytesOf, EpochOver } from '../../../../src/logs/spool/spool.ts';
import { sqliteSpools } from '../../../../src/logs/spool/sqlite-spool.ts';
import type { GroupProgress } from '../../../../src/logs/follower/group.ts';
import { progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NOW = Date.UTC(2025, 0, 1);
const SINKS = ['stdout', 'otlp'];

let folder: ReturnType<typeof memoryFolder>;
let directory: string;
let events: LogEvent[];
let spool: FallbackSpool;
beforeEach(() => {
  folder = memoryFolder();
  directory = join(folder.path, 'state');
  events = [];
});
afterEach(() => {
  spool.close();
  folder[Symbol.dispose]();
});

async function open(
  first?: { readonly error: unknown },
  isKnown = true,
  maxBytes = 1_000_000,
): Promise<void> {
  const observe = (event: LogEvent): void => void events.push(event);
  const shared = { sinks: SINKS, clock: { now: () => NOW }, observe };
  const onDisk = await sqliteSpools({ ...shared, directory, maxBytes });
  spool = new FallbackSpool({ ...shared, open: onDisk, isKnown }, first ?? { opened: onDisk() });
}

const kinds = (): string[] => events.map(({ kind }) => kind);
const inEpoch = (epoch: number, seq: number): GroupProgress => ({ ...progressAt(seq), epoch });

/** What is in the place of its folder cannot be used, until `back`. */
function away(): void {
  rmSync(directory, { recursive: true });
  writeFileSync(directory, 'no folder');
  expect(spool.look()).toBe(false);
}

function back(): void {
  rmSync(directory);
  expect(spool.look()).toBe(true);
}

/** Takes a batch, and acknowledges it. @returns The numbers in it. */
function taken(sink: string): number[] {
  const batch = spool.take(sink);
  if (batch) spool.acknowledge(sink, batch);
  return batch?.records.map(({ seq }) => seq) ?? [];
}

test('on disk it stands as that does, and nothing is told', async () => {
  await open();
  expect(spool.append('workergroup/7', recordsFrom(1, 3), progressAt(3))).toEqual([]);
  expect([spool.durable, spool.look(), spool.epochAfterLoss]).toEqual([true, true, undefined]);
  expect(spool.standing('otlp')).toEqual({ lag: 3, dropped: 0 });
  expect([taken('stdout'), taken('stdout'), spool.standing('stdout').lag]).toEqual([[1, 2, 3], [], 0]);
  expect([spool.progress('workergroup/7'), spool.progress('workergroup/8'), kinds()]).toEqual([
    progressAt(3),
    undefined,
    [],
  ]);
});

test.each([
  [true, NOW],
  [false, undefined],
])(
  'where the disk is not there at first it is in memory, in an epoch of its own if there may be one before: %s',
  async (isKnown, epoch) => {
    await open({ error: new Error('no disk') }, isKnown);
    expect([spool.durable, spool.epochAfterLoss]).toEqual([false, epoch]);
    expect(events).toMatchObject([{ kind: 'spool in memory', error: { message: 'no disk' } }]);
    expect(() => spool.append('workergroup/7', recordsFrom(1, 1), inEpoch(NOW - 1, 1))).toThrow(EpochOver);
    expect(spool.append('workergroup/7', recordsFrom(1, 2), inEpoch(NOW, 2))).toEqual([]);
    expect([spool.standing('stdout'), spool.progress('workergroup/7')]).toEqual([
      { lag: 2, dropped: 0 },
      inEpoch(NOW, 2),
    ]);
    expect(taken('stdout')).toEqual([1, 2]);
    expect(spool.tryDisk()).toBe(true);
    expect([spool.durable, kinds().at(-1)]).toEqual([true, 'spool on disk again']);
    expect([taken('stdout'), taken('otlp'), spool.progress('workergroup/7')]).toEqual([
      [],
      [1, 2],
      inEpoch(NOW, 2),
    ]);
  },
);

test('a clock that is behind begins no epoch that there was', async () => {
  await open();
  spool.append('workergroup/7', recordsFrom(1, 1), inEpoch(NOW + 5, 1));
  away();
  const over = (epoch: number): unknown => {
    try {
      return spool.append('workergroup/7', recordsFrom(2, 1), inEpoch(epoch, 2));
    } catch (error) {
      return error;
    }
  };
  expect(over(NOW + 5)).toMatchObject({ epoch: NOW + 6 });
  expect(over(NOW + 6)).toMatchObject([
    { sink: 'stdout', records: 1 },
    { sink: 'otlp', records: 1 },
  ]);
  back();
});

test('an epoch that is only read counts too', async () => {
  await open();
  spool.append('workergroup/7', recordsFrom(1, 1), inEpoch(NOW + 5, 1));
  spool.close();
  await open();
  expect(spool.progress('workergroup/7')?.epoch).toBe(NOW + 5);
  away();
  expect(() => spool.append('workergroup/8', recordsFrom(1, 1), inEpoch(NOW + 5, 1))).toThrow(`${NOW + 6}`);
  back();
});

test('what was lost with a folder is told once, by the next append, and counts', async () => {
  await open();
  spool.append('workergroup/7', recordsFrom(1, 5), progressAt(5));
  taken('stdout');
  away();
  expect(spool.append('workergroup/7', recordsFrom(6, 2), inEpoch(NOW, 7))).toEqual([
    { sink: 'otlp', records: 5, reason: 'corruption' },
  ]);
  expect(spool.append('workergroup/7', recordsFrom(8, 1), inEpoch(NOW, 8))).toEqual([]);
  expect([spool.standing('stdout'), spool.standing('otlp')]).toEqual([
    { lag: 3, dropped: 0 },
    { lag: 3, dropped: 5 },
  ]);
  expect(taken('stdout')).toEqual([6, 7, 8]);
  back();
  expect([spool.standing('stdout'), spool.standing('otlp')]).toEqual([
    { lag: 0, dropped: 0 },
    { lag: 3, dropped: 5 },
  ]);
  expect(taken('otlp')).toEqual([6, 7, 8]);
});

test('what is on its way when the disk comes back is acknowledged there', async () => {
  await open({ error: new Error('no disk') });
  spool.append('workergroup/7', recordsFrom(1, 2), inEpoch(NOW, 2));
  const batch = spool.take('stdout');
  expect(spool.tryDisk()).toBe(true);
  if (batch) spool.acknowledge('stdout', batch);
  expect([spool.standing('stdout').lag, taken('stdout'), taken('otlp')]).toEqual([0, [], [1, 2]]);
});

test('what goes to the disk takes of its room', async () => {
  await open({ error: new Error('no disk') }, true, 10 * bytesOf(record(1)));
  spool.append('workergroup/7', recordsFrom(1, 9), inEpoch(NOW, 9));
  expect(spool.tryDisk()).toBe(true);
  expect(spool.append('workergroup/7', recordsFrom(1, 1), inEpoch(NOW, 10))).toEqual([]);
  expect(spool.append('workergroup/7', recordsFrom(2, 3), inEpoch(NOW, 13))).toEqual(
    SINKS.map((sink) => ({ sink, records: 3, reason: 'overflow' })),
  );
});

test('a sink that has some of what is in memory takes first what the disk had from before', async () => {
  await open();
  spool.append('workergroup/7', recordsFrom(1, 2), progressAt(2));
  spool.close();
  await open({ error: new Error('no disk') });
  spool.append('workergroup/7', recordsFrom(3, 2), inEpoch(NOW, 4));
  expect(taken('stdout')).toEqual([3, 4]);
  expect([spool.tryDisk(), spool.durable]).toEqual([false, false]);
  expect([taken('stdout'), spool.tryDisk(), spool.durable]).toEqual([[1, 2], true, true]);
  expect([taken('stdout'), taken('otlp')]).toEqual([[], [1, 2, 3, 4]]);
});
