import * as fc from '../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../src/logs/events.ts';
import { memorySpool } from '../../support/memory-spool.ts';
import { formatMicros, type LogRecord } from '../../../src/logs/record.ts';
import { otlpSink, type OtlpSinkOptions } from '../../../src/logs/sinks/otlp.ts';
import { startPump } from '../../../src/logs/sinks/sink.ts';
import { until } from '../../support/daemon.ts';
import { batchOf, NEVER, numbers, progressAt, record } from '../../support/log-records.ts';
import { VirtualClock } from '../../support/log-time.ts';
import { startOtlpReceiver, type Fate } from '../../support/otlp-receiver.ts';

const START = Date.UTC(2025, 0, 1) * 1000;

/** A pump into a receiver: its waits are virtual, its connections real. */
function pumping(url: string, maxBytes?: number, options: Partial<OtlpSinkOptions> = {}) {
  const clock = new VirtualClock();
  const events: LogEvent[] = [];
  const observe = (event: LogEvent) => events.push(event);
  const spool = memorySpool(['otlp'], maxBytes, observe);
  const sink = otlpSink({ ...options, endpoint: url });
  const pump = startPump({ spool, sink, clock, random: () => 0, observe });
  let seq = 0;

  /** Numbered records with times that increase. */
  function append(size: number): void {
    const records = Array.from({ length: size }, (): LogRecord => {
      seq += 1;
      return Object.assign(record(seq), { time: formatMicros(START + seq) });
    });
    spool.append('workergroup/7', records, progressAt(seq));
    pump.wake();
  }

  /** Until the sink has settled for or against all there is, with as much virtual time as that takes. */
  function drained(): Promise<void> {
    return until(async () => {
      await clock.advance(1_000);
      return spool.lag('otlp') === 0;
    });
  }

  function count(kind: 'delivered' | 'dropped', reason?: string): number {
    return events.reduce((sum, event) => {
      if (event.kind !== kind || (event.kind === 'dropped' && event.reason !== (reason ?? event.reason)))
        return sum;
      return sum + event.records;
    }, 0);
  }

  const waits = () => events.flatMap((event) => (event.kind === 'sink failed' ? [event.retryInMs] : []));
  const stop = () => pump.stop(AbortSignal.abort());
  return { append, drained, count, waits, stop, events };
}

const seqsOf = (records: readonly { readonly attributes: Readonly<Record<string, unknown>> }[]) =>
  records.map(({ attributes }) => Number(attributes['seq']));
const upTo = (last: number) => numbers(1, last);

test('a receiver gets gzipped protobuf, or JSON if it knows no protobuf: the same records from both', async () => {
  await using protobuf = await startOtlpReceiver();
  await using json = await startOtlpReceiver();
  json.decide = ({ encoding }) => (encoding === 'json' ? 'accept' : { status: 415 });
  const place = { time: '2025-01-01T00:00:00.123456Z', workergroup_id: 7, epoch: 2 };
  const lines = ['plain', '', '\u001B[31mred\u001B[0m', 'a\0b', '10%\r100%', 'broken \uFFFD, whole 😀'];
  const records: LogRecord[] = [
    ...lines.map((line, index) => ({ ...place, seq: index + 1, line })),
    { ...place, seq: 7, gap: { reason: 'overrun', lost_min: 1, lost_estimate: 350 } },
    { ...place, workergroup_id: 9, seq: 1, line: 'of a level', level: 'debug0' },
  ];
  for (const { url } of [protobuf, json]) {
    const sink = otlpSink({ endpoint: url });
    await sink.write(batchOf(records.slice(0, 4)), NEVER);
    await sink.write(batchOf(records.slice(4)), NEVER);
    await sink.close();
  }
  expect(protobuf.requests.map(({ encoding }) => encoding)).toEqual(['protobuf', 'protobuf']);
  expect(json.requests.map(({ encoding }) => encoding)).toEqual(['protobuf', 'json', 'json']);
  expect(json.records).toEqual(protobuf.records);
  const received = protobuf.records;
  expect(received.map(({ body }) => body).slice(0, 6)).toEqual(lines);
  const time = BigInt(Date.UTC(2025, 0, 1)) * 1_000_000n + 123_456_000n;
  expect(received[0]).toEqual({
    resource: { 'service.name': 'pilotlight', 'service.instance.id': 'workergroup-7' },
    scope: 'pilotlight',
    time,
    observed: time,
    severity: '0 ',
    body: 'plain',
    attributes: { workergroup_id: 7, epoch: 2, seq: 1 },
  });
  expect(received[6]).toMatchObject({
    severity: '13 WARN',
    body: 'gap in the log (overrun): at least 1 lines lost, about 350',
    attributes: { seq: 7, 'gap.reason': 'overrun', 'gap.lost_min': 1, 'gap.lost_estimate': 350 },
  });
  expect(received[7]).toMatchObject({
    resource: { 'service.instance.id': 'workergroup-9' },
    severity: '5 DEBUG',
    attributes: { workergroup_id: 9, level: 'debug0' },
  });
});

describe('a receiver that does not take a batch', () => {
  test.each(['protobuf', 'json'] as const)(
    'partial success in %s: what it rejected is counted, and not sent again',
    async (wanted) => {
      await using receiver = await startOtlpReceiver();
      let told = false;
      receiver.decide = ({ encoding }) => {
        if (encoding !== wanted) return { status: 415 };
        const fate: Fate = told ? 'accept' : { reject: 3 };
        told = true;
        return fate;
      };
      const { append, drained, events, count, stop } = pumping(receiver.url);
      append(10);
      await drained();
      append(10);
      await drained();
      expect([count('delivered'), count('dropped', 'rejected')]).toEqual([17, 3]);
      expect(events).toContainEqual({
        kind: 'dropped',
        sink: 'otlp',
        records: 3,
        reason: 'rejected',
        message: 'too old',
      });
      expect(seqsOf(receiver.records)).toEqual([...upTo(7), ...upTo(20).slice(10)]);
      await stop();
    },
  );

  test.each<Fate>(['cut answer', 'hang answer'])('200 and then a %s counts as taken', async (fate) => {
    await using receiver = await startOtlpReceiver();
    receiver.fates.push(fate);
    const { append, drained, waits, count, stop } = pumping(receiver.url, undefined, { timeoutMs: 200 });
    append(5);
    await drained();
    append(5);
    await drained();
    expect(seqsOf(receiver.records)).toEqual(upTo(10));
    expect([count('delivered'), count('dropped'), waits()]).toEqual([10, 0, []]);
    await stop();
  });

  test('whatever it answers: delivered and dropped make up all, in order, and none comes twice but after a lost answer', async () => {
    const status = fc
      .constantFrom(400, 401, 404, 408, 413, 415, 429, 500, 503)
      .map((code): Fate => ({ status: code }));
    const fate = fc.oneof(
      status,
      fc.constantFrom<Fate>('accept', 'cut after', 'cut before'),
      fc.nat(40).map((reject): Fate => ({ reject })),
    );
    await fc.assert(
      fc.asyncProperty(
        fc.array(fc.record({ fates: fc.array(fate, { maxLength: 4 }), records: fc.nat(60) }), {
          maxLength: 6,
        }),
        async (turns) => {
          await using receiver = await startOtlpReceiver();
          const { append, drained, count, stop } = pumping(receiver.url, 20_000);
          let appended = 0;
          for (const { fates, records } of turns) {
            receiver.fates.push(...fates);
            append(records);
            appended += records;
          }
          await drained();
          await stop();
          const got = seqsOf(receiver.records);
          expect(count('delivered') + count('dropped')).toBe(appended);
          // A batch of which the answer was lost comes again, whole: then what is new goes on where it was.
          const firsts = got.filter((seq, index) => got.indexOf(seq) === index);
          // One that was refused alone and is taken when it is asked about again comes after those that were taken.
          const isRefused = ({ fates }: { fates: readonly Fate[] }) =>
            fates.some(
              (one) => typeof one === 'object' && 'status' in one && [400, 413, 422].includes(one.status),
            );
          if (!turns.some(isRefused)) expect(firsts).toEqual(firsts.toSorted((one, other) => one - other));
          const isCertain = turns.every(({ fates }) => !fates.includes('cut after'));
          if (isCertain) expect(got).toHaveLength(count('delivered'));
          expect(new Set(got).size).toBeGreaterThanOrEqual(count('delivered'));
        },
      ),
      { numRuns: 20 },
    );
  });
});
