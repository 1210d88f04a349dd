import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { beginningOf, hashOfKept, isEndOf, keptLine } from '../../../../src/logs/tail/kept-line.ts';
import { hashOf } from '../../../../src/logs/tail/line-hash.ts';

/** Well-formed, as lines are; some begin with what marks a line of which not all is kept. */
const line = fc
  .tuple(fc.constantFrom('', '\u0001', '\u000112 5 '), fc.string({ unit: 'binary', maxLength: 400 }))
  .map(([begin, rest]) => (begin + rest).toWellFormed().replaceAll('\n', ' '));

test('a line of up to 128 characters is kept as it is', () => {
  for (const text of ['', 'a', 'é'.repeat(128)]) expect(keptLine(text)).toBe(text);
});

test('a longer one takes no more than a part of that beside its end, however long it is', () => {
  expect(keptLine('a'.repeat(129)).length).toBeLessThan(160);
  expect(keptLine('a'.repeat(5_000_000)).length).toBeLessThan(170);
});

test('a kept line has the hash of the whole one, and what is kept is text that UTF-8 can have', () => {
  fc.assert(
    fc.property(line, (text) => {
      const kept = keptLine(text);
      expect(hashOfKept(kept)).toBe(hashOf(text));
      expect(kept.isWellFormed()).toBe(true);
      expect(hashOfKept(Buffer.from(kept).toString())).toBe(hashOf(text));
    }),
  );
});

test('no character is halved', () => {
  for (const text of ['😀'.repeat(100), `${'😀'.repeat(100)}x`]) {
    expect(keptLine(text).isWellFormed()).toBe(true);
    expect(isEndOf(text, keptLine(text))).toBe(true);
  }
});

test('every end of a line is one, also where a character is cut; another text is none', () => {
  fc.assert(
    fc.property(line, line, fc.nat(), (text, other, draw) => {
      const kept = keptLine(text);
      const cut = draw % (text.length + 1);
      const end = text.slice(cut).replace(/^[\uDC00-\uDFFF]/, '\uFFFD');
      expect(isEndOf(end, kept)).toBe(true);
      expect(isEndOf(`\uFFFD${text.slice(text.length >> 1).toWellFormed()}`, kept)).toBe(true);
      if (text !== '') expect(isEndOf(`${text}x`, kept)).toBe(false);
      if (!text.endsWith(other.replace(/^\uFFFD{1,3}/, '').slice(-100)))
        expect(isEndOf(other, kept)).toBe(false);
    }),
  );
  expect(isEndOf(`${'b'.repeat(300)}x`, keptLine(`${'a'.repeat(300)}x`))).toBe(false);
  // Longer than the line, though it ends alike.
  expect(isEndOf('a'.repeat(301), keptLine('a'.repeat(300)))).toBe(false);
  expect([isEndOf(undefined, 'a'), isEndOf('a', undefined)]).toEqual([false, false]);
});

test('a line that begins with a kept one tells the whole of that, and no other does', () => {
  fc.assert(
    fc.property(line, line, (text, more) => {
      expect(beginningOf(text + more, keptLine(text))).toBe(text);
      if (!more.startsWith(text)) expect(beginningOf(more, keptLine(text))).toBeUndefined();
    }),
  );
  expect(beginningOf('a'.repeat(299), keptLine('a'.repeat(300)))).toBeUndefined();
});
