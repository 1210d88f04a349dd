import { expect, test } from 'vitest';
import { CrashOutput } from '../../../../../src/heartbeat/process/supervisor.ts';

const OUT_OF_MEMORY = 'FATAL ERROR: Reached heap limit Allocation failed - JavaScript heap out of memory';

function wordsOf(...texts: readonly string[]): string {
  const output = new CrashOutput();
  for (const text of texts) output.add(text);
  return output.words;
}

test('of a fatal error Node says why before a long native stack', () => {
  const before =
    '\n<--- Last few GCs --->\n\n[1:0x1] 80 ms: Mark-Compact 40 (42) -> 39 (43) MB\n\n<--- JS stacktrace --->\n\n';
  const stack =
    '\n----- Native stack trace -----\n' + ' 1: 0x7 node::OOMErrorHandler(char const*) [node]\n'.repeat(40);
  expect(wordsOf(before + OUT_OF_MEMORY + stack)).toBe(OUT_OF_MEMORY);
  const [begin, end] = [OUT_OF_MEMORY.slice(0, 30), OUT_OF_MEMORY.slice(30)];
  expect(wordsOf(before, begin, `${end}\n`, stack, stack)).toBe(OUT_OF_MEMORY);
});

test('of anything else, what it said last', () => {
  expect(wordsOf()).toBe('');
  expect(wordsOf('Error: gone\n', '    at main.js:1\n')).toBe('Error: gone\n    at main.js:1');
  expect(wordsOf('x'.repeat(2_000), 'the end\n')).toHaveLength(499);
});
