/** What is taken of a tail, in letters: each is a line, and ? is one that may be cut. */
import { describe, expect, test } from 'vitest';
import { pendingLine } from '../../../../src/logs/tail/last/last-line.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import type { Held, Insufficient, Reading, Stream, Taken } from '../../../../src/logs/tail/stream.ts';
import { beginStream, takeTail } from '../../../../src/logs/tail/take-tail.ts';
import { windowLines } from '../../../../src/logs/tail/window.ts';
import { windowOf } from '../../../support/log-records.ts';

const NOW = 1_000_000;
/** The log is known from its beginning, and the answer is all of it. */
const WHOLE = { whole: true };
const SHORT = { tail: 200, widest: 200 };
/** The answer has as much as was asked for, and more can be asked for. */
const WIDER = { widest: 400 };

/** For so many answers and a minute nothing was taken. @param other What another log was seen to have. */
const held = (
  answers: number,
  { least, other }: { readonly least?: number; readonly other?: string } = {},
) => ({
  held: {
    since: NOW - 60_000,
    answers,
    ...(least !== undefined && { least }),
    ...(other !== undefined && { other: { lines: Array.from(other) } }),
  },
});

/** The log before ended so many milliseconds ago. */
const former = (lines: string, ms = 0) => ({
  former: { hashes: [...hashed(Array.from(lines)).hashes], ended: NOW - ms },
});

function readingOf(tail: string, over: Partial<Reading>): Reading {
  const lines = Array.from(tail);
  const asked = { tail: lines.length + 1, widest: lines.length + 1, ceiling: 10_000 };
  return { text: { lines }, ...asked, now: NOW, intervalMs: 1_000, expected: undefined, ...over };
}

/** In words, but for what is as it was, or as it always is. */
function said(outcome: Taken | Held | Insufficient): string {
  if (outcome.kind === 'insufficient')
    return `asks for ${outcome.tail}${outcome.isNeeded ? ', and needs it' : ''}`;
  if (outcome.kind === 'held') {
    const { answers, least, other } = outcome.stream.held ?? {};
    const ofOther = other === undefined ? '' : `, ${other.lines.join('')} seen`;
    return `held ${answers}${least === undefined ? '' : `, ${least} left`}${ofOther}`;
  }
  const { lines, gap, doubt, lateDepth, ceiling, isJoined, stream } = outcome;
  return [
    ...[gap, doubt].flatMap((one) =>
      one === undefined ? [] : [`${one.reason} ${one.lost_min} ${one.lost_estimate}`],
    ),
    lines.join(''),
    ...(isJoined === false ? ['begins anew'] : []),
    ...(lateDepth === undefined ? [] : [`late by ${lateDepth}`]),
    ...(ceiling === undefined ? [] : [`gives ${ceiling}`]),
    `knows ${windowLines(stream.window).join('')}`,
    ...(stream.whole === true ? ['whole'] : []),
    ...(stream.cutAt === undefined ? [] : [`cut at ${stream.cutAt}`]),
    ...(stream.doubted === true ? ['doubted'] : []),
  ].join(', ');
}

type Case = readonly [
  what: string,
  window: string,
  tail: string,
  known: Partial<Stream>,
  over: Partial<Reading>,
  outcome: string,
];

function check([, window, tail, known, over, outcome]: Case): void {
  const stream: Stream = { window: windowOf(Array.from(window)), endsLines: true, ...known };
  expect(said(takeTail(stream, readingOf(tail, over)))).toBe(outcome);
}

describe('a tail that goes on from the window', () => {
  test.each<Case>([
    ['as it most often does', 'abcdefgh', 'cdefghij', {}, {}, 'ij, knows abcdefghij'],
    ['all of the log', 'abcdefgh', 'abcdefghij', WHOLE, SHORT, 'ij, knows abcdefghij, whole'],
    [
      'with late lines above the first ones of the log, of which a tail need not hold all',
      'abcdefgh',
      'XYabcdefgh',
      WHOLE,
      WIDER,
      'asks for 400',
    ],
    [
      'the same, where no more can be asked for',
      'abcdefgh',
      'XYabcdefgh',
      WHOLE,
      {},
      ', knows abcdefgh, whole',
    ],
    [
      'more than the service was found to give',
      'abcdefgh',
      'cdefghij',
      {},
      { ceiling: 7 },
      'ij, gives 8, knows abcdefghij',
    ],
    [
      'the same, of a log whose beginning is not known',
      'abcdefgh',
      'XYabcdefgh',
      {},
      WIDER,
      ', knows abcdefgh',
    ],
    [
      'by one line, which stands below a late one',
      'abcdefgh',
      '?gXhi',
      {},
      WIDER,
      'Xi, late by 3, knows abcdefgXhi',
    ],
    ['as much as that', 'abcdefgh', 'cdefghij', {}, { ceiling: 8 }, 'ij, knows abcdefghij'],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a tail that caught up with the window after a minute', () => {
  test.each<Case>([
    [
      'had the lesser part of it: perhaps it was another log',
      'abcdefgh',
      'cdefghij',
      held(5, { least: 2 }),
      {},
      'ambiguous 0 8, ij, knows abcdefghij, doubted',
    ],
    [
      'that is told each time',
      'abcdefgh',
      'cdefghij',
      { ...held(5, { least: 2 }), doubted: true },
      {},
      'ambiguous 0 8, ij, knows abcdefghij, doubted',
    ],
    [
      'with what the rate lets be missing',
      'abcdefgh',
      'cdefghij',
      held(5, { least: 2 }),
      { expected: 2.2 },
      'ambiguous 0 3, ij, knows abcdefghij, doubted',
    ],
    ['had half of it', 'abcdefgh', 'cdefghij', held(5, { least: 4 }), {}, 'ij, knows abcdefghij'],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('lines that cannot be told apart', () => {
  test.each<Case>([
    ['twice as many are asked for', 'aaaa', 'aaaaa', {}, WIDER, 'asks for 12, and needs it'],
    ['or as many as can be', 'aaaa', 'aaaaa', {}, { widest: 8 }, 'asks for 8, and needs it'],
    ['then it is told', 'aaaa', 'aaaaa', {}, {}, 'ambiguous 0 5, , knows aaaa, doubted'],
    ['once', 'aaaa', 'aaaaa', { doubted: true }, WIDER, ', knows aaaa, doubted'],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('few lines join all of a log to the one known', () => {
  test.each<Case>([
    [
      'which it does not begin as: it began anew',
      'abcdefghijkl',
      'klmn',
      WHOLE,
      SHORT,
      'reset 0 0, klmn, begins anew, knows klmn, whole',
    ],
    [
      'but the service gives as many each time',
      'abcdefghijkl',
      'klmn',
      { ...WHOLE, shown: 4 },
      SHORT,
      'ambiguous 0 2, mn, knows abcdefghijklmn, whole, doubted',
    ],
    [
      'but the beginning is not known',
      'abcdefghijkl',
      'klmn',
      {},
      SHORT,
      'ambiguous 0 2, mn, knows abcdefghijklmn, doubted',
    ],
    [
      'but the line that was being written goes on',
      'abcdefghijkl',
      'klmn',
      { ...WHOLE, pending: pendingLine('m', NOW) },
      SHORT,
      'ambiguous 0 2, mn, knows abcdefghijklmn, whole, doubted',
    ],
    [
      'and another than that follows',
      'abcdefghijkl',
      'klmn',
      { ...WHOLE, pending: pendingLine('x', NOW) },
      SHORT,
      'reset 0 0, klmn, begins anew, knows klmn, whole',
    ],
    [
      'and it goes on so after an answer that was held',
      'abcdefghijkl',
      'klmn',
      { ...WHOLE, ...held(1), pending: pendingLine('m', NOW) },
      SHORT,
      'reset 0 0, klmn, begins anew, knows klmn, whole',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a log that lost its top', () => {
  test.each<Case>([
    [
      'and was known from it: the service gives no more',
      'abcdefghijklmnop',
      'klmnopq',
      WHOLE,
      SHORT,
      'q, gives 7, knows abcdefghijklmnopq, cut at 14',
    ],
    [
      'of a few lines',
      'abcdefghijklmnop',
      'efghijklmnopq',
      WHOLE,
      SHORT,
      'q, knows abcdefghijklmnopq, whole',
    ],
    [
      'and half of what the service gives is as good as full',
      'abcdefghijklmnop',
      'klmnopq',
      { cutAt: 28 },
      SHORT,
      'q, knows abcdefghijklmnopq, cut at 28',
    ],
    [
      'less is not',
      'abcdefghijklmnop',
      'klmnopq',
      { cutAt: 29 },
      SHORT,
      'q, gives 7, knows abcdefghijklmnopq, cut at 14',
    ],
    [
      'and has a late line',
      'abcdefghijklmnopqrstuvwxyz012345',
      'hijklmnopqrstuvwxyz0123L45N',
      WHOLE,
      SHORT,
      'LN, late by 4, knows abcdefghijklmnopqrstuvwxyz0123L45N, cut at 54',
    ],
    [
      'of five lines, and has a late one',
      'abcdefghijklmnopqrstuvwxyz012345',
      'fghijklmnopqrstuvwxyz0123L45N',
      WHOLE,
      SHORT,
      'LN, late by 4, knows abcdefghijklmnopqrstuvwxyz0123L45N, cut at 58',
    ],
    [
      'of a few lines, and has a late one',
      'abcdefghijklmnopqrstuvwxyz012345',
      'defghijklmnopqrstuvwxyz0123L45N',
      WHOLE,
      SHORT,
      'LN, late by 4, knows abcdefghijklmnopqrstuvwxyz0123L45N, whole',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('late lines', () => {
  test.each<Case>([
    ['among known ones', 'abcdef', 'bcXdefg', {}, {}, 'Xg, late by 5, knows abcXdefg'],
    ['in all of the log', 'abcdef', 'abcXdefg', WHOLE, SHORT, 'Xg, late by 5, knows abcXdefg, whole'],
    [
      'in a view that lacks the last ones',
      'abcdefghijkl',
      '?deXfghij',
      {},
      WIDER,
      'X, late by 6, knows abcdeXfghijkl',
    ],
    [
      'more than there are others',
      'abcdef',
      'UVWXYZTabcdefg',
      WHOLE,
      SHORT,
      'UVWXYZTg, late by 14, knows UVWXYZTabcdefg, whole',
    ],
    [
      'the same, where a log may have begun with them: it did',
      'abcdef',
      'UVWXYZTabcdefg',
      { ...WHOLE, ...held(1, { other: 'UVW' }) },
      SHORT,
      'reset 0 0, UVWXYZTabcdefg, begins anew, knows UVWXYZTabcdefg, whole',
    ],
    [
      'the same, where another may have',
      'abcdef',
      'UVWXYZTabcdefg',
      { ...WHOLE, ...held(1, { other: 'UVX' }) },
      SHORT,
      'UVWXYZTg, late by 14, knows UVWXYZTabcdefg, whole',
    ],
    [
      'few, where a log may have begun with what it has',
      'abcdefghijkl',
      'abcdefXghijklm',
      { ...WHOLE, ...held(1, { other: 'abc' }) },
      SHORT,
      'Xm, late by 8, knows abcdefXghijklm, whole',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('an older view', () => {
  test.each<Case>([
    ['is held', 'abcdefghij', 'bcdefgh', {}, {}, 'held 1, 8 left'],
    ['after all there is was asked for, once', 'abcdefghij', 'bcdefgh', {}, WIDER, 'asks for 400'],
    ['and once more before it is taken', 'abcdefghij', 'bcdefgh', held(4), WIDER, 'asks for 400'],
    ['but not between', 'abcdefghij', 'bcdefgh', held(1), WIDER, 'held 2, 8 left'],
    [
      'that stays is a log that was cut short',
      'abcdefghij',
      'bcdefgh',
      held(4),
      {},
      'reset 0 0, , knows abcdefgh',
    ],
    ['of all of the log', 'abcdef', 'abcd', WHOLE, SHORT, 'held 1, 4 left'],
    [
      'of all of the log, that stays',
      'abcdef',
      'abcd',
      { ...WHOLE, ...held(4) },
      SHORT,
      'reset 0 0, , knows abcd, whole',
    ],
    [
      'that stays, and is the lesser part of it, is another log',
      'abcdef',
      'ab',
      { ...WHOLE, ...held(4) },
      SHORT,
      'reset 0 0, ab, begins anew, knows ab, whole',
    ],
    [
      'also where it was so before',
      'abcdef',
      'abcd',
      { ...WHOLE, ...held(4, { least: 2 }) },
      SHORT,
      'reset 0 0, abcd, begins anew, knows abcd, whole',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a log that goes on otherwise', () => {
  test.each<Case>([
    ['is held, and remembered', 'abcdefgh', 'abcdexy', WHOLE, SHORT, 'held 1, 5 left, abcdexy seen'],
    [
      'where it goes on from that, again',
      'abcdefgh',
      'abcdexy',
      { ...WHOLE, ...held(1, { other: 'abcdex' }) },
      SHORT,
      'held 2, 5 left, abcdexy seen',
    ],
    [
      'until it is known for another',
      'abcdefgh',
      'abcdexy',
      { ...WHOLE, ...held(4, { other: 'abcdex' }) },
      SHORT,
      'reset 0 0, abcdexy, begins anew, knows abcdexy, whole',
    ],
    [
      'where it does not, the one remembered began and ended',
      'abcdefgh',
      'abcdexy',
      { ...WHOLE, ...held(1, { other: 'abcdez' }) },
      SHORT,
      'reset 0 0, abcdez, begins anew, knows abcdez, whole',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a tail in which nothing is known', () => {
  test.each<Case>([
    ['is more than it holds', 'abcdefgh', 'pqrstu', {}, {}, 'overrun 1 1, qrstu, begins anew, knows qrstu'],
    ['after all there is was asked for', 'abcdefgh', 'pqrstu', {}, WIDER, 'asks for 400, and needs it'],
    [
      'and is all of the log: it began anew',
      'abcdefgh',
      'pqrstu',
      WHOLE,
      SHORT,
      'reset 0 0, pqrstu, begins anew, knows pqrstu, whole',
    ],
    [
      'the log that began before it has ended',
      'abcdefgh',
      'pqrstu',
      { ...WHOLE, ...held(1, { other: 'abxy' }) },
      SHORT,
      'reset 0 0, abxy, begins anew, knows abxy, whole',
    ],
    [
      'unless it is that one',
      'abcdefgh',
      'pqrstu',
      { ...WHOLE, ...held(1, { other: 'pq' }) },
      SHORT,
      'reset 0 0, pqrstu, begins anew, knows pqrstu, whole',
    ],
    ['but at its end the first ones of the window: it is held', 'abcdefgh', '?yab', {}, {}, 'held 1'],
    ['until that stays', 'abcdefgh', '?yab', held(4), {}, 'overrun 1 1, yab, begins anew, knows yab'],
    [
      'and not where nothing stands above them',
      'abcdefgh',
      '?yab',
      WHOLE,
      {},
      'overrun 1 1, yab, begins anew, knows yab',
    ],
    [
      'but the first one of the window, of an answer known to be older',
      'abcdefgh',
      '?ya',
      {},
      { isPassed: true },
      'held 1',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('a view of the log before', () => {
  test.each<Case>([
    ['is held', 'abcdefgh', '?qrstuvw', former('pqrstuvw'), {}, 'held 1'],
    [
      'until that stays',
      'abcdefgh',
      '?qrstuvw',
      { ...former('pqrstuvw'), ...held(4) },
      {},
      'overrun 1 1, qrstuvw, begins anew, knows qrstuvw',
    ],
    [
      'is none where it has more than that',
      'abcdefgh',
      '?tuvwxyz12345',
      former('pqrstuvw'),
      {},
      'overrun 1 1, tuvwxyz12345, begins anew, knows tuvwxyz12345',
    ],
    [
      'nor after ten minutes',
      'abcdefgh',
      '?qrstuvw',
      former('pqrstuvw', 600_000),
      {},
      'overrun 1 1, qrstuvw, begins anew, knows qrstuvw',
    ],
    [
      'is held, though by chance its top may be the end of the present one',
      'abcbdb',
      '?bqrstuvw',
      former('abqrstuvwxyz'),
      {},
      'held 1',
    ],
    [
      'is taken where the present one joins it, and there was none before',
      'abcbdb',
      '?bqrstuvw',
      {},
      {},
      'overrun 0 1, ambiguous 0 1, qrstuvw, begins anew, knows bqrstuvw',
    ],
    [
      'is held, though late lines of the present one explain less of it',
      'abcdefghijklmnop',
      '?ghiQRSTUVWXjklm',
      former('QRSTUVWXYZ'),
      {},
      'held 1',
    ],
    [
      'is held, of all of the log that begins as the present one',
      'abcdefgh',
      'abcdeVWXYZ',
      { ...WHOLE, ...former('abcdeVWXYZ') },
      SHORT,
      'held 1',
    ],
    [
      'is held, though it may be that lines of the present one repeat',
      'aaaa',
      'aaaaqrstuvwx',
      former('aaqrstuvwxyz'),
      {},
      'held 1',
    ],
    [
      'is held, though the present one explains most of it, but for its end',
      'abcdefghij',
      '?bXdefgh',
      former('abXdefghYZ'),
      {},
      'held 1',
    ],
    [
      'is none where the present one has its end',
      'abcdefghij',
      '?bXdefYghij',
      former('abXdefYghij'),
      {},
      'XY, late by 9, knows abXcdefYghij',
    ],
    [
      'nor where the present one goes on',
      'abcdefgh',
      '?defghi',
      former('abcdefgh'),
      {},
      'i, knows abcdefghi',
    ],
  ])('%s: %s, %s', (...one) => check(one));
});

describe('the first sight of a log', () => {
  const begun = (tail: string, over: Partial<Reading>, deliver = true, unended?: string) =>
    beginStream(
      readingOf(tail, {
        ...over,
        ...(unended !== undefined && { text: { lines: Array.from(tail), unended } }),
      }),
      deliver,
    );

  test.each([
    ['abc', SHORT, 'abc, knows abc, whole'],
    ['?abc', WIDER, 'asks for 400, and needs it'],
    // Its first line may be cut: it is delivered, and has no place in the window.
    ['?abc', {}, 'overrun 0 1, ?abc, knows abc'],
    ['?abc', { tail: 4, widest: 4 }, 'overrun 0 1, ?abc, knows abc'],
  ])('%s, %j: %s', (tail, over, outcome) => {
    expect(said(begun(tail, over))).toBe(outcome);
  });

  test('of as many lines as can be asked for, nothing is told', () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`);
    const found = beginStream(readingOf('', { text: { lines }, tail: 10_000, widest: 10_000 }), true);
    expect(found).not.toHaveProperty('gap');
  });

  test('from its end on, nothing of it is delivered, nor what there is of the line that is being written', () => {
    const found = begun('?abc', WIDER, false, 'beg');
    expect(said(found)).toBe(', knows abc');
    expect(found).toMatchObject({ stream: { pending: { text: 'beg', taken: 3, since: NOW } } });
    expect(begun('abc', {}, false)).not.toHaveProperty('stream.pending');
    expect(begun('abc', {}, true, 'beg')).toMatchObject({ stream: { pending: { taken: 0 } } });
  });
});
