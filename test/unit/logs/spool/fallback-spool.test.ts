/** A spool in a STATE_DIR that cannot be used for a while: a real file system. */
import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { FallbackSpool } from '../../../../src/logs/spool/fallback-spool.ts';
import { NewerSpool } from '../../../../src/logs/spool/spool-file.ts';
import { EpochOver, type Spool } from '../../../../src/logs/spool/spool.ts';
import {
  mayHaveSpool,
  openSqliteSpool,
  sqliteSpools,
  type OpenSqliteSpool,
} from '../../../../src/logs/spool/sqlite-spool.ts';
import type { GroupProgress } from '../../../../src/logs/tail/group.ts';
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
    spool.append(7, records, progress);
  } catch (error) {
    if (!(error instanceof EpochOver)) throw error;
    const { epoch } = error;
    spool.append(
      7,
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
    expect(spool.progress(7)).toEqual({ ...progressAt(last, ['line'], last), epoch: EPOCH });

    const early = take(spool, 3);
    expect(spool.tryDisk()).toBe(false);
    expect([...early, ...take(spool)]).toEqual(numbers(1, last));
    // Still full: what it is asked for is a batch, not a byte.
    expect(spool.tryDisk()).toBe(false);
    disk.free();
    expect(spool.tryDisk()).toBe(true);
    expect([spool.durable, kinds()]).toEqual([true, ['spool in memory', 'spool on disk again']]);
    const progress = { ...progressAt(last + 1, ['other'], last + 1), epoch: EPOCH };
    spool.append(7, recordsFrom(last + 1, 1), progress);
    expect(take(spool, 1)).toEqual([last + 1]);
    spool.close();

    const { spool: again } = await open(disk.path);
    expect(again.progress(7)).toEqual(progress);
    expect(take(again)).toEqual([]);
    again.close();
  });

  test('that has no room for an acknowledgement: it counts, and is stored once there is room', async () => {
    using disk = smallDisk(32_768);
    const { spool } = await open(disk.path, ['stdout', 'otlp']);
    spool.append(
      7,
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

  test('that is read-only and writable later: memory, then the spool that is there goes on', async () => {
    using disk = smallDisk(32_768);
    const earlier = await openSqliteSpool({
      directory: disk.path,
      sinks: ['stdout'],
      clock: { now: () => NOW },
      observe: () => {},
    });
    const window = numbers(1, 500).map((seq) => `line ${seq}`);
    earlier.append(7, recordsFrom(1, 3), progressAt(500, window, 90_000));
    earlier.close();
    disk.readOnly();
    const { spool, kinds } = await open(disk.path);
    expect([spool.durable, kinds(), spool.epochAfterLoss]).toEqual([false, ['spool in memory'], EPOCH]);
    // Its numbers are not those of the spool that cannot be read, and its window begins elsewhere.
    const progress = { ...progressAt(2, ['one', 'two']), epoch: EPOCH };
    spool.append(7, recordsFrom(1, 2), progress);
    expect(take(spool)).toEqual([1, 2]);
    expect(spool.tryDisk()).toBe(false);
    disk.writable();
    expect(spool.tryDisk()).toBe(true);
    expect(take(spool)).toEqual([1, 2, 3]);
    expect(spool.progress(7)).toEqual(progress);
    spool.close();
  });
});

describe('a spool on disk', () => {
  test('that another process has open: memory, and the disk once it is released', async () => {
    using folder = temporaryFolder();
    const { spool: other } = await open(folder.path);
    const { spool, events } = await open(folder.path);
    expect(events).toMatchObject([{ kind: 'spool in memory', error: { code: 'spool_in_use' } }]);
    const progress = { ...progressAt(2, ['one', 'two']), epoch: EPOCH };
    spool.append(7, recordsFrom(1, 2), progress);
    expect(take(spool)).toEqual([1, 2]);
    expect(spool.tryDisk()).toBe(false);
    other.close();
    expect(spool.tryDisk()).toBe(true);
    expect(spool.progress(7)).toEqual(progress);
    spool.close();
  });

  test('of a newer Pilotlight is set aside whole, under a name that says so', async () => {
    using folder = temporaryFolder();
    const { spool: newer } = await open(folder.path);
    newer.append(7, recordsFrom(1, 2), progressAt(2, ['one', 'two']));
    newer.close();
    const path = join(folder.path, 'spool.sqlite');
    setVersion(path, 3);
    const { spool, events } = await open(folder.path);
    const aside = `${path}.version-3-2025-01-01T000000.000Z`;
    expect(events).toMatchObject([{ kind: 'spool set aside', path: aside, error: { code: 'newer_spool' } }]);
    expect(events.every((event) => 'error' in event && event.error instanceof NewerSpool)).toBe(true);
    expect([spool.durable, spool.epochAfterLoss, spool.progress(7)]).toEqual([true, EPOCH, undefined]);
    spool.close();
    // Nothing of it is lost.
    setVersion(aside, 2);
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
