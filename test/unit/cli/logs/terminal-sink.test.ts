import { expect, test } from 'vitest';
import { terminalSink } from '../../../../src/cli/logs/terminal-sink.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { batchOf } from '../../../support/log-records.ts';

const record = (seq: number): LogRecord => ({
  time: '2026-11-21T10:00:00.000001Z',
  workergroup_id: 7,
  epoch: 1,
  seq,
  line: `line ${seq}`,
});

test('of 10,000 lines the last 50 are shown, and all new ones, also where some never came for want of room', async () => {
  const shown: string[] = [];
  const sink = terminalSink({
    console: { out: (text) => void shown.push(text), taken: () => Promise.resolve() },
    tail: 50,
    format: (one) => `${one.seq} `,
  });
  sink.observe({ kind: 'lines', source: { kind: 'workergroup', id: 7 }, lines: 10_000, bytes: 0, at: 0 });
  const kept = Array.from({ length: 8_302 }, (_, index) => record(1_715 + index));
  for (let from = 0; from < kept.length; from += 1_000)
    await sink.write(batchOf(kept.slice(from, from + 1_000)), AbortSignal.abort());
  const expected = Array.from({ length: 66 }, (_, index) => String(9_951 + index));
  expect(shown.join('').trim().split(' ')).toEqual(expected);
});
