import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { GroupProgress } from '../../../../src/logs/follower/group.ts';
import { memorySpool } from '../../../support/memory-spool.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { LineOutput } from '../../../../src/logs/sinks/line-output.ts';
import { startPump } from '../../../../src/logs/sinks/pump.ts';
import type { Sink } from '../../../../src/logs/sinks/sink.ts';
import { stdoutSink } from '../../../../src/logs/sinks/stdout.ts';
import { BATCH_RECORDS } from '../../../../src/logs/spool/spool-database.ts';
import { CollectingSink } from '../../../support/log-sinks.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';

const PROGRESS: GroupProgress = {
  epoch: 1,
  seq: 0,
  time: 0,
  bytesPerLine: 100,
  linesPerSecond: 0,
  streams: {},
};
const NEVER = new AbortController().signal;

function record(seq: number, line = `line ${seq}`): LogRecord {
  return { time: '2025-01-01T00:00:00.000000Z', workergroup_id: 7, epoch: 1, seq, line };
}

function pumping(sink: Sink, maxBytes?: number) {
  const clock = new VirtualClock();
  const events: LogEvent[] = [];
  const observe = (event: LogEvent) => events.push(event);
  const spool = memorySpool([sink.name], maxBytes, observe);
  const pump = startPump({ spool, sink, clock, random: () => 0, observe });
  let seq = 0;
  const append = (count: number) => {
    const records = Array.from({ length: count }, () => record((seq += 1)));
    const before = spool.standing(sink.name).dropped;
    spool.append('workergroup/7', records, PROGRESS);
    pump.wake();
    return spool.standing(sink.name).dropped - before;
  };
  return { spool, clock, events, pump, append };
}

describe('a sink', () => {
  test('that stalls or fails gets everything in order, or a count of what it missed', async () => {
    const turn = fc.record({
      records: fc.integer({ min: 0, max: 400 }),
      next: fc.constantFrom('nothing', 'stall', 'flow', 'fail'),
    });
    await fc.assert(
      fc.asyncProperty(fc.array(turn, { maxLength: 30 }), async (turns) => {
        const sink = new CollectingSink();
        const { spool, clock, pump, append } = pumping(sink, 100_000);
        let stall = Promise.withResolvers<void>();
        let [appended, dropped] = [0, 0];
        for (const { records, next } of turns) {
          if (next === 'fail') sink.failures = 1;
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
        const seqs = sink.records.map(({ seq }) => seq);
        expect(seqs).toEqual(seqs.toSorted((one, other) => one - other));
        expect(new Set(seqs).size).toBe(seqs.length);
        expect(dropped).toBe(appended - seqs.length);
        expect(spool.standing('stdout')).toEqual({ lag: 0, dropped });
        await pump.stop(NEVER);
      }),
      { numRuns: 50 },
    );
  });

  test('that fails is tried again with the same records, after longer and longer waits', async () => {
    const sink = new CollectingSink();
    const { clock, events, append } = pumping(sink);
    sink.failures = 3;
    append(5);
    await clock.advance(500 + 1_000 + 2_000);
    expect(events).toMatchObject([
      { kind: 'sink failed', failures: 1, retryInMs: 500 },
      { kind: 'sink failed', failures: 2, retryInMs: 1_000 },
      { kind: 'sink failed', failures: 3, retryInMs: 2_000 },
      { kind: 'delivered', records: 5 },
      { kind: 'sink recovered', failures: 3 },
    ]);
    expect(sink.records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
  });

  test('that refuses some records for good has them counted', async () => {
    const sink: Sink = {
      name: 'otlp',
      write: () => Promise.resolve({ rejected: 2 }),
      close: () => Promise.resolve(),
    };
    const { events, append } = pumping(sink);
    append(5);
    await settled();
    expect(events).toEqual([
      { kind: 'delivered', sink: 'otlp', records: 3 },
      { kind: 'dropped', sink: 'otlp', records: 2, reason: 'rejected' },
    ]);
  });
});

describe('standard output', () => {
  test('that is blocked holds one batch, and the rest waits in the spool', async () => {
    let held = 0;
    const blocked = new LineOutput((bytes, signal) => {
      held += bytes.length;
      return new Promise((_, reject) =>
        signal.addEventListener('abort', () => reject(signal.reason), { once: true }),
      );
    });
    const { spool, pump, append } = pumping(stdoutSink(blocked), 500_000);
    let dropped = 0;
    for (let turn = 0; turn < 50; turn++) {
      dropped += append(1_000);
      await settled();
    }
    expect(held).toBeLessThan(BATCH_RECORDS * 200);
    expect(spool.standing('stdout').lag + dropped).toBe(50_000);
    expect(spool.standing('stdout').lag).toBeLessThan(10_000);
    await pump.stop(AbortSignal.abort());
  });
});
