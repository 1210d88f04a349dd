/** A tail that does not continue the lines taken: what is told of it, and from what the log goes on. */
import { describe, expect, test } from 'vitest';
import { overrun, reset, truncated, weaklyJoined } from '../../../../src/logs/tail/breaks.ts';
import { pendingLine } from '../../../../src/logs/tail/last/last-line.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import type { Reading, Stream } from '../../../../src/logs/tail/stream.ts';
import { nextPlace, windowLines } from '../../../../src/logs/tail/window.ts';
import { keptLine } from '../../../../src/logs/tail/kept-line.ts';
import { READ_AT, readingOf, windowOf } from '../../../support/log-records.ts';

const numbered = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
const hashesOf = (lines: readonly string[]) => [...hashed(lines).hashes];

/** Lines 1 to 9 were taken. */
const KREAD_ATN = numbered(1, 9);
const stream = (over: Partial<Stream> = {}): Stream => ({
  window: windowOf(KREAD_ATN),
  endsLines: true,
  ...over,
});

describe('more came than the tail holds', () => {
  const FAR = ['cut', ...numbered(40, 44)];
  const ran = (lines: readonly string[], known: Partial<Stream> = {}, over: Partial<Reading> = {}) =>
    overrun(stream(known), readingOf(lines, over), hashed(lines));

  test('all but the first line, which may be cut, is delivered, and the log goes on from there', () => {
    const found = ran(FAR);
    expect(found).toMatchObject({
      kind: 'taken',
      gap: { reason: 'overrun', lost_min: 1, lost_estimate: 1 },
      isJoined: false,
    });
    expect(found.lines).toEqual(numbered(40, 44));
    expect(windowLines(found.stream.window)).toEqual(numbered(40, 44));
    expect(found.stream.window.from).toBe(nextPlace(windowOf(KREAD_ATN)));
    expect(found.stream.former).toEqual({ hashes: hashesOf(KREAD_ATN), ended: READ_AT });
    expect(found).not.toHaveProperty('parting');
    expect(found).not.toHaveProperty('doubt');
    expect(found.stream).not.toHaveProperty('whole');
    expect(found.stream).not.toHaveProperty('cutAt');
  });

  test('the rate tells how many are lost, at least one', () => {
    const lost = (expected: number) => ran(FAR, {}, { expected }).gap?.lost_estimate;
    expect([lost(100.4), lost(100.5), lost(7), lost(6), lost(1)]).toEqual([95, 96, 2, 1, 1]);
  });

  test('what is known of the service stays, and the end of the log before the one before', () => {
    const former = { hashes: [1, 2, 3], ended: READ_AT - 1_000 };
    const found = ran(FAR, { cutAt: 8_192, former, whole: true, endsLines: true });
    expect(found.stream).toMatchObject({ cutAt: 8_192, endsLines: true });
    expect(found.stream.former).toEqual({ hashes: [1, 2, 3, ...hashesOf(KREAD_ATN)], ended: READ_AT });
  });

  test('a first line that is whole is delivered too', () => {
    const text = { lines: FAR, isTopWhole: true };
    const found = ran(FAR, {}, { text });
    expect(found.gap).toMatchObject({ reason: 'overrun', lost_min: 0 });
    expect(found.lines).toEqual(FAR);
  });

  test.each([
    ['the end of the last line known', 'ne 9', {}, 'overrun', 0],
    ['the last line known', 'line 9', {}, 'ambiguous', 0],
    [
      'the end of the one that was being written',
      'ginning',
      { pending: pendingLine('beginning', READ_AT) },
      'overrun',
      0,
    ],
    ['its beginning', 'begin', { pending: pendingLine('beginning', READ_AT) }, 'overrun', 1],
    ['the beginning of the last line known', 'lin', {}, 'overrun', 1],
  ] as const)(
    'where its first line is %s, at least so many are lost',
    (_, first, known, reason, lost_min) => {
      const found = ran([first, ...numbered(40, 44)], known);
      expect(found.gap).toEqual({ reason, lost_min, lost_estimate: 1 });
      expect(found.lines).toEqual(numbered(40, 44));
    },
  );

  test('a last line that the log has more than once is no sign of where it goes on', () => {
    const again = windowOf(['line 9', ...KREAD_ATN]);
    expect(ran(['line 9', 'next'], { window: again }).gap?.reason).toBe('overrun');
    expect(ran(['line 9', 'next', 'line 9']).gap?.reason).toBe('overrun');
    expect(ran(['line 9', 'next']).gap?.reason).toBe('ambiguous');
  });

  describe('a line that was being written', () => {
    const begun = (taken: number) => ({ pending: pendingLine('it begins', READ_AT - 1, taken) });

    test('is delivered as it was seen, where the service joins its lines, unless it was already', () => {
      const parting = (taken: number, endsLines: boolean) => ran(FAR, { ...begun(taken), endsLines }).parting;
      expect([parting(0, false), parting(0, true), parting(4, false)]).toEqual([
        'it begins',
        undefined,
        undefined,
      ]);
    });

    const follows = ['ne 9', 'it begins, and ends', 'next'];

    test('goes on under the last one known', () => {
      expect(ran(follows, begun(9))).toMatchObject({
        gap: { reason: 'overrun', lost_min: 0 },
        lines: [', and ends', 'next'],
        continues: 0,
      });
      expect(ran(follows, begun(0))).toMatchObject({ lines: follows.slice(1) });
      expect(ran(follows, { ...begun(0), endsLines: false })).not.toHaveProperty('parting');
      expect(ran(follows, begun(9))).not.toHaveProperty('doubt');
    });

    test('perhaps elsewhere, where the last one known repeats', () => {
      const window = windowOf(['line 9', ...KREAD_ATN]);
      const doubt = { reason: 'ambiguous', lost_min: 0, lost_estimate: 1 };
      expect(ran(follows, { ...begun(9), window })).toMatchObject({ doubt, lines: [', and ends', 'next'] });
    });

    test('does not go on where another line stands above it, or another below the last one', () => {
      expect(ran(['other', ...follows.slice(1)], begun(9)).lines).toEqual(follows.slice(1));
      expect(ran(['ne 9', 'other', 'next'], begun(9)).lines).toEqual(['other', 'next']);
    });
  });

  test('lines that were the last ones known come no second time, and it is told that they may be others', () => {
    const found = ran(['a late one', ...numbered(7, 9), ...numbered(40, 44)]);
    expect(found).toMatchObject({
      gap: { reason: 'overrun', lost_min: 0, lost_estimate: 1 },
      doubt: { reason: 'ambiguous', lost_min: 0, lost_estimate: 3 },
    });
    expect(found.lines).toEqual(numbered(40, 44));
    expect(windowLines(found.stream.window)).toEqual([...numbered(7, 9), ...numbered(40, 44)]);
  });

  describe('of an answer that came before the last one that brought lines', () => {
    const isPassed = true;

    test('the lines are delivered, and the log goes on from where it was', () => {
      const known = stream();
      const found = overrun(known, readingOf(FAR, { isPassed }), hashed(FAR));
      expect(found.kind).toBe('taken');
      expect(found.stream).toBe(known);
      expect(found.lines).toEqual(numbered(40, 44));
      expect([...(found.passed ?? [])]).toEqual(hashesOf(numbered(40, 44)));
      expect(found.gap?.reason).toBe('overrun');
    });

    test('unless its first line may be the last one known', () => {
      const found = ran(['ne 9', ...numbered(40, 44)], {}, { isPassed });
      expect(windowLines(found.stream.window)).toEqual(numbered(40, 44));
      expect(ran(['', ...numbered(40, 44)], {}, { isPassed }).passed).toBeDefined();
    });

    test('those that another such one began with, or ended with, come no second time', () => {
      const hashes = hashed(numbered(43, 48)).hashes;
      const past = [{ at: READ_AT, hashes, isFollowed: false, isPassed }];
      const above = ran(FAR, {}, { past, isPassed });
      expect(above.lines).toEqual(numbered(40, 42));
      expect(above.doubt).toMatchObject({ reason: 'ambiguous', lost_estimate: 2 });
      const below = ['cut', ...numbered(47, 55)];
      expect(ran(below, {}, { past, isPassed }).lines).toEqual(numbered(49, 55));
      // What it began with is no end of one that is newer.
      expect(ran(FAR, {}, { past }).lines).toEqual(numbered(40, 44));
    });
  });
});

describe('the log began anew', () => {
  const began = (known: Partial<Stream> = {}, over: Partial<Reading> = {}) => {
    const lines = numbered(40, 42);
    return reset(stream(known), readingOf(lines, over), hashed(lines));
  };

  test('all of it is delivered, and nothing of the one before goes on', () => {
    const former = { hashes: [1, 2, 3], ended: READ_AT - 1_000 };
    const found = began({ former, cutAt: 8_192 });
    expect(found.lines).toEqual(numbered(40, 42));
    expect(windowLines(found.stream.window)).toEqual(numbered(40, 42));
    expect(found.stream).toMatchObject({
      whole: true,
      former: { hashes: hashesOf(KREAD_ATN), ended: READ_AT },
    });
    expect(found.stream).not.toHaveProperty('cutAt');
    expect(found).toMatchObject({ gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 }, isJoined: false });
  });

  test('the rate tells how many of the one before are lost', () => {
    expect(began({}, { expected: 7.6 }).gap?.lost_estimate).toBe(8);
  });

  test('the last words of the one before come first, unless they were delivered', () => {
    expect(began({ pending: pendingLine('last words', READ_AT) }).parting).toBe('last words');
    expect(began({ pending: pendingLine('last words', READ_AT, 3) })).not.toHaveProperty('parting');
  });
});

test('a line or two join the tail to those known: the log goes on from it, and that it may not be so is told', () => {
  const lines = ['cut', 'line 8', 'line 9', 'next'];
  const found = weaklyJoined(stream({ cutAt: 8_192 }), readingOf(lines), hashed(lines), 3);
  expect(found.lines).toEqual(['next']);
  expect(found.gap).toEqual({ reason: 'ambiguous', lost_min: 0, lost_estimate: 2 });
  expect(windowLines(found.stream.window)).toEqual(['line 8', 'line 9', 'next']);
  expect(found.stream).not.toHaveProperty('whole');
  expect(found.stream.cutAt).toBe(8_192);
});

describe('the log lost its end', () => {
  const cut = (known: Partial<Stream> = {}, unended?: string) =>
    truncated(
      stream(known),
      readingOf([], { text: { lines: numbered(1, 4), ...(unended !== undefined && { unended }) } }),
      4,
    );

  test('nothing is delivered, and the log goes on from what is left', () => {
    const found = cut({ whole: true, held: { since: READ_AT, answers: 5 } });
    expect(found).toMatchObject({
      kind: 'taken',
      lines: [],
      gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 },
    });
    expect(windowLines(found.stream.window)).toEqual(numbered(1, 4));
    expect(found.stream).toEqual({
      window: found.stream.window,
      endsLines: true,
      whole: true,
      former: { hashes: hashesOf(KREAD_ATN), ended: READ_AT },
    });
    expect(cut().stream.whole).toBe(false);
  });

  test('a last line without an end was delivered, where it is the one that stood there', () => {
    expect(cut({}, 'line 5').stream.pending).toEqual(pendingLine('line 5', READ_AT, 6));
    expect(cut({}, 'line x').stream.pending).toEqual(pendingLine('line x', READ_AT, 0));
    const long = 'x'.repeat(200);
    const known = { window: windowOf([...numbered(1, 4), keptLine(long)]) };
    expect(cut(known, long).stream.pending).toEqual(pendingLine(long, READ_AT, 200));
    expect(cut().stream).not.toHaveProperty('pending');
  });

  test('what was being written at its end comes first', () => {
    expect(cut({ pending: pendingLine('last words', READ_AT) }).parting).toBe('last words');
    expect(cut()).not.toHaveProperty('parting');
  });
});
