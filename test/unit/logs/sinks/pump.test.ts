import * as fc from '../../../support/fast-check.ts';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import { FORGOTTEN } from '../../../../src/logs/follower/group.ts';
import {
  ALL_ACCEPTED,
  SinkBusy,
  startPump,
  withPlainLines,
  type Sink,
} from '../../../../src/logs/sinks/sink.ts';
import type { Batch } from '../../../../src/logs/spool/spool-database.ts';
import type { Spool } from '../../../../src/logs/spool/spool.ts';
import { batchOf, NEVER, numbers, progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { CollectingSink } from '../../../support/log-sinks.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { droppedOf } from '../../../support/log-spool.ts';
import { memorySpool } from '../../../support/memory-spool.ts';

const AWAY = new Error('away');
const busy = (retryAfterMs: number | undefined) => new SinkBusy('busy', { retryAfterMs, advice: undefined });

function pumping(maxBytes?: number) {
  const clock = new VirtualClock(0);
  const events: LogEvent[] = [];
  const observe = (event: LogEvent) => events.push(event);
  const spool = memorySpool(['stdout'], maxBytes, observe);
  const sink = new CollectingSink();
  const pump = startPump({
    spool,
    sink,
    clock,
    random: () => 0,
    observe,
  });
  onTestFinished(() => pump.stop(AbortSignal.abort()));
  let seq = 0;
  /** @returns How many were dropped for them. */
  function append(count: number): number {
    const before = droppedOf(events, 'stdout');
    spool.append('workergroup/7', recordsFrom(seq + 1, count), progressAt(seq + count));
    seq += count;
    pump.wake();
    return droppedOf(events, 'stdout') - before;
  }
  const written = () => sink.records.map(({ seq: one }) => one);
  return { clock, sink, spool, events, pump, append, written, lag: () => spool.lag('stdout') };
}

/** A method of the spool throws so many times. */
function failing(spool: Spool, method: 'take' | 'acknowledge', error: Error, asked = () => {}) {
  const works = spool[method].bind(spool);
  const left = { failures: 0 };
  Object.assign(spool, {
    [method](sink: string) {
      asked();
      if (left.failures-- > 0) throw error;
      return works(sink);
    },
  });
  return left;
}

describe('a sink', () => {
  test('that stalls or fails gets everything in order, or a count of what it missed', async () => {
    const turn = fc.record({
      records: fc.integer({ min: 0, max: 400 }),
      next: fc.constantFrom('nothing', 'stall', 'flow', 'fail'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 30 }), async (turns) => {
        const { sink, spool, clock, pump, append, written } = pumping(100_000);
        let stall = Promise.withResolvers<void>();
        let [appended, dropped] = [0, 0];
        for (const { records, next } of turns) {
          if (next === 'fail') sink.fates[0] = AWAY;
          if (next === 'stall') sink.stall = stall.promise;
          if (next === 'flow') {
            stall.resolve();
            sink.stall = undefined;
            stall = Promise.withResolvers();
          }
          appended += records;
          dropped += append(records);
          await settled();
        }
        stall.resolve();
        sink.stall = undefined;
        await clock.advance(60_000);
        const seqs = written();
        expect(seqs).toEqual([...new Set(seqs)].toSorted((one, other) => one - other));
        expect(dropped).toBe(appended - seqs.length);
        expect(spool.lag('stdout')).toBe(0);
        await pump.stop(NEVER);
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ['for itself', AWAY, 500],
    ['and asks for more', busy(7_000), 7_000],
    ['and asks for a day', busy(86_400_000), 300_000],
  ])('that fails %s is left alone for so long', async (_what, error, ms) => {
    const { clock, sink, events, append, written } = pumping();
    sink.fates.push(error);
    append(1);
    await clock.advance(ms - 1);
    expect(written()).toEqual([]);
    await clock.advance(1);
    expect(written()).toEqual([1]);
    expect(events).toEqual([
      { kind: 'sink failed', sink: 'stdout', error, failures: 1, retryInMs: ms },
      { kind: 'delivered', sink: 'stdout', records: 1 },
      { kind: 'sink recovered', sink: 'stdout', failures: 1 },
    ]);
  });

  test('that fails again and again is left alone for longer, until it takes something', async () => {
    const { clock, sink, events, append, written } = pumping();
    sink.fates.push(AWAY, AWAY, AWAY);
    append(5);
    await clock.advance(3_499);
    expect(written()).toEqual([]);
    await clock.advance(1);
    expect(written()).toEqual(numbers(1, 5));
    sink.fates.push(AWAY);
    append(1);
    await clock.advance(600);
    expect(events).toMatchObject([
      { kind: 'sink failed', failures: 1, retryInMs: 500 },
      { kind: 'sink failed', failures: 2, retryInMs: 1_000 },
      { kind: 'sink failed', failures: 3, retryInMs: 2_000 },
      { kind: 'delivered', records: 5 },
      { kind: 'sink recovered', failures: 3 },
      { kind: 'sink failed', failures: 1, retryInMs: 500 },
      { kind: 'delivered', records: 1 },
      { kind: 'sink recovered', failures: 1 },
    ]);
  });

  test('that refuses some for good has them counted with its reason, and what it takes beside', async () => {
    const { clock, sink, events, append } = pumping();
    sink.fates.push({ rejected: 2, message: 'too old' }, { rejected: 1 });
    append(3);
    await clock.advance(1);
    append(1);
    await clock.advance(1);
    expect(events).toEqual([
      { kind: 'delivered', sink: 'stdout', records: 1 },
      { kind: 'dropped', sink: 'stdout', records: 2, reason: 'rejected', message: 'too old' },
      { kind: 'dropped', sink: 'stdout', records: 1, reason: 'rejected' },
    ]);
  });
});

describe('a spool that fails', () => {
  test('to give is asked again, after longer and longer waits', async () => {
    const { clock, spool, events, append, written } = pumping();
    const [asked, error]: [number[], Error] = [[], new Error('corrupt')];
    const left = failing(spool, 'take', error, () => asked.push(clock.now()));
    left.failures = 3;
    append(1);
    await clock.advance(10_000);
    expect([asked.slice(0, 4), written()]).toEqual([[0, 500, 1_500, 3_500], [1]]);
    expect(events.slice(0, 3)).toEqual(numbers(1, 3).map(() => ({ kind: 'spool failed', error })));
    // What is over does not count against it.
    [left.failures, asked.length] = [2, 0];
    append(1);
    await clock.advance(10_000);
    expect([asked.slice(0, 3), written()]).toEqual([
      [10_000, 10_500, 11_500],
      [1, 2],
    ]);
  });

  test('to note what was delivered is told, and the records count as delivered', async () => {
    const { clock, spool, events, append } = pumping();
    const error = new Error('full');
    failing(spool, 'acknowledge', error).failures = 1;
    append(1);
    await clock.advance(10);
    expect(events.slice(0, 2)).toEqual([
      { kind: 'spool failed', error },
      { kind: 'delivered', sink: 'stdout', records: 1 },
    ]);
  });
});

test('a sink of plain lines gets them without colours, and again the same batch', async () => {
  const written: Batch[] = [];
  const write: Sink['write'] = async (batch) => (written.push(batch), ALL_ACCEPTED);
  const sink = withPlainLines({ name: 'file', write, close: async () => {} });
  const { line: _, ...gap } = { ...record(2), gap: FORGOTTEN, line: '' };
  const batch = batchOf([record(1, '\u001B[31mred\u001B[0m \u009B1mbold'), gap]);
  for (const one of [batch, batch]) expect(await sink.write(one, NEVER)).toBe(ALL_ACCEPTED);
  expect(written[0]).toMatchObject({ count: 2, records: [record(1, 'red bold'), gap] });
  expect(written[1]).toBe(written[0]);
});

describe('the end', () => {
  test('comes when all is delivered, and closes the sink', async () => {
    const { sink, pump, append, written, lag } = pumping();
    append(3);
    await pump.stop(NEVER);
    expect([written(), sink.closed, lag()]).toEqual([[1, 2, 3], 1, 0]);
  });

  test('of one that waits for news comes at once', async () => {
    const { clock, sink, pump } = pumping();
    await clock.advance(10);
    await pump.stop(NEVER);
    expect(sink.closed).toBe(1);
  });

  test.each(['hangs', 'waits after a failure'])(
    'of one that %s comes with the deadline, and what it did not take stays',
    async (what) => {
      const { sink, events, pump, append, written, lag } = pumping();
      if (what === 'hangs') sink.stall = new Promise(() => {});
      else sink.fates.push(busy(60_000));
      append(2);
      await settled();
      const told = events.length;
      const deadline = new AbortController();
      let over = false;
      const stopped = pump.stop(deadline.signal).then(() => (over = true));
      await settled();
      expect(over).toBe(false);
      deadline.abort(new Error('the end'));
      await stopped;
      expect([written(), sink.closed, lag(), events.length]).toEqual([[], 1, 2, told]);
    },
  );

  test('with a deadline that has passed delivers nothing more', async () => {
    const { sink, pump, append, written, lag } = pumping();
    sink.stall = new Promise(() => {});
    append(2);
    await settled();
    await pump.stop(AbortSignal.abort(new Error('the end')));
    expect([written(), lag()]).toEqual([[], 2]);
  });
});
