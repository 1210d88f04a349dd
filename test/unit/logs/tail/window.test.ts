import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { keptLine } from '../../../../src/logs/tail/kept-line.ts';
import { hashed, hashOf } from '../../../../src/logs/tail/line-hash.ts';
import { MAX_TAIL } from '../../../../src/logs/tail/rate.ts';
import {
  EMPTY_WINDOW,
  extendedBy,
  lineReader,
  nextPlace,
  restoredWindow,
  windowLines,
  type LineWindow,
} from '../../../../src/logs/tail/window.ts';

/** One in ten is longer than what is kept of it. */
const line = (place: number) =>
  `2025-01-01T00:00:00 INFO ünïcode ${place} of many, took ${(place * 7) % 1000} ms${place % 10 === 3 ? ' or so'.repeat(30) : ''}`;
const kept = (from: number, count: number) => lines(from, count).map((whole) => keptLine(whole));
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => line(from + index));

/** Takings of the sizes that quiet and busy groups have, in any order. */
const takings = fc.array(
  fc.oneof(
    fc.integer({ min: 1, max: 9 }),
    fc.integer({ min: 1, max: 300 }),
    fc.integer({ min: 1, max: 11_000 }),
  ),
  { minLength: 1, maxLength: 12 },
);

/** The windows after each of the takings. */
function grown(counts: readonly number[]): readonly LineWindow[] {
  let window = EMPTY_WINDOW;
  return counts.map((count) => (window = extendedBy(window, hashed(lines(nextPlace(window), count)))));
}

describe('a window', () => {
  test('holds the last lines taken and their hashes, whatever they were taken in', () => {
    fc.assert(
      fc.property(takings, (counts) => {
        let end = 0;
        for (const [index, window] of grown(counts).entries()) {
          end += counts[index] ?? 0;
          const from = Math.max(0, end - MAX_TAIL);
          expect([window.from, nextPlace(window)]).toEqual([from, end]);
          expect(windowLines(window)).toEqual(kept(from, end - from));
          expect(window.hashes).toEqual(hashed(lines(from, end - from)).hashes);
          expect(window.blocks.filter(({ first, count }) => first + count <= from)).toEqual([]);
        }
      }),
      { numRuns: 10 },
    );
  });

  test('tells any line by its index, and all lines from a place on', () => {
    fc.assert(
      fc.property(takings, fc.array(fc.nat()), (counts, draws) => {
        const window = grown(counts).at(-1) ?? EMPTY_WINDOW;
        const size = window.hashes.length;
        const read = lineReader(window);
        for (const draw of draws) {
          expect(read(draw % size)).toBe(keptLine(line(window.from + (draw % size))));
          const place = draw % (nextPlace(window) + 2);
          const from = Math.max(place, window.from);
          expect(windowLines(window, place)).toEqual(kept(from, Math.max(0, nextPlace(window) - from)));
        }
        expect(read(-1)).toBeUndefined();
        expect(read(size)).toBeUndefined();
      }),
      { numRuns: 10 },
    );
  });

  test('is the same one when it is put together from its parts', () => {
    fc.assert(
      fc.property(takings, (counts) => {
        const window = grown(counts).at(-1) ?? EMPTY_WINDOW;
        expect(restoredWindow(window.from, window.blocks, window.recent)).toEqual(window);
      }),
      { numRuns: 10 },
    );
  });

  test('takes a quarter of what its lines are, and leaves few of them as strings', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 4_000 }), (count) => {
        const window = grown(Array.from({ length: Math.ceil(MAX_TAIL / count) }, () => count)).at(-1);
        if (window === undefined) throw new Error('there is none');
        const size = window.blocks.reduce((sum, { packed }) => sum + packed.buffer.byteLength, 0);
        expect(size).toBeLessThan(Buffer.byteLength(windowLines(window).join('\n')) / 4);
        expect(window.recent.length).toBeLessThan(256);
      }),
      { numRuns: 8 },
    );
  });

  test('is unreadable when one of its blocks is', () => {
    const [window = EMPTY_WINDOW] = grown([500]);
    const [block] = window.blocks;
    if (block === undefined) throw new Error('nothing was packed');
    const broken = block.packed.map((byte) => byte ^ 0xa5);
    expect(() => restoredWindow(0, [{ ...block, packed: broken }], [])).toThrow(SyntaxError);
    expect(() => restoredWindow(0, [{ ...block, count: 501 }], [])).toThrow(SyntaxError);
  });
});

describe('the hash of a line', () => {
  test('is the same for the same text, an integer, and not that of a line which differs in one unit', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'binary', minLength: 1 }),
        fc.nat(),
        fc.nat(0xffff),
        (text, draw, unit) => {
          const at = draw % text.length;
          const other = text.slice(0, at) + String.fromCharCode(unit) + text.slice(at + 1);
          expect(hashOf(`${text} `.slice(0, -1))).toBe(hashOf(text));
          expect(Number.isSafeInteger(hashOf(text))).toBe(true);
          expect(hashOf(text) === hashOf(other)).toBe(text === other);
        },
      ),
    );
  });

  test('is another for each of many lines that differ little', () => {
    const alike = [
      (index: number) => `${index}`,
      (index: number) => `step ${index} of 400000: loss ${(index / 7).toFixed(3)}`,
      (index: number) => '#'.repeat(index % 400) + '.'.repeat(Math.floor(index / 400)),
      (index: number) => String.fromCharCode(index & 0xff, index >> 8, index & 0xff),
    ];
    for (const make of alike) {
      const texts = new Set(Array.from({ length: 200_000 }, (_, index) => make(index)));
      expect(new Set(Array.from(texts, hashOf)).size).toBe(texts.size);
    }
  });
});
