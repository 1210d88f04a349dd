/** How a log goes on: when its next line comes, and what becomes of text that has no end yet. */
import { expect, test } from 'vitest';
import type { GroupLog, LineSource } from '../../../../src/emulator/state/endpoints.ts';
import {
  appendLines,
  clearLog,
  clockText,
  createGroupLog,
  growthRate,
  lineCount,
  linesBetween,
  setGrowth,
  setGrowthRate,
  tailText,
  writeText,
} from '../../../../src/emulator/worker-log/group-log.ts';
import { createInferenceLog } from '../../../../src/emulator/worker-log/inference-log.ts';

const inferenceLog = createInferenceLog();
const GENERATED: LineSource = { kind: 'generated', seed: 1 };

function logOf(linesPerSecond: number, source: LineSource, retainedLines = 100): GroupLog {
  return createGroupLog({ source, linesPerSecond, retainedLines, sinceMs: 0 });
}
const replay = (lines: readonly string[], loop: boolean): LineSource => ({ kind: 'replay', lines, loop });
const tail = (log: GroupLog, nowMs: number, units = 10) => tailText(log, units, nowMs, inferenceLog);

test('the next line comes when it would have come anyway, whatever is appended before', () => {
  const log = logOf(0.5, replay(['a', 'b', 'c'], true));
  appendLines(log, ['x'], 3_900);
  expect([lineCount(log, 3_999), lineCount(log, 4_000), lineCount(log, 6_000)]).toEqual([2, 3, 4]);
  expect(tail(log, 8_000)).toBe('a\nx\nb\nc\na\n');
});

test('another rate counts from now on, and none stops it', () => {
  const log = logOf(1, replay(['a', 'b', 'c', 'd'], true));
  setGrowthRate(log, 0, 2_900);
  expect([growthRate(log), tail(log, 60_000)]).toEqual([0, 'a\nb\n']);
  setGrowthRate(log, 2, 60_000);
  expect([tail(log, 60_499), tail(log, 60_500), tail(log, 61_000)]).toEqual([
    'a\nb\n',
    'a\nb\nc\n',
    'a\nb\nc\nd\n',
  ]);
});

test('a log that is replayed once ends with its last line, and an empty one has none', () => {
  expect(tail(logOf(1, replay(['a', 'b'], false)), 60_000)).toBe('a\nb\n');
  expect(tail(logOf(1, replay([], true)), 60_000)).toBe('');
  const log = logOf(1, replay(['a', 'b', 'c'], false));
  appendLines(log, ['x', 'y\nz'], 1_000);
  expect(tail(log, 60_000)).toBe('a\nx\ny\nz\nb\nc\n');
});

test('text without an end is the last of what there is, until more of it comes', () => {
  const log = logOf(0, replay([], false));
  writeText(log, 'one\ntw', 0);
  expect([tail(log, 0), tail(log, 0, 1), lineCount(log, 0)]).toEqual(['one\ntw', 'tw', 1]);
  writeText(log, 'o\nthr', 0);
  expect(tail(log, 0)).toBe('one\ntwo\nthr');
  appendLines(log, ['four'], 0);
  expect([tail(log, 0), tail(log, 0, 1)]).toEqual(['one\ntwo\nthr\nfour\n', 'four\n']);
  writeText(log, 'x', 0);
  clearLog(log, 0);
  expect([tail(log, 0), lineCount(log, 0)]).toEqual(['', 4]);
  expect(() => writeText(logOf(1, GENERATED), 'x', 0)).toThrow('that does not grow by itself');
});

test('scenes change from now on; the same again, and a log that is replayed, stay as they are', () => {
  const log = logOf(1, GENERATED);
  const before = linesBetween(log, { from: 0, to: 5 }, 5_000, inferenceLog);
  setGrowth(log, { linesPerSecond: 1, scenes: 'all' }, 5_000);
  expect(log.segments).toHaveLength(1);
  setGrowth(log, { linesPerSecond: 4, scenes: 'idle' }, 5_000);
  expect([log.segments.length, growthRate(log), lineCount(log, 6_000)]).toEqual([2, 4, 9]);
  expect(linesBetween(log, { from: 0, to: 5 }, 6_000, inferenceLog)).toEqual(before);
  expect(linesBetween(log, { from: 5, to: 9 }, 6_000, inferenceLog).join('\n')).toMatch(
    /^INFO.*(?:health|0\.0 tokens)/,
  );
  const replayed = logOf(1, replay(['a'], true));
  setGrowth(replayed, { linesPerSecond: 9, scenes: 'busy' }, 0);
  expect(growthRate(replayed)).toBe(1);
});

test('what is no longer retained is forgotten, a long piece at twice its size', () => {
  const log = logOf(0, replay([], false), 3);
  for (const line of ['1', '2', '3', '4', '5']) appendLines(log, [line], 0);
  expect(tail(log, 0)).toBe('3\n4\n5\n');
  expect(log.segments[0]).toMatchObject({ kind: 'literal', first: 0 });
  appendLines(log, ['6'], 0);
  expect(log.segments[0]).toMatchObject({ kind: 'literal', first: 3, lines: ['4', '5', '6'] });
  expect(linesBetween(log, { from: 0, to: 99 }, 0, inferenceLog)).toEqual(['4', '5', '6']);
});

test('a made-up line has the time at which it was written', () => {
  expect(clockText(Date.UTC(2026, 9, 8, 9, 15, 2, 700))).toBe('10-08 09:15:02');
  const [first, second] = linesBetween(logOf(0.5, GENERATED), { from: 0, to: 2 }, 4_000, inferenceLog);
  expect([first, second]).toEqual([
    'INFO 01-01 00:00:02 [__init__.py:239] Automatically detected platform cuda.',
    'INFO 01-01 00:00:04 [api_server.py:1043] vLLM API server version 0.8.5',
  ]);
});

test('lines of a seed stay what they are, however many others are asked for between', () => {
  const first = inferenceLog.line(5, 100, 'busy');
  expect(inferenceLog.line(6, 100, 'busy')).not.toBe(first);
  for (let block = 0; block < 600; block += 1) inferenceLog.line(7, block * 64, 'idle');
  expect(inferenceLog.line(5, 100, 'busy')).toBe(first);
  expect(inferenceLog.line(5, 0)).toContain('Automatically detected platform cuda');
  expect(inferenceLog.line(5, 0, 'busy')).not.toContain('Automatically detected');
});
