import { type Batch, createBatch } from '../../src/logs/spool/spool-database.ts';
import type { GroupProgress } from '../../src/logs/follower/group.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { EMPTY_STREAM, type Window } from '../../src/logs/follower/stream.ts';
import { hashesOf } from '../../src/logs/answer.ts';

export function record(seq: number, line = `line ${seq}`): LogRecord {
  return { time: '2025-01-01T00:00:00.000000Z', workergroup_id: 7, epoch: 1, seq, line };
}

export function recordsFrom(seq: number, count: number): readonly LogRecord[] {
  return Array.from({ length: count }, (_, index) => record(seq + index));
}

export function numbers(from: number, to: number): number[] {
  return Array.from({ length: to - from + 1 }, (_, index) => from + index);
}

export const NEVER = new AbortController().signal;

export function batchOf(records: readonly LogRecord[]): Batch {
  const bytes = Buffer.from(records.map((one) => `${JSON.stringify(one)}\n`).join(''));
  return createBatch({ bytes, count: records.length });
}

export function progressAt(seq: number, lines: readonly string[] = [], from = 0): GroupProgress {
  const stream = { ...EMPTY_STREAM, window: windowOf(lines, from), endsLines: true };
  return { epoch: 1, seq, time: seq, streams: { '': stream } };
}

export function windowOf(lines: readonly string[], from = 0): Window {
  return { from, hashes: hashesOf(lines) };
}

/** @throws Error when a line of `part` is not in `whole`, or not in its order. */
export function expectSubsequence(part: readonly string[], whole: readonly string[]): void {
  let at = 0;
  for (const line of part) {
    at = whole.indexOf(line, at) + 1;
    if (at === 0) throw new Error(`not in order: ${line}`);
  }
}

/** Of a line that was drawn again and again, the last state. */
export function asDelivered(written: readonly string[]): readonly string[] {
  return written.map((line) => line.split('\r').at(-1) ?? '');
}
