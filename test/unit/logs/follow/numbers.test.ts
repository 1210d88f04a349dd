/** What a record is known by: no two of them have one worker group, epoch and number. A real file system. */
import { afterEach, expect, test } from 'vitest';
import { startLogPipeline } from '../../../../src/logs/follow/pipeline.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { Spool } from '../../../../src/logs/spool/spool.ts';
import { linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';
import { CollectingSink } from '../../../support/log-sinks.ts';
import { VirtualClock } from '../../../support/log-time.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';

const SINKS = ['stdout'];
const clock = new VirtualClock();
const dying = AbortSignal.abort();

/** One process on a STATE_DIR, and what its sink got. */
async function startProcess(directory: string, log: LogService) {
  const sink = new CollectingSink();
  const observe = () => {};
  const spool = await Spool.open({ directory, sinks: SINKS, clock, observe });
  const pipeline = startLogPipeline({
    sources: [{ kind: 'workergroup', id: 7 }],
    fetchTail: ({ tail }) => Promise.resolve(log.answer(tail)),
    spool,
    sinks: [sink],
    start: 'all',
    clock,
    random: () => 0.5,
    observe,
  });
  return {
    spool,
    records: sink.records,
    async write(count: number, bytes = 10) {
      const from = log.lines.length;
      log.writeLines(
        Array.from({ length: count }, (_, index) => `line ${from + index} ${'x'.repeat(bytes)}`),
      );
      await clock.advance(60_000);
    },
    /** Nothing is stored on the way: on a full disk nothing could be. */
    die: () => pipeline.stop(dying),
  };
}

function expectOwnNumbers(records: readonly LogRecord[]): void {
  const byNumber = new Map<string, LogRecord>();
  for (const record of records) {
    const key = `${record.epoch}:${record.seq}`;
    expect(byNumber.get(key) ?? record).toEqual(record);
    byNumber.set(key, record);
  }
}

describeOnSmallDisk('numbers', () => {
  let disk: ReturnType<typeof smallDisk> | undefined;
  afterEach(() => disk?.[Symbol.dispose]());

  test.each(['while the disk cannot be written', 'when it is back on the disk'])(
    'are of one record each, where processes die %s',
    async (moment) => {
      disk = smallDisk(16_384);
      const log = new LogService();
      const records: LogRecord[] = [];
      for (const trouble of ['full', 'read-only']) {
        if (trouble === 'read-only') disk.readOnly();
        const one = await startProcess(disk.path, log);
        await one.write(300);
        if (trouble === 'full') disk.fill();
        // SQLite has room for some more in its files.
        while (one.spool.durable === true) await one.write(700, 1_500);
        await one.write(300);
        if (moment === 'when it is back on the disk') {
          disk.free();
          disk.writable();
          await one.write(300);
          await one.write(300);
          expect(one.spool.durable).toBe(true);
        }
        records.push(...one.records);
        await one.die();
        // Where it died in memory the next one takes other lines than those that were taken.
        log.writeLines(Array.from({ length: 12_000 }, (_, index) => `between ${trouble} ${index}`));
        disk.free();
        disk.writable();
      }
      const last = await startProcess(disk.path, log);
      await last.write(300);
      records.push(...last.records);
      await last.die();
      expectOwnNumbers(records);
      expect(new Set(linesOf(records)).size).toBeGreaterThan(1_900);
    },
  );

  test('are not those of the first process, where that began on a full disk; and nothing is said to be lost', async () => {
    disk = smallDisk(1_024);
    disk.fill();
    const log = new LogService();
    const first = await startProcess(disk.path, log);
    await first.write(50);
    await first.die();
    expect(linesOf(first.records)).toEqual(log.lines);
    expect(first.records).toHaveLength(50);
    log.writeLines(Array.from({ length: 12_000 }, (_, index) => `between ${index}`));
    disk.free();
    const second = await startProcess(disk.path, log);
    await second.write(50);
    await second.die();
    expect(second.records.every((record) => 'line' in record)).toBe(true);
    expectOwnNumbers([...first.records, ...second.records]);
  });
});
