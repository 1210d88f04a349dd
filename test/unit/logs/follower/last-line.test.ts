/** The last line of a log while it has no end, and lines that are redrawn. */
import { describe, expect, test } from 'vitest';
import { expectPicture, Pictured } from '../../../support/log-pictures.ts';

describe('of a service that ends its lines', () => {
  test.each([
    [
      'a last line waits until it has an end',
      'whole a b → a b \n whole a b ha… → - \n +60 whole a b ha… → - \n whole a b half → half',
    ],
    ['and is whole when others follow', 'whole a b ha… → a b \n whole a b half c → half c'],
    ['an older view does not end it', 'whole a b ha… → a b \n whole a b h… → - \n whole a b half → half'],
  ])('%s', (_name, picture) => void expectPicture(picture));
});

describe('of a service that never ends its last line', () => {
  test.each([
    ['the last line counts when another follows', 'whole a b c… → a b \n whole a b c d… → c'],
    ['or when it has rested', 'whole a… → - \n +2 whole a… → - \n +9 whole a… → a'],
    ['and is not delivered again when another follows', 'whole a… → - \n +9 whole a… → a \n whole a b… → -'],
    ['what it grows by is the rest of it', 'whole a… → - \n +9 whole a… → a \n whole abc b… → …bc'],
    ['also if it rests again', 'whole a… → - \n +9 whole a… → a \n whole abc… → - \n +9 whole abc… → …bc'],
  ])('%s', (_name, picture) => void expectPicture(picture));
});

test('a line that grows is activity: the next question comes soon', () => {
  const pictured = new Pictured();
  pictured.answer('a\n');
  const waits = Array.from(
    { length: 6 },
    (_, step) => pictured.answer(`a\n${'.'.repeat(step + 1)}`).next.delayMs,
  );
  expect(Math.max(...waits)).toBeLessThanOrEqual(2_000);
  expect(pictured.answer('a\n......').next.delayMs).toBeGreaterThan(waits.at(-1) ?? 0);
});

describe('carriage returns', () => {
  const linesOf = (...texts: string[]) => {
    const pictured = new Pictured();
    return texts.flatMap((text) =>
      pictured.answer(text).records.map((record) => ('line' in record ? record.line : record.gap)),
    );
  };

  test('of a line that is redrawn the last state counts', () => {
    expect(linesOf('  5%\r 50%\r100%\nready\n')).toEqual(['100%', 'ready']);
    expect(linesOf('a\n  5%\r 50%', 'a\n  5%\r 50%\r100%\nready\n')).toEqual(['a', '100%', 'ready']);
  });

  test('before a line’s end belong to the end', () => {
    expect(linesOf('a\r\nb\r\r\n', 'a\r\nb\r\r\nc\r\n')).toEqual(['a', 'b', 'c']);
  });
});

test('half of a character at the end is left for the next answer', () => {
  const pictured = new Pictured();
  pictured.answer('a\n模\uFFFD\uFFFD');
  expect(pictured.state.progress.streams['']?.pending?.text).toBe('模');
  expect(pictured.answer('a\n模型\n').records).toMatchObject([{ line: '模型' }]);
});
