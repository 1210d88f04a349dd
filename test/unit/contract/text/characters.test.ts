import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { countCharacters, textUpTo } from '../../../../src/contract/text/characters.ts';

test('a character is a code point, whatever it takes in UTF-16', () => {
  expect(['', 'abc', 'äöü', '🔥🔥', '\uD83D'].map((text) => countCharacters(text))).toEqual([0, 3, 3, 2, 1]);
});

test('a text is taken up to its limit, and one character more is not', () => {
  const upTo10 = textUpTo(10);
  fc.assert(
    fc.property(fc.string({ unit: 'binary', minLength: 5, maxLength: 15 }), (text) => {
      expect(upTo10.safeParse(text).success).toBe(Array.from(text).length <= 10);
    }),
  );
  expect(upTo10.safeParse('🔥'.repeat(11)).error?.issues).toMatchObject([{ code: 'too_big', maximum: 10 }]);
});
