import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { deflateRawSync } from 'node:zlib';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { bytesOf, MEBIBYTE } from '../../../../src/logs/spool/spool.ts';
import { mayHaveSpool, openSqliteSpool, type SqliteSpool } from '../../../../src/logs/spool/sqlite-spool.ts';
import { EMPTY_STREAM, MOST_KNOWN } from '../../../../src/logs/follower/stream.ts';
import { hashesOf } from '../../../../src/logs/text.ts';
import { LogPolls, linesOf, mergedView } from '../../../support/log-polls.ts';
import { progressAt, record, recordsFrom, windowOf } from '../../../support/log-records.ts';
import { LogService } from '../../../support/log-service.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const NOW = Date.UTC(2025, 0, 1);

function open(directory: string, sinks = ['stdout'], events: LogEvent[] = [], maxBytes = 256 * MEBIBYTE) {
  const observe = (event: LogEvent) => events.push(event);
  return openSqliteSpool({ directory, sinks, maxBytes, clock: { now: () => NOW }, observe });
}

function drain(spool: SqliteSpool, sink = 'stdout'): readonly LogRecord[] {
  const records: LogRecord[] = [];
  for (let batch = spool.take(sink); batch !== undefined; batch = spool.take(sink)) {
    records.push(...batch.records);
    spool.acknowledge(sink, batch);
  }
  return records;
}

const large = (seq: number) => record(seq, 'x'.repeat(2_000));
const seqs = (records: readonly LogRecord[]) => records.map(({ seq }) => seq);

test('a sink that keeps up and one that lags by more than is kept at hand get every record once', async () => {
  using folder = memoryFolder();
  const spool = await open(folder.path, ['stdout', 'otlp']);
  const prompt: LogRecord[] = [];
  const late: LogRecord[] = [];
  for (let poll = 0; poll < 40; poll++) {
    const from = 1 + 100 * poll;
    const records = Array.from({ length: 100 }, (_, index) => large(from + index));
    spool.append('workergroup/7', records, progressAt(from + 99));
    prompt.push(...drain(spool, 'stdout'));
    // What it takes begins in the file, and ends among the newest.
    if (poll === 20) late.push(...drain(spool, 'otlp'));
  }
  late.push(...drain(spool, 'otlp'));
  const all = Array.from({ length: 4_000 }, (_, index) => index + 1);
  expect(seqs(prompt)).toEqual(all);
  expect(seqs(late)).toEqual(all);
  spool.close();
});

test('of what could not be stored, no sink gets a part', async () => {
  using folder = memoryFolder();
  const spool = await open(folder.path);
  spool.append('workergroup/7', recordsFrom(1, 2), progressAt(2));
  const unwritable = Object.assign(record(4), { line: 4n as unknown as string });
  expect(() =>
    spool.append('workergroup/7', [record(3, 'never stored'), unwritable], progressAt(4)),
  ).toThrow();
  spool.append('workergroup/7', recordsFrom(3, 2), progressAt(4));
  expect(drain(spool)).toEqual(recordsFrom(1, 4));
  spool.close();
});

describe('a spool on disk, opened again', () => {
  test('has what was not acknowledged, and again what was on its way', async () => {
    using folder = memoryFolder();
    const first = await open(folder.path, ['stdout', 'otlp']);
    first.append('workergroup/7', recordsFrom(1, 5), progressAt(5));
    const batch = first.take('otlp');
    first.take('stdout');
    if (batch !== undefined) first.acknowledge('otlp', batch);
    first.append('workergroup/7', recordsFrom(6, 2), progressAt(7));
    first.close();

    const second = await open(folder.path, ['stdout', 'otlp']);
    expect(second.standing('stdout')).toEqual({ lag: 7, dropped: 0 });
    expect(second.standing('otlp')).toEqual({ lag: 2, dropped: 0 });
    expect(seqs(drain(second, 'stdout'))).toEqual([1, 2, 3, 4, 5, 6, 7]);
    expect(seqs(drain(second, 'otlp'))).toEqual([6, 7]);
    second.close();

    const third = await open(folder.path, ['stdout', 'otlp']);
    third.append('workergroup/7', recordsFrom(8, 1), progressAt(8));
    expect(seqs(drain(third, 'stdout'))).toEqual([8]);
    third.close();
  });

  test('has what was on its way also when the bound was reached meanwhile', async () => {
    using folder = memoryFolder();
    const maxBytes = 10 * bytesOf(record(10));
    const first = await open(folder.path, ['stdout'], [], maxBytes);
    first.append('workergroup/7', recordsFrom(1, 4), progressAt(4));
    first.take('stdout');
    expect(first.append('workergroup/7', recordsFrom(5, 9), progressAt(13))).toMatchObject([{ records: 3 }]);
    first.close();
    const second = await open(folder.path, ['stdout'], [], maxBytes);
    expect(seqs(drain(second))).toEqual([1, 2, 3, 4, 8, 9, 10, 11, 12, 13]);
    expect(second.standing('stdout')).toEqual({ lag: 0, dropped: 3 });
    second.close();
  });

  test('holds no record that every sink has acknowledged', async () => {
    using folder = memoryFolder();
    const spool = await open(folder.path, ['stdout', 'otlp']);
    spool.append('workergroup/7', recordsFrom(1, 50), progressAt(50));
    drain(spool, 'stdout');
    drain(spool, 'otlp');
    spool.close();
    using db = new DatabaseSync(join(folder.path, 'spool.sqlite'));
    expect(db.prepare('SELECT count(*) AS count FROM record').get()).toEqual({ count: 0 });
  });

  test('goes on with each group where it was', async () => {
    using folder = memoryFolder();
    const log = new LogService();
    const lines: string[] = [];
    for (let run = 0; run < 3; run++) {
      log.writeLines(Array.from({ length: 40 }, (_, index) => `line ${run} ${index % 9}`));
      const spool = await open(folder.path);
      const polls = new LogPolls({ progress: spool.progress('workergroup/7') });
      const records = polls.poll((tail) => log.answer(tail));
      spool.append('workergroup/7', records, polls.state.progress);
      lines.push(...linesOf(drain(spool)));
      expect(records[0]?.seq).toBe(40 * run + 1);
      spool.close();
    }
    expect(lines).toEqual(log.lines);
  });

  test("has each group's window as it was left, however it was taken", async () => {
    using folder = memoryFolder();
    let [seq, window] = [0, windowOf([])];
    for (const count of [5, 200, 100, 4_000, 1, 9_000, 30, 255, 2, 12_000, 7]) {
      const spool = await open(folder.path);
      for (let turn = 0; turn < 2; turn++) {
        const added = hashesOf(Array.from({ length: count }, (_, index) => `line ${seq + index}`));
        const hashes = Float64Array.from([...window.hashes, ...added]).slice(-MOST_KNOWN);
        seq += count;
        window = { from: seq - hashes.length, hashes };
        const stream = { ...EMPTY_STREAM, window };
        spool.append('workergroup/7', [], { ...progressAt(seq), streams: { '': stream } });
        expect(spool.progress('workergroup/7')?.streams['']?.window).toEqual(window);
      }
      spool.close();
    }
    using db = new DatabaseSync(join(folder.path, 'spool.sqlite'));
    const stored = db.prepare('SELECT sum(lines) AS lines FROM window_hashes').get();
    expect(Number(stored?.['lines'])).toBeLessThan(MOST_KNOWN + 12_000);
  });

  test("has each group's window as a merged view of the log left it", async () => {
    using folder = memoryFolder();
    const first = await open(folder.path);
    const { polls, late, text } = mergedView((records, progress) =>
      first.append('workergroup/7', records, progress),
    );
    const { window } = polls.state.progress.streams[''] ?? {};
    expect(first.progress('workergroup/7')?.streams['']?.window).toEqual(window);
    first.close();
    const second = await open(folder.path);
    expect(second.progress('workergroup/7')?.streams['']?.window).toEqual(window);
    const again = new LogPolls({ progress: second.progress('workergroup/7') });
    expect(linesOf(again.poll(() => text([...late, 'next'])))).toEqual(['next']);
    second.close();
  });

  test.each([1, 2])('goes on from a file of version %i, which has windows as text', async (version) => {
    using folder = memoryFolder();
    const log = new LogService();
    log.writeLines(Array.from({ length: 3_000 }, (_, index) => `line ${index % 700}`));
    const polls = new LogPolls();
    const before = await open(folder.path);
    before.append(
      'workergroup/7',
      polls.poll((tail) => log.answer(tail)),
      polls.state.progress,
    );
    before.close();
    makeOld(version, join(folder.path, 'spool.sqlite'), log.lines);

    for (let run = 0; run < 2; run++) {
      const events: LogEvent[] = [];
      const spool = await open(folder.path, ['stdout'], events);
      expect(events).toEqual([]);
      const again = new LogPolls({ progress: spool.progress('workergroup/7') });
      log.writeLines([`new ${run}`]);
      const records = again.poll((tail) => log.answer(tail));
      expect(linesOf(records)).toEqual([`new ${run}`]);
      spool.append('workergroup/7', records, again.state.progress);
      spool.close();
    }
    const spool = await open(folder.path);
    expect(linesOf(drain(spool))).toEqual(log.lines);
    spool.close();
  });

  test('forgets a sink that is no longer configured, and gives a new one what is there', async () => {
    using folder = memoryFolder();
    const first = await open(folder.path, ['stdout', 'otlp']);
    first.append('workergroup/7', recordsFrom(1, 3), progressAt(3));
    drain(first, 'otlp');
    first.close();
    const second = await open(folder.path, ['file', 'otlp']);
    expect(seqs(drain(second, 'file'))).toEqual([1, 2, 3]);
    expect(second.standing('otlp').lag).toBe(0);
    second.append('workergroup/7', recordsFrom(4, 2), progressAt(5));
    drain(second, 'file');
    second.close();
    // The forgotten one is new when it comes back: it has no place of its own among the records.
    (await open(folder.path, ['otlp'])).close();
    const third = await open(folder.path, ['file', 'otlp']);
    expect(seqs(drain(third, 'file'))).toEqual([4, 5]);
    expect(third.standing('otlp')).toEqual({ lag: 2, dropped: 0 });
    third.close();
  });

  test('knows where each sink stands, also after a life in which none took anything', async () => {
    using folder = memoryFolder();
    const first = await open(folder.path, ['stdout', 'otlp']);
    first.append('workergroup/7', recordsFrom(1, 3), progressAt(3));
    drain(first, 'stdout');
    first.close();
    (await open(folder.path, ['stdout', 'otlp'])).close();
    const third = await open(folder.path, ['stdout', 'otlp']);
    expect([third.standing('stdout').lag, third.standing('otlp').lag]).toEqual([0, 3]);
    third.close();
  });

  test('is refused to a second process', async () => {
    using folder = memoryFolder();
    const first = await open(folder.path);
    await expect(open(folder.path)).rejects.toMatchObject({ code: 'file_in_use' });
    first.close();
  });

  test('stays about as large on disk as its bound', async () => {
    using folder = memoryFolder();
    const spool = await open(folder.path, ['stdout'], [], 4 * MEBIBYTE);
    for (let turn = 0; turn < 60; turn++) {
      const records = Array.from({ length: 500 }, (_, index) => record(turn * 500 + index, 'x'.repeat(400)));
      spool.append('workergroup/7', records, progressAt(0));
    }
    const files = readdirSync(folder.path).map((name) => statSync(join(folder.path, name)).size);
    expect(files.reduce((sum, size) => sum + size, 0)).toBeLessThan(12 * MEBIBYTE);
    spool.close();
  });
});

describe('a database that cannot be read', () => {
  test.each<[string, (path: string) => void]>([
    [
      'garbage',
      (path) => writeFileSync(path, 'this is no database, and long enough to be sure of it'.repeat(100)),
    ],
    ['cut off', (path) => writeFileSync(path, readFileSync(path).subarray(0, 20_000))],
    [
      'overwritten in the middle',
      (path) => {
        const bytes = readFileSync(path);
        writeFileSync(path, bytes.fill(0xa5, 8_192, bytes.length - 8_192));
      },
    ],
  ])('%s, is set aside under a new name, and a new epoch begins', async (_, damage) => {
    using folder = memoryFolder();
    const events = await damaged(folder.path, damage);
    const aside = 'spool.sqlite.corrupt-2025-01-01T000000.000Z';
    expect(events).toMatchObject([{ kind: 'spool set aside', path: join(folder.path, aside) }]);
    expect(readdirSync(folder.path)).toContain(aside);
    const again = await open(folder.path);
    expect(again.progress('workergroup/7')).toMatchObject({ epoch: NOW, seq: 2 });
    expect(again.epochAfterLoss).toBe(NOW);
    again.close();
  });

  test.each([
    ['$.seq', '[]'],
    ['$.epoch', '"1"'],
    ['$.unit', '"words"'],
  ])('with %s of a group that is %s, is set aside: no line is numbered by that', async (path, value) => {
    using folder = memoryFolder();
    const before = await open(folder.path, ['stdout']);
    before.append('workergroup/7', recordsFrom(1, 1), progressAt(1, ['a line']));
    before.close();
    const db = new DatabaseSync(join(folder.path, 'spool.sqlite'));
    db.prepare('UPDATE progress SET body = json_set(body, ?, json(?))').run(path, value);
    db.close();
    const events: LogEvent[] = [];
    const spool = await open(folder.path, ['stdout'], events);
    expect(spool.progress('workergroup/7')).toBeUndefined();
    spool.append('workergroup/7', recordsFrom(2, 1), progressAt(2));
    expect(events.map(({ kind }) => kind)).toEqual(['spool set aside']);
    expect(spool.epochAfterLoss).toBeGreaterThan(1);
    spool.close();
  });

  test('while it runs, loses what waited, counts it, and goes on without a new epoch', async () => {
    using folder = memoryFolder();
    const events: LogEvent[] = [];
    const spool = await open(folder.path, ['stdout', 'otlp'], events);
    const lines = Array.from({ length: 3_000 }, (_, index) => `line ${index}`);
    // More than SQLite keeps in memory, where it would not notice.
    const records = lines.map((_, index) => large(index + 1));
    spool.append('workergroup/7', records, progressAt(3_000, lines));
    const underway = spool.take('stdout');
    const taken = underway?.records.length ?? 0;
    expect(taken).toBeGreaterThan(0);
    const path = join(folder.path, 'spool.sqlite');
    for (const name of [path, `${path}-wal`]) writeFileSync(name, Buffer.alloc(statSync(name).size, 0xa5));

    const progress = progressAt(3_001, [...lines, 'line 3000']);
    const dropped = spool.append('workergroup/7', recordsFrom(3_001, 1), progress);
    expect(events.map(({ kind }) => kind)).toEqual(['spool set aside']);
    expect(dropped).toEqual([
      { sink: 'stdout', records: 3_000 - taken, reason: 'corruption' },
      { sink: 'otlp', records: 3_000, reason: 'corruption' },
    ]);
    if (underway !== undefined) spool.acknowledge('stdout', underway);
    expect(seqs(drain(spool, 'stdout'))).toEqual([3_001]);
    expect(seqs(drain(spool, 'otlp'))).toEqual([3_001]);
    expect(spool.progress('workergroup/7')).toEqual(progress);
    // The new file is one, and stays.
    expect(spool.append('workergroup/7', recordsFrom(3_002, 1), progress)).toEqual([]);
    expect(spool.append('workergroup/7', recordsFrom(3_003, 1), progress)).toEqual([]);
    expect(seqs(drain(spool, 'otlp'))).toEqual([3_002, 3_003]);
    expect(events).toHaveLength(1);
    expect(spool.standing('stdout')).toEqual({ lag: 2, dropped: 3_000 - taken });
    spool.close();
  });

  test('while a sink acknowledges, begins anew with all of its room', async () => {
    using folder = memoryFolder();
    const events: LogEvent[] = [];
    const spool = await open(folder.path, ['stdout'], events, 8 * MEBIBYTE);
    spool.append(
      'workergroup/7',
      Array.from({ length: 3_500 }, (_, index) => large(index + 1)),
      progressAt(3_500),
    );
    const underway = spool.take('stdout');
    const path = join(folder.path, 'spool.sqlite');
    for (const name of [path, `${path}-wal`]) writeFileSync(name, Buffer.alloc(statSync(name).size, 0xa5));
    if (underway !== undefined) spool.acknowledge('stdout', underway);
    expect(events.map(({ kind }) => kind)).toEqual(['spool set aside']);
    const [lost, ...more] = spool.append(
      'workergroup/7',
      Array.from({ length: 3_500 }, (_, index) => large(index)),
      progressAt(0),
    );
    expect(lost).toMatchObject({ reason: 'corruption' });
    expect(more).toEqual([]);
    expect(spool.standing('stdout').lag).toBe(3_500);
    spool.close();
  });
});

test('there may be a spool where something has its name, or nobody can look', () => {
  using folder = memoryFolder();
  expect([folder.path, join(folder.path, 'none')].map((path) => mayHaveSpool(path))).toEqual([false, false]);
  const file = join(folder.path, 'spool.sqlite');
  writeFileSync(file, '');
  expect([folder.path, file].map((path) => mayHaveSpool(path))).toEqual([false, false]);
  writeFileSync(file, 'x');
  expect([folder.path, '/'.repeat(5_000) + 'x'.repeat(300)].map((path) => mayHaveSpool(path))).toEqual([
    true,
    true,
  ]);
});

test('node:sqlite is not loaded unless a spool on disk is opened', () => {
  const source = new URL('../../../../src/logs/', import.meta.url).href;
  const script = `
    await import('${source}follow/pipeline.ts');
    await import('${source}spool/memory-spool.ts');
    await import('${source}spool/sqlite-spool.ts');
    process.stdout.write(String(process.moduleLoadList.some((name) => name.endsWith(' sqlite'))));`;
  expect(runScript(script)).toBe('false');
  expect(runScript(`await import('node:sqlite'); ${script}`)).toBe('true');
});

/** Turns a spool whose group 7 was followed through `lines` into what version 1 would have written. */
function makeOld(version: number, path: string, lines: readonly string[]): void {
  using db = new DatabaseSync(path);
  const streams = { '': { from: 0, endsLines: true } };
  const body = { epoch: 1, seq: lines.length, time: 5, ceiling: 10_000, linesPerSecond: 3, streams };
  db.exec('DROP TABLE window_hashes; DELETE FROM window_line; DELETE FROM window_block');
  db.prepare('UPDATE progress SET body = ? WHERE workergroup_id = 7').run(JSON.stringify(body));
  if (version === 1) db.exec('DROP TABLE window_block');
  // Version 2 packed all but the newest lines.
  const loose = version === 1 ? lines : lines.slice(2_000);
  if (version === 2) {
    const packed = deflateRawSync(lines.slice(0, 2_000).join('\n'));
    db.prepare('INSERT INTO window_block VALUES (7, ?, 0, 2000, ?)').run('', packed);
  }
  const add = db.prepare('INSERT INTO window_line VALUES (7, ?, ?, ?)');
  for (const [index, line] of loose.entries()) add.run('', lines.length - loose.length + index, line);
  db.exec(`PRAGMA user_version = ${version}`);
}

/** Fills a spool, damages it, and opens it again. */
async function damaged(directory: string, damage: (path: string) => void): Promise<LogEvent[]> {
  const before = await open(directory);
  before.append('workergroup/7', recordsFrom(1, 2_000), progressAt(2_000, ['line 2000']));
  before.close();
  damage(join(directory, 'spool.sqlite'));

  const events: LogEvent[] = [];
  const spool = await open(directory, ['stdout'], events);
  expect(spool.progress('workergroup/7')).toBeUndefined();
  expect(spool.standing('stdout')).toEqual({ lag: 0, dropped: 0 });
  const polls = new LogPolls({ epochAfterLoss: spool.epochAfterLoss });
  const records = polls.poll(() => ({ kind: 'text', text: 'line 2000\n' }));
  expect(records).toMatchObject([
    { epoch: NOW, seq: 1, gap: { reason: 'reset' } },
    { epoch: NOW, seq: 2, line: 'line 2000' },
  ]);
  spool.append('workergroup/7', records, polls.state.progress);
  spool.close();
  return events;
}

function runScript(code: string): string {
  const options = ['--no-warnings', '--input-type=module', '-e', code];
  return execFileSync(process.execPath, options, { encoding: 'utf8' });
}
