/** What a spool promises while nothing is wrong, in memory and on disk. */
import { execFileSync } from 'node:child_process';
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect } from 'vitest';
import { EMPTY_STREAM, MOST_KNOWN } from '../../../../src/logs/follower/stream.ts';
import { BATCH_BYTES, BATCH_RECORDS } from '../../../../src/logs/spool/spool-database.ts';
import * as fc from '../../../support/fast-check.ts';
import { test } from '../../../support/log-folder.ts';
import { LogPolls, linesOf, mergedView } from '../../../support/log-polls.ts';
import { numbers, progressAt, record, recordsFrom, windowOf } from '../../../support/log-records.ts';
import { LogService } from '../../../support/log-service.ts';
import { openSpool, SOURCE, TakingSinks, type OpenedSpool } from '../../../support/log-spool.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

const SINKS = ['slow', 'fast'] as const;
const SIZE = JSON.stringify(record(1)).length + 1;

describe.each([
  ['in memory', false, 60],
  ['on disk', true, 10],
])('a spool %s', (_, isOnDisk, numRuns) => {
  async function within(
    sinks: readonly string[],
    maxBytes: number | undefined,
    run: (opened: OpenedSpool) => void | Promise<void>,
  ): Promise<void> {
    using folder = memoryFolder();
    const opened = await openSpool(isOnDisk ? folder.path : undefined, {
      sinks,
      ...(maxBytes !== undefined && { maxBytes }),
    });
    await run(opened);
    opened.spool.close();
  }

  test('gives each sink every record in order, within its bytes, and counts what one missed', () =>
    fc.assert(
      fc.asyncProperty(
        fc.constantFrom(undefined, 100 * SIZE),
        fc.array(
          fc.oneof(
            fc.nat(60),
            fc.nat(1_500),
            fc.tuple(fc.constantFrom('take', 'give'), fc.constantFrom(...SINKS)),
          ),
        ),
        (maxBytes, turns) =>
          within(SINKS, maxBytes, ({ spool, dropped, drain }) => {
            const taking = new TakingSinks(SINKS);
            let seq = 0;
            for (const turn of turns) {
              if (typeof turn === 'number') {
                spool.append(SOURCE, recordsFrom(seq + 1, turn), progressAt(seq));
                seq += turn;
              } else taking[turn[0]](spool, turn[1]);
            }
            for (const sink of SINKS) {
              taking.give(spool, sink);
              const got = taking.got.get(sink) ?? [];
              expect(spool.lag(sink) + dropped(sink) + got.length).toBe(seq);
              if (maxBytes === undefined) expect(dropped(sink)).toBe(0);
              got.push(...drain(sink));
              expect(spool.lag(sink)).toBe(0);
              expect(seq - new Set(got).size).toBe(dropped(sink));
              expect(got).toEqual([...new Set(got)].toSorted((one, other) => one - other));
            }
          }),
      ),
      { numRuns },
    ));

  test('has room for as much as it is bounded by, and again for what every sink has acknowledged', () =>
    within(SINKS, 10 * SIZE, ({ spool, events, drain }) => {
      for (let turn = 0; turn < 5; turn += 1) {
        for (const seq of numbers(1, 9)) spool.append(SOURCE, recordsFrom(seq, 1), progressAt(seq));
        if (turn < 4) expect(SINKS.map((sink) => drain(sink).length)).toEqual([9, 9]);
      }
      expect(events).toEqual([]);
      spool.append(SOURCE, recordsFrom(1, 4), progressAt(13));
      expect(events).toEqual(
        SINKS.map((sink) => ({ kind: 'dropped', sink, records: 3, reason: 'overflow' })),
      );
      expect(drain('fast')).toEqual([...numbers(4, 9), ...numbers(1, 4)]);
      // From here on, what is too much is missing for the other sink alone.
      spool.append(SOURCE, recordsFrom(5, 3), progressAt(16));
      expect(events.slice(2)).toEqual([{ kind: 'dropped', sink: 'slow', records: 3, reason: 'overflow' }]);
      expect(SINKS.map((sink) => spool.lag(sink))).toEqual([10, 3]);
    }));

  test('gives no more than a batch at a time, and one record however large', () =>
    within(['stdout'], undefined, ({ spool }) => {
      const large = (seq: number) => record(seq, 'x'.repeat(seq === 2_201 ? 3_000_000 : 1_500));
      spool.append(SOURCE, [...recordsFrom(1, 1_200), ...numbers(1_201, 2_202).map(large)], progressAt(0));
      const sizes: number[] = [];
      for (let batch = spool.take('stdout'); batch !== undefined; batch = spool.take('stdout')) {
        expect(batch.bytes.toString()).toBe(batch.records.map((one) => `${JSON.stringify(one)}\n`).join(''));
        expect(batch.count).toBe(batch.records.length);
        if (batch.count > 1) expect(batch.bytes.length).toBeLessThan(BATCH_BYTES * 1.01);
        sizes.push(batch.count);
        spool.acknowledge('stdout');
      }
      expect(sizes.reduce((sum, size) => sum + size)).toBe(2_202);
      expect(Math.max(...sizes)).toBeLessThanOrEqual(BATCH_RECORDS);
      expect(sizes.length).toBeLessThanOrEqual(6);
    }));

  test('knows how far each log was followed, also when its window slides or gets new places', () =>
    within(['stdout'], undefined, ({ spool }) => {
      expect([spool.progress(SOURCE), spool.epochAfterLoss]).toEqual([undefined, undefined]);
      const pending = { text: 'wait', taken: 4, since: 5 };
      const streams = {
        info0: { ...EMPTY_STREAM, window: windowOf(['a\0b', '', '😀'], 3), endsLines: true, pending },
        debug: { ...EMPTY_STREAM, window: windowOf([]) },
      };
      const progress = { ...progressAt(9), unit: 'bytes' as const, streams };
      spool.append('endpoint/7', [], progress);
      const all = Array.from({ length: 3_000 }, (__, index) => `line ${index}`);
      for (const [from, to] of [
        [0, 10],
        [0, 15],
        [6, 700],
        [200, 700],
        [1_000, 1_000],
        [1_000, 3_000],
      ] as const) {
        spool.append(SOURCE, [], progressAt(to, all.slice(from, to), from));
        expect(spool.progress(SOURCE)).toEqual(progressAt(to, all.slice(from, to), from));
      }
      expect(spool.progress('endpoint/7')).toEqual(progress);
    }));

  test('of what cannot be stored gives no sink a part, and without sinks keeps nothing', async () => {
    await within(['stdout'], undefined, ({ spool, drain }) => {
      const unwritable = Object.assign(record(2), { line: 4n as unknown as string });
      expect(() => spool.append(SOURCE, [record(1), unwritable], progressAt(2))).toThrow(TypeError);
      spool.append(SOURCE, recordsFrom(1, 1), progressAt(1));
      expect(drain()).toEqual([1]);
    });
    await within([], 1_000, ({ spool, events }) => {
      spool.append(SOURCE, recordsFrom(1, 500), progressAt(500));
      expect([spool.progress(SOURCE), events]).toEqual([progressAt(500), []]);
      expect(() => spool.take('stdout')).toThrow('not opened for a sink named stdout');
    });
  });
});

test('in memory it begins with epochs that no process before had, where there was one', async () => {
  const first = await openSpool(undefined);
  expect([first.spool.durable, first.spool.epochAfterLoss]).toEqual([undefined, undefined]);
  const second = await openSpool(undefined, { isRestart: true });
  expect(second.spool.epochAfterLoss).toBe(second.clock.now());
});

describe('a spool on disk, opened again', () => {
  test('has what was not acknowledged, and what was on its way, also at its bound', async ({ folder }) => {
    const options = { sinks: ['stdout', 'otlp'], maxBytes: 10 * SIZE };
    const first = await openSpool(folder, options);
    first.spool.append(SOURCE, recordsFrom(1, 4), progressAt(4));
    expect(first.drain('otlp')).toEqual([1, 2, 3, 4]);
    first.spool.take('stdout');
    for (const seq of numbers(5, 13)) first.spool.append(SOURCE, recordsFrom(seq, 1), progressAt(seq));
    first.spool.close();

    // A life in which no sink takes anything.
    (await openSpool(folder, options)).spool.close();
    const { spool, drain } = await openSpool(folder, options);
    const dropped = first.dropped('stdout');
    expect(dropped).toBeGreaterThan(0);
    const kept = numbers(5 + dropped, 13);
    expect(spool.lag('stdout')).toBe(4 + kept.length);
    expect(drain('stdout')).toEqual([1, 2, 3, 4, ...kept]);
    expect(drain('otlp')).toEqual(kept);
    spool.append(SOURCE, recordsFrom(14, 1), progressAt(14));
    expect([drain('stdout'), drain('otlp'), spool.progress(SOURCE)]).toEqual([[14], [14], progressAt(14)]);
    spool.close();
    using db = new DatabaseSync(join(folder, 'spool.sqlite'));
    expect(db.prepare('SELECT count(*) AS count FROM chunk').get()).toEqual({ count: 0 });
  });

  test('goes on with each log where it was, with the window as each poll left it', async ({ folder }) => {
    const log = new LogService();
    const lines: string[] = [];
    for (let run = 0; run < 3; run++) {
      log.writeLines(Array.from({ length: 40 }, (_, index) => `line ${run} ${index % 9}`));
      const { spool } = await openSpool(folder);
      const polls = new LogPolls({ progress: spool.progress(SOURCE) });
      const records = polls.poll((tail) => log.answer(tail));
      spool.append(SOURCE, records, polls.state.progress);
      lines.push(...linesOf(spool.take('stdout')?.records ?? []));
      spool.acknowledge('stdout');
      expect(records[0]?.seq).toBe(40 * run + 1);
      spool.close();
    }
    expect(lines).toEqual(log.lines);

    const first = await openSpool(folder);
    const { polls, late, text } = mergedView((records, progress) =>
      first.spool.append('endpoint/1', records, progress),
    );
    first.spool.close();
    const { spool } = await openSpool(folder);
    const progress = spool.progress('endpoint/1');
    expect(progress?.streams['']?.window).toEqual(polls.state.progress.streams['']?.window);
    const again = new LogPolls({ progress });
    expect(linesOf(again.poll(() => text([...late, 'next'])))).toEqual(['next']);
  });

  test('stores of a window what was added, so that a poll of one line costs little', async ({ folder }) => {
    const { spool } = await openSpool(folder);
    const lines = Array.from({ length: MOST_KNOWN + 100 }, (_, index) => `line ${index}`);
    // It grows, and then it slides.
    const at = (end: number) => {
      const from = Math.max(0, end - MOST_KNOWN);
      return progressAt(end, lines.slice(from, end), from);
    };
    const written = (): number => statSync(join(folder, 'spool.sqlite-wal')).size;
    const [first, last] = [MOST_KNOWN - 10, MOST_KNOWN + 10];
    for (const end of [5, 6, first]) spool.append(SOURCE, [], at(end));
    const before = written();
    for (let end = first + 1; end <= last; end++) spool.append(SOURCE, [], at(end));
    // A few pages of 4 KiB, of what takes 160 KB as a whole.
    expect((written() - before) / 20).toBeLessThan(30_000);
    expect(spool.progress(SOURCE)).toEqual(at(last));
    spool.close();
    using db = new DatabaseSync(join(folder, 'spool.sqlite'));
    expect(db.prepare('SELECT count(*) AS rows FROM window').get()).toEqual({ rows: 2 });
  });

  test('forgets a sink that is not configured, and gives a new one what is there', async ({ folder }) => {
    const first = await openSpool(folder, { sinks: ['stdout', 'otlp'] });
    first.spool.append(SOURCE, recordsFrom(1, 3), progressAt(3));
    first.drain('otlp');
    first.spool.close();
    const second = await openSpool(folder, { sinks: ['file', 'otlp'] });
    expect([second.drain('file'), second.drain('otlp')]).toEqual([[1, 2, 3], []]);
    second.spool.append(SOURCE, recordsFrom(4, 2), progressAt(5));
    second.drain('file');
    second.spool.close();
    // One that comes back is new: it has no place of its own among the records.
    (await openSpool(folder, { sinks: ['otlp'] })).spool.close();
    const third = await openSpool(folder, { sinks: ['file', 'otlp'] });
    expect([third.drain('file'), third.drain('otlp')]).toEqual([
      [4, 5],
      [4, 5],
    ]);
  });

  test('stays about as large on disk as its bound', async ({ folder }) => {
    const { spool } = await openSpool(folder, { maxBytes: 2 ** 22 });
    for (let turn = 0; turn < 60; turn++) {
      const records = Array.from({ length: 500 }, (_, index) => record(turn * 500 + index, 'x'.repeat(400)));
      spool.append(SOURCE, records, progressAt(0));
    }
    const files = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
    expect(files.reduce((sum, size) => sum + size, 0)).toBeLessThan(3 * 2 ** 22);
  });
});

test('node:sqlite is not loaded before a spool is opened: some versions of Node warn as it loads', () => {
  const source = new URL('../../../../src/logs/', import.meta.url).href;
  const script = `
    await import('${source}follow/pipeline.ts');
    await import('${source}spool/spool.ts');
    process.stdout.write(String(process.moduleLoadList.some((name) => name.endsWith(' sqlite'))));`;
  const options = ['--no-warnings', '--input-type=module', '-e'];
  const run = (code: string): string =>
    execFileSync(process.execPath, [...options, code], { encoding: 'utf8' });
  expect(run(script)).toBe('false');
  expect(run(`await import('node:sqlite'); ${script}`)).toBe('true');
});
