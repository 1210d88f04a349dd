/** How a pump waits, and how it ends. */
import { describe, expect, test } from 'vitest';
import type { LogEvent } from '../../../../src/logs/events.ts';
import { startPump } from '../../../../src/logs/sinks/pump.ts';
import { SinkBusy, type Acceptance, type Sink } from '../../../../src/logs/sinks/sink.ts';
import { memorySpool } from '../../../support/memory-spool.ts';
import type { Spool } from '../../../../src/logs/spool/spool.ts';
import { progressAt, recordsFrom } from '../../../support/log-records.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';

class ScriptedSink implements Sink {
  readonly name = 'scripted';
  readonly written: number[] = [];
  readonly at: number[] = [];
  closed = 0;
  /** What the next writes come to; then all are accepted. */
  readonly fates: (Acceptance | Error | Promise<Acceptance>)[] = [];
  readonly #clock: VirtualClock;

  constructor(clock: VirtualClock) {
    this.#clock = clock;
  }

  async write({ records }: Parameters<Sink['write']>[0], signal: AbortSignal): Promise<Acceptance> {
    this.at.push(this.#clock.now());
    const fate = this.fates.shift() ?? { rejected: 0 };
    if (fate instanceof Error) throw fate;
    const aborted = new Promise<never>((_, reject) =>
      signal.addEventListener('abort', () => reject(signal.reason as Error)),
    );
    const acceptance = await Promise.race([fate, aborted]);
    this.written.push(...records.map(({ seq }) => seq));
    return acceptance;
  }

  async close(): Promise<void> {
    this.closed += 1;
  }
}

/** All that a pump uses. */
type PumpedSpool = Pick<Spool, 'take' | 'acknowledge'>;

function pumping(change: (spool: PumpedSpool) => PumpedSpool = (spool) => spool) {
  const clock = new VirtualClock(0);
  const sink = new ScriptedSink(clock);
  const memory = memorySpool(['scripted']);
  const events: LogEvent[] = [];
  const spool = change(memory) as Spool;
  const pump = startPump({ spool, sink, clock, random: () => 0, observe: (event) => events.push(event) });
  let seq = 0;
  function append(count: number): void {
    memory.append('workergroup/7', recordsFrom(seq + 1, count), progressAt(seq + count));
    seq += count;
    pump.wake();
  }
  return { clock, sink, memory, events, pump, append };
}

const NEVER = new AbortController().signal;
const busy = (retryAfterMs: number | undefined) => new SinkBusy('busy', { retryAfterMs, advice: undefined });

describe('a sink that fails', () => {
  test.each([
    ['for itself', new Error('away'), 500],
    ['and asks for less than it would wait anyway', busy(100), 500],
    ['and asks for more', busy(7_000), 7_000],
    ['and does not say for how long', busy(undefined), 500],
    ['and asks for a day', busy(86_400_000), 300_000],
  ])('%s is left alone for so long', async (_what, error, ms) => {
    const { clock, sink, events, pump, append } = pumping();
    sink.fates.push(error);
    append(1);
    await clock.advance(ms - 1);
    expect(sink.at).toEqual([0]);
    await clock.advance(1);
    expect([sink.at, sink.written]).toEqual([[0, ms], [1]]);
    expect(events).toEqual([
      { kind: 'sink failed', sink: 'scripted', error, failures: 1, retryInMs: ms },
      { kind: 'delivered', sink: 'scripted', records: 1 },
      { kind: 'sink recovered', sink: 'scripted', failures: 1 },
    ]);
    await pump.stop(NEVER);
  });

  test('again and again is left alone for longer, and told so', async () => {
    const { clock, sink, events, pump, append } = pumping();
    for (let failure = 0; failure < 3; failure += 1) sink.fates.push(new Error('away'));
    append(1);
    await clock.advance(60_000);
    expect(sink.at).toEqual([0, 500, 1_500, 3_500]);
    expect(events.slice(0, 3)).toMatchObject([{ failures: 1 }, { failures: 2 }, { failures: 3 }]);
    sink.fates.push(new Error('away'));
    append(1);
    await clock.advance(600);
    // It has taken something meanwhile.
    expect(events.slice(-3)).toMatchObject([
      { kind: 'sink failed', failures: 1 },
      { kind: 'delivered' },
      { kind: 'sink recovered', failures: 1 },
    ]);
    await pump.stop(NEVER);
  });
});

test('what a sink refuses is counted with its reason, and what it takes beside', async () => {
  const { clock, sink, events, pump, append } = pumping();
  sink.fates.push({ rejected: 2, message: 'too old' }, { rejected: 1 });
  append(3);
  await clock.advance(1);
  append(1);
  await clock.advance(1);
  expect(events).toEqual([
    { kind: 'delivered', sink: 'scripted', records: 1 },
    { kind: 'dropped', sink: 'scripted', records: 2, reason: 'rejected', message: 'too old' },
    { kind: 'dropped', sink: 'scripted', records: 1, reason: 'rejected' },
  ]);
  await pump.stop(NEVER);
});

describe('a spool that fails', () => {
  test('to give is asked again, after longer and longer waits', async () => {
    let failures = 3;
    const asked: number[] = [];
    let now = (): number => 0;
    const { clock, sink, events, pump, append } = pumping((spool) => ({
      take(name) {
        asked.push(now());
        failures -= 1;
        if (failures >= 0) throw new Error('corrupt');
        return spool.take(name);
      },
      acknowledge: (name) => spool.acknowledge(name),
    }));
    now = () => clock.now();
    append(1);
    await clock.advance(10_000);
    expect(asked.slice(0, 4)).toEqual([0, 500, 1_500, 3_500]);
    expect(sink.written).toEqual([1]);
    expect(events.slice(0, 3)).toEqual(
      Array.from({ length: 3 }, () => ({ kind: 'spool failed', error: new Error('corrupt') })),
    );
    // What is over does not count against it.
    [failures, asked.length] = [2, 0];
    append(1);
    await clock.advance(10_000);
    expect(asked.slice(0, 3)).toEqual([10_000, 10_500, 11_500]);
    expect(sink.written).toEqual([1, 2]);
    await pump.stop(NEVER);
  });

  test('to note what was delivered is told, and the records count as delivered', async () => {
    let failures = 1;
    const { clock, events, pump, append } = pumping((spool) => ({
      take: (name) => spool.take(name),
      acknowledge(name) {
        spool.acknowledge(name);
        failures -= 1;
        if (failures >= 0) throw new Error('full');
      },
    }));
    append(1);
    await clock.advance(10);
    expect(events.slice(0, 2)).toEqual([
      { kind: 'spool failed', error: new Error('full') },
      { kind: 'delivered', sink: 'scripted', records: 1 },
    ]);
    await pump.stop(NEVER);
  });
});

describe('the end', () => {
  test('comes when all is delivered, and closes the sink', async () => {
    const { sink, memory, pump, append } = pumping();
    append(3);
    await pump.stop(NEVER);
    expect([sink.written, sink.closed, memory.standing('scripted').lag]).toEqual([[1, 2, 3], 1, 0]);
  });

  test('of one that waits for news comes at once', async () => {
    const { clock, sink, pump } = pumping();
    await clock.advance(10);
    await pump.stop(NEVER);
    expect(sink.closed).toBe(1);
  });

  test('of one that hangs comes with the deadline, and what it did not take stays', async () => {
    const { clock, sink, memory, events, pump, append } = pumping();
    sink.fates.push(new Promise(() => {}));
    append(2);
    await clock.advance(10);
    const deadline = new AbortController();
    let over = false;
    const stopped = pump.stop(deadline.signal).then(() => (over = true));
    await settled();
    expect(over).toBe(false);
    deadline.abort(new Error('the end'));
    await stopped;
    expect([sink.closed, memory.standing('scripted').lag, events]).toEqual([1, 2, []]);
  });

  test('with a deadline that has passed delivers nothing more', async () => {
    const { sink, memory, pump, append } = pumping();
    sink.fates.push(new Promise(() => {}));
    append(2);
    await settled();
    await pump.stop(AbortSignal.abort(new Error('the end')));
    expect([sink.written, memory.standing('scripted').lag]).toEqual([[], 2]);
  });

  test('of one that waits after a failure comes with the deadline', async () => {
    const { sink, pump, append } = pumping();
    sink.fates.push(busy(60_000));
    append(1);
    await settled();
    const deadline = new AbortController();
    const stopped = pump.stop(deadline.signal);
    await settled();
    deadline.abort();
    await stopped;
    expect([sink.written, sink.closed]).toEqual([[], 1]);
  });
});
