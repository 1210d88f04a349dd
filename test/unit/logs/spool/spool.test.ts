import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { MemorySpool } from '../../../../src/logs/spool/memory-spool.ts';
import { BATCH_RECORDS, bytesOf, type Spool } from '../../../../src/logs/spool/spool.ts';
import { openSqliteSpool } from '../../../../src/logs/spool/sqlite-spool.ts';
import { EMPTY_STREAM } from '../../../../src/logs/follower/stream.ts';
import { progressAt, record, recordsFrom, windowOf } from '../../../support/log-records.ts';
import { memoryFolder } from '../../../support/temporary-folder.ts';

type Run = (spool: Spool) => void | Promise<void>;

async function inMemory(sinks: readonly string[], maxBytes: number | undefined, run: Run): Promise<void> {
  const spool = new MemorySpool({ sinks, ...(maxBytes !== undefined && { maxBytes }) });
  await run(spool);
  spool.close();
}

async function onDisk(sinks: readonly string[], maxBytes: number | undefined, run: Run): Promise<void> {
  using folder = memoryFolder();
  const spool = await openSqliteSpool({
    directory: folder.path,
    sinks,
    ...(maxBytes !== undefined && { maxBytes }),
    clock: { now: () => 0 },
    observe: (event) => {
      throw new Error(event.kind);
    },
  });
  await run(spool);
  spool.close();
}

describe.each([
  ['in memory', inMemory, 300, JSON.stringify(record(1)).length],
  ['on disk', onDisk, 15, bytesOf(record(1))],
] as const)('a spool %s', (_, within, numRuns, recordBytes) => {
  test('gives each sink every record in order, whichever way the two take turns', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat(700), fc.constantFrom('slow', 'fast')), { maxLength: 40 }),
        (turns) =>
          within(['slow', 'fast'], undefined, (spool) => {
            const got: Record<string, number[]> = { slow: [], fast: [] };
            let seq = 0;
            const deliver = (sink: string) => {
              const batch = spool.take(sink);
              if (batch !== undefined) spool.acknowledge(sink, batch);
              got[sink]?.push(...(batch?.records.map((one) => one.seq) ?? []));
              return batch !== undefined;
            };
            for (const turn of turns) {
              if (typeof turn === 'string') deliver(turn);
              else {
                expect(spool.append('workergroup/7', recordsFrom(seq + 1, turn), progressAt(seq))).toEqual(
                  [],
                );
                seq += turn;
              }
              for (const sink of ['slow', 'fast']) {
                expect(spool.standing(sink)).toEqual({ lag: seq - (got[sink]?.length ?? 0), dropped: 0 });
              }
            }
            while (deliver('slow') || deliver('fast'));
            const all = Array.from({ length: seq }, (__, index) => index + 1);
            expect(got).toEqual({ slow: all, fast: all });
          }),
      ),
      { numRuns },
    ));

  test('stays within its bytes, and what a sink misses equals what it is said to have missed', () =>
    fc.assert(
      fc.asyncProperty(
        fc.array(fc.oneof(fc.nat(60), fc.constantFrom('take slow', 'give slow', 'take fast', 'give fast'))),
        (turns) =>
          within(['slow', 'fast'], 100 * recordBytes, (spool) => {
            const got: Record<string, number[]> = { slow: [], fast: [] };
            const missed: Record<string, number> = { slow: 0, fast: 0 };
            const underway = new Map<string, ReturnType<Spool['take']>>();
            let seq = 0;
            const give = (sink: string) => {
              const batch = underway.get(sink);
              if (batch !== undefined) spool.acknowledge(sink, batch);
              got[sink]?.push(...(batch?.records.map((one) => one.seq) ?? []));
              underway.delete(sink);
            };
            for (const turn of turns) {
              if (typeof turn === 'number') {
                const dropped = spool.append('workergroup/7', recordsFrom(seq + 1, turn), progressAt(seq));
                for (const { sink, records } of dropped) missed[sink] = (missed[sink] ?? 0) + records;
                seq += turn;
                continue;
              }
              const [verb, sink = ''] = turn.split(' ');
              if (verb === 'give') give(sink);
              else if (!underway.has(sink)) underway.set(sink, spool.take(sink));
            }
            for (const sink of ['slow', 'fast']) {
              give(sink);
              const waiting = spool.standing(sink).lag;
              expect(waiting).toBeLessThanOrEqual(100);
              for (let batch = spool.take(sink); batch !== undefined; batch = spool.take(sink)) {
                underway.set(sink, batch);
                give(sink);
              }
              expect(spool.standing(sink)).toEqual({ lag: 0, dropped: missed[sink] });
              expect(got[sink]).toEqual(got[sink]?.toSorted((one, other) => one - other));
              expect(new Set(got[sink]).size).toBe(got[sink]?.length);
              expect(seq - (got[sink]?.length ?? 0)).toBe(missed[sink]);
            }
          }),
      ),
      { numRuns },
    ));

  test('has room again for what every sink has acknowledged', () =>
    within(['slow', 'fast'], 10 * recordBytes, (spool) => {
      for (let turn = 0; turn < 5; turn += 1) {
        expect(spool.append('workergroup/7', recordsFrom(1, 9), progressAt(9))).toEqual([]);
        for (const sink of ['slow', 'fast']) {
          const batch = spool.take(sink);
          expect(batch?.records).toHaveLength(9);
          if (batch) spool.acknowledge(sink, batch);
        }
      }
    }));

  test('gives no more than a batch at a time, and one record however large', () =>
    within(['stdout'], undefined, (spool) => {
      spool.append(
        'workergroup/7',
        [...recordsFrom(1, 1_200), record(1_201, 'x'.repeat(3_000_000)), record(1_202)],
        progressAt(0),
      );
      const sizes: number[] = [];
      for (let batch = spool.take('stdout'); batch !== undefined; batch = spool.take('stdout')) {
        sizes.push(batch.records.length);
        spool.acknowledge('stdout', batch);
      }
      expect(sizes).toEqual([BATCH_RECORDS, 200, 1, 1]);
    }));

  test('knows how far each group was followed', () =>
    within(['stdout'], undefined, (spool) => {
      expect(spool.progress('workergroup/7')).toBeUndefined();
      expect(spool.epochAfterLoss).toBeUndefined();
      const pending = { text: 'wait', taken: 4, since: 5 };
      const streams = {
        info0: { ...EMPTY_STREAM, window: windowOf(['a\0b', '', '😀'], 3), endsLines: true, pending },
        debug: { ...EMPTY_STREAM, window: windowOf([]) },
      };
      const progress = { ...progressAt(9), unit: 'bytes' as const, streams };
      spool.append('workergroup/7', [], progress);
      spool.append('workergroup/8', [], progressAt(4));
      expect(spool.progress('workergroup/7')).toEqual(progress);
      expect(spool.progress('workergroup/8')).toEqual(progressAt(4));
    }));

  test('keeps a window that slides, and one that begins anew', () =>
    within(['stdout'], undefined, (spool) => {
      const lines = Array.from({ length: 40 }, (__, index) => `line ${index}`);
      for (const [from, to] of [
        [0, 10],
        [0, 15],
        [6, 16],
        [16, 20],
        [30, 30],
        [30, 40],
      ] as const) {
        const progress = progressAt(to, lines.slice(from, to), from);
        spool.append('workergroup/7', [], progress);
        expect(spool.progress('workergroup/7')).toEqual(progress);
      }
    }));

  test('keeps no record for sinks that are not there', () =>
    within([], 1_000, (spool) => {
      expect(spool.append('workergroup/7', recordsFrom(1, 500), progressAt(500))).toEqual([]);
      expect(() => spool.take('stdout')).toThrow('not opened for a sink named stdout');
    }));
});
