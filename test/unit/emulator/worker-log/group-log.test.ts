import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import {
  appendLines,
  clearLog,
  createGroupLog,
  firstRetained,
  lineCount,
  linesBetween,
  setGrowthRate,
  writeText,
} from '../../../../src/emulator/state/worker-log.ts';
import type { GroupLog, LineSource } from '../../../../src/emulator/state/serverless.ts';
import { tailText } from '../../../support/emulated-log.ts';

function logAt(
  linesPerSecond: number,
  options: { source?: LineSource; retainedLines?: number } = {},
): GroupLog {
  const { source = { kind: 'generated', seed: 1 }, retainedLines = 100_000 } = options;
  return createGroupLog({ source, linesPerSecond, retainedLines, sinceMs: 0 });
}

function all(log: GroupLog, nowMs: number): string[] {
  return linesBetween(log, { from: 0, to: Infinity }, nowMs);
}

test('lines are the same whoever asks for them and when, and differ from seed to seed', () => {
  const whole = all(logAt(10), 100_000);
  expect(linesBetween(logAt(10), { from: 500, to: 520 }, 100_000)).toEqual(whole.slice(500, 520));
  expect(all(logAt(10, { source: { kind: 'generated', seed: 2 } }), 100_000)).not.toEqual(whole);
});

test('a generated log is an inference server: it starts, serves, repeats itself and fails', () => {
  const text = all(logAt(1_000), 20_000).join('\n');
  expect(text).toMatch(/Loading safetensors checkpoint shards: +0%[^\n]*\r[^\n]*100%/);
  expect(text).toContain('Uvicorn running on');
  expect(text).toMatch(/INFO 01-01 00:00:1\d \[logger\.py:39\] Received request chatcmpl-/);
  expect(text).toContain('Traceback (most recent call last):');
  expect(text).toContain('WARNING');
  expect(text).toMatch(/^(INFO: {5}127.*)\n\1$/m);
});

test('a line once written never changes, whatever happens to the log later', () => {
  const step = fc.oneof(
    fc.record({ kind: fc.constant('wait' as const), ms: fc.integer({ min: 0, max: 5_000 }) }),
    fc.record({ kind: fc.constant('rate' as const), rate: fc.double({ min: 0, max: 300, noNaN: true }) }),
    fc.record({ kind: fc.constant('append' as const), lines: fc.array(fc.string({ maxLength: 3 })) }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 30 }), (steps) => {
      const log = logAt(7);
      let nowMs = 0;
      let before: string[] = [];
      for (const action of steps) {
        if (action.kind === 'wait') nowMs += action.ms;
        else if (action.kind === 'rate') setGrowthRate(log, action.rate, nowMs);
        else appendLines(log, action.lines, nowMs);
        const now = all(log, nowMs);
        expect(now.slice(0, before.length)).toEqual(before);
        if (action.kind === 'append')
          expect(now.slice(before.length)).toEqual(action.lines.flatMap((line) => line.split('\n')));
        before = now;
      }
      expect(lineCount(log, nowMs)).toBe(before.length);
    }),
    { numRuns: 300 },
  );
});

test('lines appended every few milliseconds do not starve the growth', () => {
  const log = logAt(10);
  for (let nowMs = 0; nowMs < 10_000; nowMs += 7) appendLines(log, ['mine'], nowMs);
  const generated = all(log, 10_000).filter((line) => line !== 'mine');
  expect(generated.length).toBeGreaterThanOrEqual(99);
});

test('older lines than are retained are gone', () => {
  const log = logAt(1_000, { retainedLines: 100 });
  expect(firstRetained(log, 1_000)).toBe(900);
  expect(all(log, 1_000)).toEqual(all(logAt(1_000), 1_000).slice(900));
  expect(tailText(log, 10_000, 1_000).split('\n')).toHaveLength(101);
});

test('what is appended without end does not grow without end', () => {
  const log = logAt(0, { retainedLines: 10 });
  for (let line = 0; line < 1_000; line += 1) appendLines(log, [String(line)], line);
  expect(all(log, 1_000)).toEqual(Array.from({ length: 10 }, (_, index) => String(990 + index)));
  expect(JSON.stringify(log).length).toBeLessThan(1_000);
});

test('a replay writes the given lines at its rate, once or again and again', () => {
  const lines = ['a', 'b', 'c'];
  const onceOnly = logAt(1, { source: { kind: 'replay', lines, loop: false } });
  expect(all(onceOnly, 2_000)).toEqual(['a', 'b']);
  expect(all(onceOnly, 60_000)).toEqual(lines);
  setGrowthRate(onceOnly, 5, 60_000);
  expect(all(onceOnly, 120_000)).toEqual(lines);
  const loop = logAt(1, { source: { kind: 'replay', lines, loop: true } });
  expect(all(loop, 7_000).join('')).toBe('abcabca');
});

test('a tail ends with a line break, unless its last line is unfinished', () => {
  const log = logAt(0);
  expect(tailText(log, 5, 0)).toBe('');
  appendLines(log, ['one', 'two', 'three'], 0);
  expect(tailText(log, 2, 0)).toBe('two\nthree\n');
  writeText(log, 'load 10%', 0);
  expect(tailText(log, 2, 0)).toBe('three\nload 10%');
  writeText(log, '\rload 99%\nnext', 0);
  expect(tailText(log, 3, 0)).toBe('three\nload 10%\rload 99%\nnext');
  appendLines(log, ['after'], 0);
  expect(tailText(log, 3, 0)).toBe('load 10%\rload 99%\nnext\nafter\n');
});

test('unfinished text has no place in a log that grows by itself', () => {
  expect(() => writeText(logAt(1), 'x', 0)).toThrow('does not grow by itself');
});

test('a cleared log has only what comes after', () => {
  const log = logAt(10);
  clearLog(log, 1_000);
  expect(all(log, 1_000)).toEqual([]);
  expect(all(log, 1_500)).toEqual(all(logAt(10), 1_500).slice(10));
});
