import { expect, onTestFinished, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/answer.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { LogStore, TailRequest } from '../../../../src/logs/follow/group-follower.ts';
import { startLogPipeline, type LogPipelineOptions } from '../../../../src/logs/follow/pipeline.ts';
import type { LogSource } from '../../../../src/logs/record.ts';
import { linesOf } from '../../../support/log-polls.ts';
import { NEVER } from '../../../support/log-records.ts';
import { LogService } from '../../../support/log-service.ts';
import { CollectingSink } from '../../../support/log-sinks.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { memorySpool } from '../../../support/memory-spool.ts';

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);
const SEVEN: LogSource = { kind: 'workergroup', id: 7 };
const NINE: LogSource = { kind: 'workergroup', id: 9 };

interface Following extends Partial<Omit<LogPipelineOptions, 'fetchTail'>> {
  /** That the log has at first. */
  readonly lines?: number;
  /** What a poll comes to; if nothing, the log answers. */
  readonly fetchTail?: (request: TailRequest) => Promise<TailAnswer | undefined>;
}

/** A log that is followed from its beginning. */
function start({ lines = 0, fetchTail, ...options }: Following = {}) {
  const [log, clock, sink] = [new LogService(), new VirtualClock(), new CollectingSink()];
  log.writeLines(numbered(lines));
  const events: LogEvent[] = [];
  const pipeline = startLogPipeline({
    sources: [SEVEN],
    fetchTail: async (request) => (await fetchTail?.(request)) ?? log.answer(request.tail),
    spool: memorySpool(['stdout']),
    sinks: [sink],
    start: 'all',
    clock,
    random: () => 0.5,
    observe: (event) => events.push(event),
    ...options,
  });
  onTestFinished(() => pipeline.stop(AbortSignal.abort()).catch(() => {}));
  return { log, clock, sink, events, pipeline };
}

test('takes lines once their store has them, and rests: what was taken goes on to the sinks', async () => {
  const spool = memorySpool(['stdout']);
  const gate = Promise.withResolvers<void>();
  const store: LogStore = {
    beginning: (source) => spool.beginning(source),
    async append(...taken) {
      await gate.promise;
      spool.append(...(taken.slice(0, 3) as Parameters<typeof spool.append>));
    },
  };
  const stalled = Promise.withResolvers<void>();
  const { log, clock, sink, pipeline } = start({ lines: 3, spool, store });
  sink.stall = stalled.promise;
  await clock.advance(5_000);
  expect([sink.records, pipeline.view().logs[0]?.seq]).toEqual([[], 0]);
  gate.resolve();
  await clock.advance(5_000);
  await pipeline.rest();
  log.writeLines(numbered(3, 3));
  stalled.resolve();
  await clock.advance(60_000);
  expect([linesOf(sink.records), pipeline.view().logs]).toEqual([log.lines.slice(0, 3), []]);
});

test('never polls a group twice at a time, and lets no group wait for another', async () => {
  const open = new Map<number, number>();
  const slow = Promise.withResolvers<void>();
  let overlapped = false;
  const { clock, sink, pipeline } = start({
    lines: 3,
    sources: [SEVEN, { kind: 'workergroup', id: 8 }],
    async fetchTail({ source: { id } }) {
      const others = open.get(id) ?? 0;
      overlapped ||= others > 0;
      open.set(id, others + 1);
      if (id === 7) await slow.promise;
      open.set(id, others);
      return undefined;
    },
  });
  await clock.advance(30_000);
  expect(sink.records).toMatchObject(Array.from({ length: 3 }, () => ({ workergroup_id: 8 })));
  expect(pipeline.view().logs.map(({ state }) => state)).toEqual(['starting', 'following']);
  slow.resolve();
  await settled();
  expect(sink.records).toHaveLength(6);
  expect(overlapped).toBe(false);
});

test('gives up a poll that is not answered, and tries again', async () => {
  const requests: TailRequest[] = [];
  const { clock, events, pipeline } = start({
    fetchTail(request) {
      requests.push(request);
      return new Promise(() => {}); // never, and deaf to its signal
    },
  });
  await clock.advance(599_999);
  expect(requests).toHaveLength(1);
  await clock.advance(2_000);
  expect(requests).toHaveLength(2);
  expect(requests[0]?.signal.aborted).toBe(true);
  await pipeline.stop(NEVER);
  expect(requests[1]?.signal.aborted).toBe(true);
  expect(events).toMatchObject([{ kind: 'poll failed', failures: 1, reason: 'no answer within 600000 ms' }]);
});

test('backs off from errors, with jitter, up to half a minute, and returns to its pace', async () => {
  let failing = true;
  const { clock, events, pipeline } = start({
    lines: 1,
    fetchTail: async () => (failing ? { kind: 'error', reason: 'status 503' } : undefined),
  });
  await clock.advance(180_000);
  const waits = events.flatMap((event) => (event.kind === 'poll failed' ? [event.retryInMs] : []));
  expect(waits.slice(0, 8)).toEqual([750, 1_500, 3_000, 6_000, 12_000, 22_500, 22_500, 22_500]);
  expect(pipeline.view().logs[0]).toMatchObject({ state: 'failing', error: 'status 503' });
  failing = false;
  await clock.advance(22_500);
  expect(pipeline.view().logs[0]).toMatchObject({ state: 'following', lines: 1 });
  const recovered = events.filter(({ kind }) => kind === 'poll recovered');
  expect(recovered).toMatchObject([{ source: SEVEN, failures: waits.length }]);
});

test.each([
  [90_000, 90_000],
  [86_400_000, 120_000],
])('waits as long as the service asks for, within reason: %i ms', async (retryAfterMs, retryInMs) => {
  const fetchTail = () => Promise.resolve({ kind: 'error' as const, reason: 'status 429', retryAfterMs });
  const { events } = start({ fetchTail });
  await settled();
  expect(events[0]).toMatchObject({ retryInMs });
});

test('of a group that the service does not know yet says nothing', async () => {
  const fetchTail = () => Promise.resolve({ kind: 'error', reason: 'unknown', notFound: true } as const);
  const { events, pipeline } = start({ fetchTail });
  await settled();
  expect([events, pipeline.view().logs[0]?.state]).toEqual([[], 'starting']);
});

test('takes nothing that it cannot store, and takes it when it can', async () => {
  const spool = memorySpool(['stdout']);
  const append = spool.append.bind(spool);
  let full = true;
  spool.append = (...args) => {
    if (full) throw new Error('disk is full');
    return append(...args);
  };
  const { log, clock, sink, events, pipeline } = start({ lines: 5, spool });
  await clock.advance(5_000);
  expect(events.map(({ kind }) => kind)).toContain('spool failed');
  expect(pipeline.view().logs[0]).toMatchObject({ seq: 0, state: 'failing' });
  full = false;
  await clock.advance(30_000);
  expect(linesOf(sink.records)).toEqual(log.lines);
});

test('follows groups that are added, and goes on when one is removed and added again', async () => {
  const { log, clock, sink, pipeline } = start({ lines: 4, sources: [] });
  expect(pipeline.view().logs).toEqual([]);
  pipeline.add(NINE);
  pipeline.add(NINE);
  await clock.advance(2_000);
  await pipeline.remove(NINE);
  await pipeline.remove(NINE);
  log.writeLines(numbered(2, 4));
  await clock.advance(60_000);
  expect(sink.records).toHaveLength(4);
  pipeline.add(NINE);
  await clock.advance(2_000);
  expect(linesOf(sink.records)).toEqual(log.lines);
  expect(sink.records.at(-1)).toMatchObject({ workergroup_id: 9, epoch: 1, seq: 6 });
});

test('delivers what it has when told to stop, but no longer than the deadline', async () => {
  const { clock, sink, pipeline } = start({ lines: 4 });
  const stalled = Promise.withResolvers<void>();
  sink.stall = stalled.promise;
  await clock.advance(1_000);
  const deadline = new AbortController();
  let stopped = false;
  const stopping = pipeline.stop(deadline.signal).then(() => (stopped = true));
  await settled();
  expect(stopped).toBe(false);
  deadline.abort();
  await stopping;
  expect(sink).toMatchObject({ records: [], closed: 1 });
});

test('goes on when a sink or the spool fails to be read or closed', async () => {
  const spool = memorySpool(['stdout']);
  const take = spool.take.bind(spool);
  let reads = 0;
  spool.take = (sink) => {
    reads += 1;
    if (reads % 2 === 0) throw new Error('disk I/O error');
    return take(sink);
  };
  let closed = false;
  spool.close = () => void (closed = true);
  const { log, clock, sink, events, pipeline } = start({ lines: 4, spool });
  await clock.advance(20_000);
  expect(linesOf(sink.records)).toEqual(log.lines);
  expect(events).toContainEqual({ kind: 'spool failed', error: new Error('disk I/O error') });
  sink.close = () => Promise.reject(new Error('no space left'));
  const stopped = pipeline.stop(AbortSignal.abort());
  expect(pipeline.stop(NEVER)).toBe(stopped);
  await expect(stopped).rejects.toThrow('no space left');
  expect(closed).toBe(true);
});

test('tells what it does, for metrics and for a person', async () => {
  let older: TailAnswer | undefined;
  const { log, clock, events, pipeline } = start({ lines: 30, fetchTail: async () => older });
  await clock.advance(60_000);
  for (let second = 0; second < 300; second++) {
    log.writeLines(['größer', 'b']);
    await clock.advance(1_000);
  }
  older = { kind: 'text', text: 'line 0\n' };
  await clock.advance(5_000);
  older = undefined;
  await clock.advance(2_000);
  log.reset();
  log.writeLines(['anew']);
  await clock.advance(3_000);
  const of = (kind: LogEvent['kind']) => events.filter((event) => event.kind === kind);
  const [group] = pipeline.view().logs;
  expect(group).toMatchObject({ source: SEVEN, state: 'following', epoch: 2, seq: 632, lines: 631 });
  expect(group?.tailUnit).toBe('lines');
  expect([group?.staleAnswers, of('stale answer').length]).toEqual([5, 5]);
  expect(group?.gaps).toEqual({ overrun: 0, reset: 1, ambiguous: 0, handover: 0 });
  expect(group?.lastLines).toHaveLength(20);
  expect(group?.lastLines.at(-1)).toBe('anew');
  expect(group?.linesPerSecond).toBeCloseTo(2, 0);
  expect(group?.lastLineAt).toBeGreaterThan(clock.now() - 4_000);
  expect(pipeline.view().sinks).toEqual([{ name: 'stdout', lag: 0 }]);

  const sum = (kind: LogEvent['kind'], field: string) =>
    of(kind).reduce((total, event) => total + Number(Reflect.get(event, field)), 0);
  expect([sum('lines', 'lines'), sum('delivered', 'records'), of('gap').length]).toEqual([631, 632, 1]);
  expect(group?.bytes).toBe(Buffer.byteLength(numbered(30).join('')) + 300 * 9 + 4);
  expect(of('polled').length).toBeGreaterThan(100);
  expect(of('lines')).not.toContainEqual(expect.objectContaining({ lines: 0 }));
});

test.each([
  ['of unknown size counts as unknown, not as nothing', 'reset', null, 0, 1],
  ['of known size counts', 'reset', 5, 5, 0],
  ['that another replica has taken is none', 'handover', 5, 0, 0],
] as const)('a loss %s, and is a gap', async (_, reason, lost_estimate, lostEstimate, unknownGaps) => {
  const spool = memorySpool(['stdout']);
  spool.beginning = () => ({ epoch: 900, mark: { reason, lost_min: 0, lost_estimate } });
  const { clock, events, pipeline } = start({ lines: 3, spool });
  await clock.advance(1_000);
  const [group] = pipeline.view().logs;
  expect(group).toMatchObject({ gaps: { [reason]: 1 }, unknownGaps, lostEstimate });
  expect(events.find(({ kind }) => kind === 'gap')).toMatchObject({
    lostMin: 0,
    lostEstimate: lost_estimate,
  });
});
