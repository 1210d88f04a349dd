/** A spool in a STATE_DIR that cannot be used for a while: a real file system. */
import {
  closeSync,
  linkSync,
  openSync,
  readdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { FallbackSpool } from '../../../../src/logs/spool/fallback-spool.ts';
import { NewerFile } from '../../../../src/storage/database-file.ts';
import { EpochOver, type Spool } from '../../../../src/logs/spool/spool.ts';
import {
  mayHaveSpool,
  openSqliteSpool,
  sqliteSpools,
  type OpenSqliteSpool,
} from '../../../../src/logs/spool/sqlite-spool.ts';
import type { GroupProgress } from '../../../../src/logs/follower/group.ts';
import { progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { describeWith } from '../../../support/optional.ts';
import { canMount, smallDisk } from '../../../support/small-disk.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const NOW = Date.UTC(2025, 0, 1);
const EPOCH = NOW;
const large = (seq: number): LogRecord => record(seq, `line ${seq} ${'x'.repeat(2_000)}`);

interface Opened {
  readonly spool: FallbackSpool;
  readonly kinds: () => readonly string[];
  readonly events: readonly LogEvent[];
}

async function open(directory: string, sinks = ['stdout']): Promise<Opened> {
  const events: LogEvent[] = [];
  const observe = (event: LogEvent): void => void events.push(event);
  const isKnown = mayHaveSpool(directory);
  const clock = { now: () => NOW };
  const onDisk = await sqliteSpools({ directory, sinks, clock, observe });
  const spool = new FallbackSpool({ sinks, open: onDisk, isKnown, clock, observe }, tried(onDisk));
  return { spool, events, kinds: () => events.map(({ kind }) => kind) };
}

/** As a follower does: where the epoch is over, in the next one. */
function appendIn(spool: Spool, records: readonly LogRecord[], progress: GroupProgress): void {
  try {
    spool.append('workergroup/7', records, progress);
  } catch (error) {
    if (!(error instanceof EpochOver)) throw error;
    const { epoch } = error;
    spool.append(
      'workergroup/7',
      records.map((one) => ({ ...one, epoch })),
      { ...progress, epoch },
    );
  }
}

function tried(onDisk: OpenSqliteSpool) {
  try {
    return { opened: onDisk() };
  } catch (error) {
    return { error };
  }
}

/** Sequence numbers of the next so many batches; all of them without a number. */
function take(spool: Spool, batches = Infinity, sink = 'stdout'): number[] {
  const seqs: number[] = [];
  for (let count = 0; count < batches; count += 1) {
    const batch = spool.take(sink);
    if (batch === undefined) break;
    seqs.push(...batch.records.map(({ seq }) => seq));
    spool.acknowledge(sink, batch);
  }
  return seqs;
}

function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

describeWith(
  'mount',
  canMount,
  'run as root, where tmpfs can be mounted',
)('a disk', () => {
  test('that is full and freed later: what comes meanwhile waits in memory, behind what is there', async () => {
    using disk = smallDisk(32_768);
    const { spool, kinds } = await open(disk.path);
    let last = 0;
    const append = (): void => {
      const records = numbers(last + 1, last + 100).map((seq) => large(seq));
      last += 100;
      appendIn(spool, records, progressAt(last, ['line'], last));
    };
    for (let poll = 0; poll < 15; poll += 1) append();
    expect(spool.durable).toBe(true);
    disk.fill();
    // What SQLite has in its files already has room for some more.
    while (spool.durable) append();
    for (let poll = 0; poll < 5; poll += 1) append();
    expect(kinds()).toEqual(['spool in memory']);
    expect(spool.standing('stdout')).toEqual({ lag: last, dropped: 0 });
    expect(spool.progress('workergroup/7')).toEqual({ ...progressAt(last, ['line'], last), epoch: EPOCH });

    const early = take(spool, 3);
    // Still full: what it is asked for is a batch, not a byte.
    expect(spool.look()).toBe(false);
    disk.free();
    // With what waits, for a sink that is slow or down: it need not have any of it.
    expect(spool.look()).toBe(true);
    expect(spool.standing('stdout')).toEqual({ lag: last - early.length, dropped: 0 });
    expect([...early, ...take(spool)]).toEqual(numbers(1, last));
    expect([spool.durable, kinds()]).toEqual([true, ['spool in memory', 'spool on disk again']]);
    const progress = { ...progressAt(last + 1, ['other'], last + 1), epoch: EPOCH };
    spool.append('workergroup/7', recordsFrom(last + 1, 1), progress);
    expect(spool.progress('workergroup/7')).toEqual(progress);
    expect(take(spool, 1)).toEqual([last + 1]);
    spool.close();

    const { spool: again } = await open(disk.path);
    expect(again.progress('workergroup/7')).toEqual(progress);
    expect(take(again)).toEqual([]);
    again.close();
  });

  test('that has no room for an acknowledgement: it counts, and is stored once there is room', async () => {
    using disk = smallDisk(32_768);
    const { spool } = await open(disk.path, ['stdout', 'otlp']);
    spool.append(
      'workergroup/7',
      numbers(1, 1_200).map((seq) => large(seq)),
      progressAt(1_200),
    );
    disk.fill();
    const taken = take(spool);
    expect(spool.standing('stdout').lag).toBe(0);
    disk.free();
    expect(spool.tryDisk()).toBe(true);
    spool.close();
    const { spool: again } = await open(disk.path, ['stdout', 'otlp']);
    expect(taken).toEqual(numbers(1, 1_200));
    expect([take(again), take(again, Infinity, 'otlp')]).toEqual([[], numbers(1, 1_200)]);
    again.close();
  });

  test('that is full when the spool on it turns out unreadable: set aside once, and what is in memory goes on', async () => {
    using disk = smallDisk(65_536);
    const { spool, kinds } = await open(disk.path);
    const first = numbers(1, 3_000).map((seq) => large(seq));
    spool.append('workergroup/7', first, progressAt(3_000));
    disk.fill();
    const path = join(disk.path, 'spool.sqlite');
    for (const name of [path, `${path}-wal`]) {
      const descriptor = openSync(name, 'r+');
      writeSync(descriptor, Buffer.alloc(statSync(name).size, 0xa5));
      closeSync(descriptor);
    }
    // So that its room is not free once SQLite removes it.
    linkSync(`${path}-wal`, join(disk.path, 'held'));
    // What cannot be read is no reason to fail: a sink goes on with what comes.
    const early = take(spool);
    expect(spool.durable).toBe(false);
    const dropped = [];
    for (const from of [3_001, 6_001]) {
      const records = numbers(from, from + 2_999).map((seq) => Object.assign(large(seq), { epoch: EPOCH }));
      dropped.push(...spool.append('workergroup/7', records, { ...progressAt(from + 2_999), epoch: EPOCH }));
      spool.look();
    }
    expect(spool.durable).toBe(false);
    expect(dropped).toEqual([{ sink: 'stdout', records: 3_000 - early.length, reason: 'corruption' }]);
    expect(take(spool)).toEqual(numbers(3_001, 9_000));
    expect(spool.look()).toBe(false);
    expect(kinds().toSorted()).toEqual(['spool in memory', 'spool set aside']);
    disk.free();
    expect(spool.look()).toBe(true);
    expect(kinds().filter((kind) => kind === 'spool set aside')).toHaveLength(1);
    expect(readdirSync(disk.path).filter((name) => /corrupt-[^-]+-[^-]+-[^-]+$/.test(name))).toHaveLength(1);
    spool.close();
  });

  test('that is read-only and writable later: memory, then the spool that is there goes on', async () => {
    using disk = smallDisk(32_768);
    const earlier = await openSqliteSpool({
      directory: disk.path,
      sinks: ['stdout'],
      clock: { now: () => NOW },
      observe: () => {},
    });
    const window = numbers(1, 500).map((seq) => `line ${seq}`);
    earlier.append('workergroup/7', recordsFrom(1, 3), progressAt(500, window, 90_000));
    earlier.close();
    disk.readOnly();
    const { spool, kinds } = await open(disk.path);
    expect([spool.durable, kinds(), spool.epochAfterLoss]).toEqual([false, ['spool in memory'], EPOCH]);
    // Its numbers are not those of the spool that cannot be read, and its window begins elsewhere.
    const progress = { ...progressAt(2, ['one', 'two']), epoch: EPOCH };
    spool.append('workergroup/7', recordsFrom(1, 2), progress);
    expect(take(spool)).toEqual([1, 2]);
    expect(spool.tryDisk()).toBe(false);
    disk.writable();
    expect(spool.tryDisk()).toBe(true);
    expect(take(spool)).toEqual([1, 2, 3]);
    expect(spool.progress('workergroup/7')).toEqual(progress);
    spool.close();
  });
});

describe('a spool on disk', () => {
  test('that another process has open: memory, and the disk once it is released', async () => {
    using folder = temporaryFolder();
    const { spool: other } = await open(folder.path);
    const { spool, events } = await open(folder.path);
    expect(events).toMatchObject([{ kind: 'spool in memory', error: { code: 'file_in_use' } }]);
    const progress = { ...progressAt(2, ['one', 'two']), epoch: EPOCH };
    spool.append('workergroup/7', recordsFrom(1, 2), progress);
    expect(take(spool)).toEqual([1, 2]);
    expect(spool.tryDisk()).toBe(false);
    other.close();
    expect(spool.tryDisk()).toBe(true);
    expect(spool.progress('workergroup/7')).toEqual(progress);
    spool.close();
  });

  test('of a newer Pilotlight is set aside whole, under a name that says so', async () => {
    using folder = temporaryFolder();
    const { spool: newer } = await open(folder.path);
    newer.append('workergroup/7', recordsFrom(1, 2), progressAt(2, ['one', 'two']));
    newer.close();
    const path = join(folder.path, 'spool.sqlite');
    setVersion(path, 4);
    const { spool, events } = await open(folder.path);
    const aside = `${path}.version-4-2025-01-01T000000.000Z`;
    expect(events).toMatchObject([{ kind: 'spool set aside', path: aside, error: { code: 'newer_file' } }]);
    expect(events.every((event) => 'error' in event && event.error instanceof NewerFile)).toBe(true);
    expect([spool.durable, spool.epochAfterLoss, spool.progress('workergroup/7')]).toEqual([
      true,
      EPOCH,
      undefined,
    ]);
    spool.close();
    // Nothing of it is lost.
    setVersion(aside, 3);
    const rows = new DatabaseSync(aside).prepare('SELECT body FROM record ORDER BY position').all();
    expect(rows.map(({ body }): unknown => JSON.parse(String(body)))).toEqual(recordsFrom(1, 2));
    expect(readdirSync(folder.path)).toContain('spool.sqlite');
  });
});

function setVersion(path: string, version: number): void {
  const db = new DatabaseSync(path);
  db.exec(`PRAGMA user_version = ${version}`);
  db.close();
}

describe('what is in memory', () => {
  test('goes to the disk while sinks stand anywhere in it, and each gets all of it once', async () => {
    using folder = temporaryFolder();
    const sinks = ['stdout', 'file', 'otlp'];
    const { spool: other } = await open(folder.path, sinks);
    const { spool } = await open(folder.path, sinks);
    spool.append('workergroup/7', recordsFrom(1, 3_000), { ...progressAt(3_000), epoch: EPOCH });
    const got = { stdout: take(spool), file: take(spool, 1, 'file'), otlp: [] as number[] };
    const underway = spool.take('file');
    other.close();
    expect(spool.look()).toBe(true);
    expect(sinks.map((sink) => spool.standing(sink).lag)).toEqual([0, 2_000, 3_000]);
    if (underway !== undefined) spool.acknowledge('file', underway);
    got.file.push(...(underway?.records.map(({ seq }) => seq) ?? []));
    spool.append('workergroup/7', recordsFrom(3_001, 1), { ...progressAt(3_001), epoch: EPOCH });
    spool.close();
    const { spool: again } = await open(folder.path, sinks);
    got.stdout.push(...take(again));
    got.file.push(...take(again, Infinity, 'file'));
    got.otlp.push(...take(again, Infinity, 'otlp'));
    const all = numbers(1, 3_001);
    expect(got).toEqual({ stdout: all, file: all, otlp: all });
    again.close();
  });
});

describe('a spool that runs', () => {
  const file = (folder: string): string => join(folder, 'spool.sqlite');
  test.each<[string, (folder: string) => void]>([
    ['is removed with its folder', (folder) => rmSync(folder, { recursive: true })],
    ['is cut to nothing', (folder) => truncateSync(file(folder))],
    ['is another file now', (folder) => (rmSync(file(folder)), writeFileSync(file(folder), 'hi'))],
  ])('and %s: it says so, counts what waited, and begins a new one', async (_, damage) => {
    using folder = temporaryFolder();
    const directory = join(folder.path, 'state');
    const { spool, kinds } = await open(directory);
    spool.append('workergroup/7', recordsFrom(1, 5), progressAt(5));
    expect(spool.look()).toBe(true);
    expect(kinds()).toEqual([]);
    damage(directory);
    expect(spool.look()).toBe(true);
    expect(kinds().filter((kind) => kind !== 'spool set aside')).toEqual([
      'spool in memory',
      'spool on disk again',
    ]);
    const dropped = spool.append('workergroup/7', recordsFrom(6, 2), progressAt(7));
    expect(dropped).toEqual([{ sink: 'stdout', records: 5, reason: 'corruption' }]);
    spool.close();
    const { spool: again } = await open(directory);
    expect([take(again), again.progress('workergroup/7')]).toEqual([[6, 7], progressAt(7)]);
    // Of a group that is not in the new one, what was known is lost.
    expect([again.progress('workergroup/8'), again.epochAfterLoss]).toEqual([undefined, EPOCH]);
    again.close();
  });

  test('and whose folder is a file now waits in memory until it is a folder again', async () => {
    using folder = temporaryFolder();
    const directory = join(folder.path, 'state');
    const { spool } = await open(directory);
    spool.append('workergroup/7', recordsFrom(1, 5), progressAt(5));
    rmSync(directory, { recursive: true });
    writeFileSync(directory, 'hi');
    expect([spool.look(), spool.durable]).toEqual([false, false]);
    appendIn(spool, recordsFrom(6, 2), progressAt(7));
    rmSync(directory);
    expect([spool.look(), spool.durable]).toEqual([true, true]);
    expect(take(spool)).toEqual([6, 7]);
    expect(spool.progress('workergroup/7')?.epoch).toBe(EPOCH);
    spool.close();
  });
});
