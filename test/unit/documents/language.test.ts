import { describe, expect, test } from 'vitest';
import { DOCUMENTS, proseOf, textOf } from '../../docs/documents.ts';
import { commentsByRoom, lengthsOf, sentencesOf, turnsOf } from '../../docs/language.ts';

/** Three screens, without code blocks and generated tables. */
const ROOM_LINES = 180;
const README_LINES = 150;

describe.each([
  ...DOCUMENTS.map((document) => [document, textOf(document)] as const),
  ...Array.from(commentsByRoom(), ([room, text]) => [`comments of ${room}`, text] as const),
])('%s', (_, text) => {
  test('has short sentences', () => {
    const { mean, long } = lengthsOf(sentencesOf(text));
    expect(mean).toBeLessThanOrEqual(14);
    expect(long).toBeLessThanOrEqual(0.03);
  });

  test('has no turn of phrase that plain English does without', () => {
    expect(turnsOf(text)).toEqual([]);
  });
});

test.each(DOCUMENTS.filter((document) => /^src\/.*README\.md$/.test(document)))(
  '%s is read in three screens',
  (room) => {
    expect(proseOf(textOf(room)).split('\n').length).toBeLessThanOrEqual(ROOM_LINES);
  },
);

test('the README is short', () => {
  expect(textOf('README.md').split('\n').length).toBeLessThanOrEqual(README_LINES);
});

test('a long sentence, a passage without a full stop, and a turn are found', () => {
  const long = `Since ${'word '.repeat(30)}ends here. A short one follows.`;
  expect(lengthsOf(sentencesOf(long)).long).toBe(0.5);
  expect(lengthsOf(sentencesOf(`- ${'word '.repeat(30)}\n- ${'word '.repeat(4)}`)).long).toBe(0.5);
  expect(turnsOf('It begins anew.')).toHaveLength(1);
});
