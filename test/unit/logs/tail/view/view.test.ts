/** Comparing a tail with the window, held against what it is by definition. Lines are small numbers, as their hashes are. */
import * as fc from '../../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { compare } from '../../../../../src/logs/tail/view/comparison.ts';
import { diff } from '../../../../../src/logs/tail/view/diff.ts';
import { mergeViews } from '../../../../../src/logs/tail/view/merge.ts';
import { endWithin } from '../../../../../src/logs/tail/view/stale.ts';
import { bruteForceDistance, bruteForceEnd, bruteForceReach } from '../../../../support/log-views.ts';

const lines = fc
  .integer({ min: 1, max: 30 })
  .chain((letters) => fc.array(fc.nat(letters), { maxLength: 24 }));

/** One log, and a view of it that lacks some of its lines and has others. */
const views = fc
  .tuple(lines, fc.array(fc.tuple(fc.nat(24), fc.nat(60)), { maxLength: 6 }))
  .map(([log, changes]) => {
    const view = [...log];
    for (const [at, line] of changes) {
      if (line % 2 === 0) view.splice(at % (view.length + 1), 0, line >> 1);
      else view.splice(at % (view.length + 1), 1);
    }
    return [log, view] as const;
  });
const pairs = fc.oneof(views, fc.tuple(lines, lines));

/** A window that begins within a log, and a tail that does, and ends before the window. */
const within = fc
  .tuple(fc.array(fc.nat(30), { minLength: 12, maxLength: 30 }), fc.nat(8), fc.nat(8), fc.nat(8))
  .map(([log, from, start, lag]) => [log.slice(from), log.slice(start, log.length - lag)] as const);

const packed = (numbers: readonly number[]) => Float64Array.from(numbers);
const counts = (numbers: readonly number[]) => {
  const found = new Map<number, number>();
  for (const number of numbers) found.set(number, (found.get(number) ?? 0) + 1);
  return found;
};

describe('a difference', () => {
  test('has the least distance there is, and pairs that make it', () => {
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const found = diff(packed(one), packed(other), 100, 'both');
        expect(found?.distance).toBe(bruteForceDistance(one, other));
        const matched = [...(found?.partners ?? [])].filter((partner) => partner >= 0);
        expect(matched).toEqual([...new Set(matched)].toSorted((left, right) => left - right));
        for (const [index, partner] of (found?.partners ?? []).entries())
          if (partner >= 0) expect(one[partner]).toBe(other[index]);
        expect(one.length + other.length - 2 * matched.length).toBe(found?.distance);
      }),
      { numRuns: 2_000 },
    );
  });

  test('as far as one of the two reaches has the least distance there is, and of those the most pairs, or the most of the other', () => {
    fc.assert(
      fc.property(pairs, ([one, other]) => {
        const found = diff(packed(one), packed(other), 100, 'either');
        const isEnd = (oneTo: number, otherTo: number) =>
          bruteForceDistance(one.slice(0, oneTo), other.slice(0, otherTo)) === found?.distance;
        expect(found?.distance).toBe(bruteForceReach(one, other));
        const { oneEnd = -1, otherEnd = -1 } = found ?? {};
        expect(oneEnd === one.length || otherEnd === other.length).toBe(true);
        expect(bruteForceDistance(one.slice(0, oneEnd), other.slice(0, otherEnd))).toBe(found?.distance);
        const nearest = [
          ...[0, ...one.keys().map((index) => index + 1)].map((end) => [end, other.length] as const),
          ...[0, ...other.keys().map((index) => index + 1)].map((end) => [one.length, end] as const),
        ].filter(([oneTo, otherTo]) => isEnd(oneTo, otherTo));
        expect(oneEnd + otherEnd).toBe(Math.max(...nearest.map(([oneTo, otherTo]) => oneTo + otherTo)));
        const newer = diff(packed(one), packed(other), 100, 'either, with more of other');
        expect(newer?.distance).toBe(found?.distance);
        const most = Math.max(...nearest.map(([oneTo, otherTo]) => otherTo - oneTo));
        expect((newer?.otherEnd ?? 0) - (newer?.oneEnd ?? 0)).toBe(most);
      }),
      { numRuns: 1_000 },
    );
  });

  test('is given up exactly beyond its bound', () => {
    fc.assert(
      fc.property(pairs, fc.nat(30), ([one, other], most) => {
        const isFound = diff(packed(one), packed(other), most, 'both') !== undefined;
        expect(isFound).toBe(bruteForceDistance(one, other) <= most);
      }),
      { numRuns: 1_000 },
    );
  });
});

describe('the lines above the first one that window and tail both have', () => {
  const range = (from: number, count: number) => Array.from({ length: count }, (_, index) => from + index);
  const common = range(1, 5);

  test('are differences, where both have some, as far as the one with fewer reaches', () => {
    const [fewer, more] = [
      [...range(100, 20), ...common],
      [...range(200, 30), ...common],
    ];
    expect(compare(packed(fewer), packed([...more, 300]), false)).toMatchObject({ first: 0, from: 30 });
    expect(compare(packed(more), packed([...fewer, 300]), false)).toMatchObject({ first: 30, from: 0 });
  });

  test('are older than the tail, or than the window, where only one of them has any', () => {
    const longer = [...range(100, 30), ...common];
    expect(compare(packed(longer), packed([...common, 300]), false)).toMatchObject({ first: 30, from: 0 });
    expect(compare(packed(common), packed([...longer, 300]), false)).toMatchObject({ first: 0, from: 30 });
  });

  test('of a newer view one more is likelier than one less, of an older one the other way about', () => {
    const window = packed([8, 9, 7, 8, ...common]);
    const view = [8, 7, 8, ...common];
    expect(compare(window, packed([...view, 300]), false)).toMatchObject({ first: 2, from: 0 });
    expect(compare(window, packed(view), false)).toMatchObject({ first: 0, from: 0 });
    expect(compare(packed([...window, 300]), packed(view), false)).toMatchObject({ first: 0, from: 0 });
  });
});

describe('a log of few words, whose lines begin where the tail does', () => {
  test.each([
    ['aabb', 'aXabb', [0, -1, 1, 2, 3]],
    ['aab', 'XaYab', [-1, 0, -1, 1, 2]],
    ['aab', 'XaYZUVab', [-1, 0, -1, -1, -1, -1, 1, 2]],
    ['aab', 'XaYZUVWXab', undefined],
  ])('stands in it with few others: %s, %s', (known, seen, partners) => {
    const hashes = (text: string) => packed(Array.from(text, (letter) => letter.charCodeAt(0)));
    const found = compare(hashes(known), hashes(seen), true);
    const isFromTop = found !== undefined && found.anchors === 0;
    if (partners !== undefined)
      expect(found).toEqual({ partners: Int32Array.from(partners), first: 0, from: 0, anchors: 0 });
    else expect(isFromTop).toBe(false);
  });
});

describe('two views put together', () => {
  test('each line is new as often as it is not known, and the window has it then', () => {
    let compared = 0;
    fc.assert(
      fc.property(pairs, ([known, seen]) => {
        // Both begin where the log does, so all of both is compared.
        const comparison = compare(packed(known), packed(seen), true);
        fc.pre(comparison !== undefined);
        const { first, from } = comparison;
        const { fresh, cut, view } = mergeViews(packed(known), packed(seen), comparison, from);
        compared += 1;
        expect(fresh).toEqual([...new Set(fresh)].toSorted((left, right) => left - right));
        const taken = counts(known.slice(first));
        const shown = counts(seen.slice(from));
        const news = counts(fresh.map((index) => seen[index] ?? -1));
        for (const [line, count] of shown)
          expect(news.get(line) ?? 0).toBe(Math.max(0, count - (taken.get(line) ?? 0)));

        const merged = view.map((index) => (index >= 0 ? seen[index] : known[-1 - index]) ?? -1);
        const window = counts([...known.slice(first, cut), ...merged]);
        for (const line of new Set([...taken.keys(), ...shown.keys()]))
          expect(window.get(line)).toBe(Math.max(taken.get(line) ?? 0, shown.get(line) ?? 0));
      }),
      { numRuns: 2_000 },
    );
    expect(compared).toBeGreaterThan(500);
  });
});

describe('a tail that ends within the window', () => {
  test('is found where a brute-force search finds it, if five distinct lines say so', () => {
    let [found, denied] = [0, 0];
    fc.assert(
      fc.property(fc.oneof(within, pairs), ([known, seen]) => {
        const expected = bruteForceEnd(known, seen);
        const end = endWithin(packed(known), packed(seen));
        const evidence = expected === undefined ? 0 : new Set(seen.slice(-expected)).size;
        if (evidence >= 5) expect(end).toBe(expected);
        else expect(end).toBeUndefined();
        if (end === undefined) denied += 1;
        else found += 1;
      }),
      { numRuns: 3_000 },
    );
    expect(Math.min(found, denied)).toBeGreaterThan(200);
  });

  test('of the whole log it may lack lines that came late, but not the first few', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.nat(99), { minLength: 2 }), fc.integer(), (known, gaps) => {
        const end = known.length - 1;
        const seen = known.filter(
          (_, index) => index < end && (index === end - 1 || ((gaps >> (index % 31)) & 1) === 1),
        );
        const isKnown = known.indexOf(seen[0] ?? -1) < 5;
        const found = endWithin(packed(known), packed(seen), { known: true, seen: true });
        expect(found).toBe(isKnown ? end : undefined);
        expect(endWithin(packed(known), packed([...seen, 100]), { known: true, seen: true })).toBeUndefined();
      }),
    );
  });

  test('of the whole log any beginning is found, however few its lines', () => {
    fc.assert(
      fc.property(lines, fc.nat(24), (known, to) => {
        fc.pre(to < known.length);
        expect(endWithin(packed(known), packed(known.slice(0, to)), { known: true, seen: true })).toBe(to);
      }),
    );
  });
});
