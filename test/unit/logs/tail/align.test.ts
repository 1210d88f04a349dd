import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import * as alignment from '../../../../src/logs/tail/align.ts';
import { EVIDENT_LINES, type TailFacts } from '../../../../src/logs/tail/align.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import { bruteForceCandidates } from '../../../support/log-alignment.ts';
import { windowOf } from '../../../support/log-records.ts';

function candidates(window: readonly string[], tail: readonly string[]) {
  return alignment.candidates(windowOf(window), hashed(tail));
}

function align(window: readonly string[], tail: readonly string[], facts: TailFacts) {
  return alignment.align(windowOf(window), hashed(tail), facts);
}

/**
 * Lines of a small alphabet repeat much; those of a large
 * one little. One is another's end, as a cut line is.
 */
const lines = fc.integer({ min: 1, max: 8 }).chain((letters) =>
  fc.array(fc.constantFrom(...['a', 'b', 'ab', '', 'c', 'd', 'e', 'cab'].slice(0, letters)), {
    maxLength: 24,
  }),
);

/** A log of which `taken` lines were taken, and a tail of it that begins at `from` and overlaps them. */
const overlapping = fc
  .tuple(lines, lines, fc.boolean())
  .filter(([old, fresh]) => old.length + fresh.length > 1)
  .chain(([old, fresh, repeat]) => {
    const log = repeat ? [...old, ...fresh, ...fresh, ...old, ...fresh] : [...old, ...fresh];
    return fc.record({
      log: fc.constant(log),
      taken: fc.nat(log.length),
      windowFrom: fc.nat(log.length),
      tailFrom: fc.nat(log.length),
    });
  })
  .filter(({ taken, windowFrom, tailFrom }) => windowFrom < taken && tailFrom < taken);

describe('candidates', () => {
  test('are those that a brute-force search finds', () => {
    fc.assert(
      fc.property(lines, lines, (window, tail) => {
        expect(candidates(window, tail)).toEqual(bruteForceCandidates(window, tail));
      }),
      { numRuns: 500 },
    );
  });

  test('are those that a brute-force search finds where window and tail come from one log', () => {
    fc.assert(
      fc.property(overlapping, ({ log, taken, windowFrom, tailFrom }) => {
        const [window, tail] = [log.slice(windowFrom, taken), log.slice(tailFrom)];
        expect(candidates(window, tail)).toEqual(bruteForceCandidates(window, tail));
      }),
      { numRuns: 500 },
    );
  });

  test('are those that a brute-force search finds where most of the window is packed away', () => {
    const many = fc.array(lines, { minLength: 1, maxLength: 8 }).map((some) => {
      const unit = some.flat();
      return unit.length === 0
        ? []
        : Array.from({ length: 600 }, (_, index) => unit[index % unit.length] ?? '');
    });
    fc.assert(
      fc.property(many, lines, fc.nat(600), fc.nat(3), (repeated, fresh, given, cut) => {
        const window = [...repeated, ...fresh];
        const tail = window.slice(-given);
        tail[0] = tail[0]?.slice(cut) ?? '';
        expect(candidates(window, tail)).toEqual(bruteForceCandidates(window, tail));
      }),
    );
  });

  test('include a cut first line that is the end of the line taken, even one cut inside a character', () => {
    expect(candidates(['x', 'abcd', 'e'], ['cd', 'e'])).toEqual([2]);
    expect(candidates(['x', 'ab😀d', 'e'], ['\uFFFD\uFFFDd', 'e'])).toEqual([2]);
    expect(candidates(['x', 'abcd', 'e'], ['bc', 'e'])).toEqual([]);
  });

  test('never rest on a first line that may be cut alone', () => {
    expect(candidates(['a', 'b'], ['b', 'c'])).toEqual([]);
    expect(candidates(['a', 'b'], ['a', 'b', 'c'])).toEqual([2]);
  });

  test('are found when the tail has grown past the start of the window', () => {
    expect(candidates(['c', 'd'], ['a', 'b', 'c', 'd', 'e'])).toEqual([4]);
  });
});

describe('align', () => {
  test('never repeats a line, and its doubt covers every new line that it takes for an old one', () => {
    fc.assert(
      fc.property(overlapping, ({ log, taken, windowFrom, tailFrom }) => {
        const [window, tail] = [log.slice(windowFrom, taken), log.slice(tailFrom)];
        const truth = taken - tailFrom;
        const overlap = tail.slice(Math.max(1, truth - window.length), truth);
        // What a handful of lines shows may be chance, and chance is not believed against better evidence.
        fc.pre(new Set(overlap).size >= EVIDENT_LINES);
        const found = align(window, tail, { full: true });
        if (found.kind === 'none') throw new Error('the overlap was not found');
        expect(found.at).toBeGreaterThanOrEqual(truth);
        expect(found.at - found.doubt).toBeLessThanOrEqual(truth);
      }),
      { numRuns: 1000 },
    );
  });

  test('is certain of a tail that is the whole log, however much its lines repeat', () => {
    const same = Array.from({ length: 10 }, () => 'x');
    expect(align(same, [...same, 'x', 'x'], { full: false })).toEqual({ kind: 'found', at: 10, doubt: 0 });
  });

  test('doubts fewer than five distinct lines', () => {
    const few = align(['q', 'a', 'b', 'c', 'd'], ['z', 'a', 'b', 'c', 'd', 'new'], { full: true });
    expect(few).toEqual({ kind: 'none' }); // 'z' is not the end of 'q'
    const four = align(['a', 'b', 'c', 'd'], ['z', 'a', 'b', 'c', 'd', 'new'], { full: true });
    expect(four).toEqual({ kind: 'found', at: 5, doubt: 5 });
    const five = align(['a', 'b', 'c', 'd', 'e'], ['z', 'a', 'b', 'c', 'd', 'e', 'new'], { full: true });
    expect(five).toEqual({ kind: 'found', at: 6, doubt: 0 });
  });

  test('doubts a period that fits in more than once', () => {
    const period = ['a', 'b', 'c', 'd', 'e', 'f'];
    const window = Array.from({ length: 5 }, () => period).flat();
    const found = align(window, window.slice(-20), { full: true });
    expect(found).toMatchObject({ kind: 'found', at: 20 });
    expect(found).toHaveProperty('doubt', 18);
  });

  test('lets the line without an end decide between positions', () => {
    const same = ['x', 'x', 'x', 'x'];
    const found = align(same, same, { full: false, pending: 'x', unended: 'x' });
    expect(found).toEqual({ kind: 'found', at: 4, doubt: 0 });
    // Five times the same line: only four were taken, if the fifth is the one that had no end.
    expect(align(same, [...same, 'x'], { full: true })).toMatchObject({ at: 5 });
    expect(align(same, [...same, 'x'], { full: true, pending: 'x' })).toMatchObject({ at: 4 });
    expect(align(same, [...same, 'xy'], { full: true, pending: 'x' })).toMatchObject({ at: 4 });
  });
});
