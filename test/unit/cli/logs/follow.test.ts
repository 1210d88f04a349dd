import { expect, test } from 'vitest';
import { terminalSink, createNotes } from '../../../../src/cli/logs/follow.ts';
import { NO_TIMES, type WantedLog } from '../../../../src/cli/logs/print.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { batchOf } from '../../../support/log-records.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';

const NOW = Date.UTC(2026, 10, 27, 8);
const source = { kind: 'workergroup', id: 7 } as const;
const place = (seq: number) => ({ time: '2026-11-27T10:00:00.000001Z', workergroup_id: 7, epoch: 1, seq });
const record = (seq: number, line = `line ${seq}`, level?: string): LogRecord => ({
  ...place(seq),
  line,
  ...(level !== undefined && { level }),
});
const gapAt = (seq: number): LogRecord => ({
  ...place(seq),
  gap: { reason: 'reset', lost_min: 0, lost_estimate: null },
});

function sinkOf(wanted: Partial<WantedLog> = {}) {
  const shown: string[] = [];
  const sink = terminalSink({
    console: { out: (text) => void shown.push(text), taken: () => Promise.resolve() },
    wanted: { source, tail: 10_000, since: undefined, levels: [], grep: undefined, format: {}, ...wanted },
    say: (words) => shown.push(`(${words})\n`),
    refuse: (why) => shown.push(`refused: ${why}\n`),
    now: () => NOW,
  });
  const lines = () => shown.join('').trimEnd().split('\n');
  const write = (...records: readonly LogRecord[]) => sink.write(batchOf(records), AbortSignal.abort());
  const begin = (count: number) => sink.observe({ kind: 'lines', source, lines: count });
  return { sink, lines, write, begin };
}

test('of 10,000 lines the last 50 are shown, and all new ones, also where some never came for want of room', async () => {
  const { write, lines, begin } = sinkOf({ tail: 50 });
  begin(10_000);
  const kept = Array.from({ length: 8_302 }, (_, index) => record(1_715 + index));
  for (let from = 0; from < kept.length; from += 1_000) await write(...kept.slice(from, from + 1_000));
  expect(lines()).toEqual(Array.from({ length: 66 }, (_, index) => `line ${9_951 + index}`));
});

test('of each level the last ones are shown, in the order of their times', async () => {
  const { write, lines, begin } = sinkOf({ tail: 2 });
  begin(5);
  const at = (seconds: number) => `2026-11-27T07:00:0${seconds}Z at ${seconds}`;
  await write(record(1, at(1), 'info0'), record(2, at(3), 'info0'), record(3, at(5), 'info0'));
  await write(record(4, at(2), 'info1'), record(5, at(4), 'info1'), record(6, 'new', 'info0'));
  expect(lines()).toEqual([at(2), at(3), at(4), at(5), 'new']);
});

test('since a time: a line without one goes with the line before it', async () => {
  const { sink, write, lines, begin } = sinkOf({ since: NOW - 60_000 });
  sink.observe({ kind: 'gap', source, reason: 'overrun', lostMin: 0, lostEstimate: null });
  begin(4);
  await write(gapAt(1), record(2, 'INFO 11-27 07:58:59 old'), record(3, '  of the old'));
  await write(record(4, 'INFO 11-27 07:59:01 young'), record(5, '  of the young'), record(6, '07:00 new'));
  const gap = '(gap: the log began again here; the last lines before it may be lost)';
  expect(lines()).toEqual([gap, 'INFO 11-27 07:59:01 young', '  of the young', '07:00 new']);
});

test('since a time is refused if no line has one', async () => {
  const { write, lines, begin } = sinkOf({ since: 0 });
  begin(2);
  await write(record(1), record(2));
  expect(lines()).toEqual([`refused: ${NO_TIMES}`]);
});

test('lines that match are shown as a terminal shows them, and gaps beside them; as JSON gaps are records', async () => {
  const [text, json] = [sinkOf({ grep: /^red/u }), sinkOf({ grep: /^red/u, format: { json: true } })];
  const records = [record(1, '\u001B[31mred\u001B[0m'), record(2, 'blue'), gapAt(3), record(4, 'redder')];
  for (const { write } of [text, json]) await write(...records);
  expect(text.lines()).toEqual([
    'red',
    '(gap: the log began again here; the last lines before it may be lost)',
    'redder',
  ]);
  expect(json.lines().map((line) => (JSON.parse(line) as LogRecord).seq)).toEqual([1, 3, 4]);
});

const dropped = (records: number): LogEvent => ({
  kind: 'dropped',
  sink: 'terminal',
  records,
  reason: 'overflow',
});
const DELIVERED: LogEvent = { kind: 'delivered', sink: 'terminal', records: 1 };
const failed = { kind: 'poll failed', reason: 'status 503' } as unknown as LogEvent;
const polled = (roundTripMs = 20) => ({ kind: 'polled', roundTripMs }) as unknown as LogEvent;
const DROPPED = 'lines are dropped: the output is too slow for them';

test.each<[string, readonly LogEvent[], readonly string[]]>([
  [
    'lines that are dropped, and how many when it is over, or at the end',
    [DELIVERED, dropped(3), dropped(4), DELIVERED, DELIVERED, dropped(5)],
    [
      DROPPED,
      '7 lines were dropped, for the output was too slow',
      DROPPED,
      '5 lines were dropped, for the output was too slow',
    ],
  ],
  [
    'a service that does not answer',
    [polled(), failed, failed, polled(), polled()],
    ['status 503; trying again, nothing is lost yet', 'following again'],
  ],
  [
    'a delay',
    [polled(4_900), polled(38_000), polled(9_000), polled()],
    ['lines come 38 s late: the service is slow, or limits this key', 'lines come in time again'],
  ],
])('told when it begins, and when it is over: %s', (_name, events, words) => {
  const said: string[] = [];
  const notes = createNotes((text) => said.push(text));
  for (const event of events) notes.observe(event);
  notes.end();
  expect(said).toEqual(words);
});
