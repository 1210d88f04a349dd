import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { isFull, readText, standalone } from '../../../../src/logs/tail/tail-text.ts';

describe('readText', () => {
  test.each([
    ['a\nb\n', { lines: ['a', 'b'] }],
    ['a\nb', { lines: ['a'], unended: 'b' }],
    ['a\r\nb\r\n', { lines: ['a', 'b'] }],
    ['\n\na\n', { lines: ['', '', 'a'] }],
    ['10%\r20%\r30%', { lines: [], unended: '10%\r20%\r30%' }],
    ['10%\r20%\r', { lines: [], unended: '10%\r20%' }],
    ['10%\r100%\r\ndone\n', { lines: ['10%\r100%', 'done'] }],
    ['half \uD83D\nwhole 😀\n', { lines: ['half \uFFFD', 'whole 😀'] }],
    ['', { lines: [] }],
  ])('%j', (text, expected) => {
    expect(readText(text)).toEqual(expected);
  });

  test('gives back any text of ended lines', () => {
    fc.assert(
      fc.property(
        fc.array(fc.string({ unit: 'binary' }).map((line) => line.replace(/[\r\n]/g, '_'))),
        (lines) => {
          expect(readText(lines.map((line) => `${line}\n`).join(''))).toEqual({ lines });
        },
      ),
    );
  });
});

test('a tail is full when as many lines came as were asked for, with a blank last piece counted or not', () => {
  expect(isFull(readText('a\nb\nc\n'), 3)).toBe(true);
  expect(isFull(readText('a\nb\nc'), 3)).toBe(true);
  expect(isFull(readText('b\nc\n'), 3)).toBe(true);
  expect(isFull(readText('a\nb\n'), 4)).toBe(false);
});

test('a standalone line is the same line', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (line) => {
      expect(standalone(line)).toBe(line);
    }),
  );
});
