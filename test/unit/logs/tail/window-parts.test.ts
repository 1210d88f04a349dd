/** What a window packs away, what it shares with the one before it, and what is left where it is rewritten. */
import { describe, expect, test } from 'vitest';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import {
  EMPTY_WINDOW,
  extendedBy,
  lineReader,
  nextPlace,
  restoredWindow,
  rewrittenFrom,
  windowLines,
  type LineWindow,
} from '../../../../src/logs/tail/window.ts';

const line = (place: number) => `line ${place} of many`;
const lines = (from: number, count: number) =>
  Array.from({ length: count }, (_, index) => line(from + index));

/** The windows after each of so many lines. */
function grown(counts: readonly number[]): readonly LineWindow[] {
  let window = EMPTY_WINDOW;
  return counts.map((count) => (window = extendedBy(window, hashed(lines(nextPlace(window), count)))));
}

describe('a window of 700 lines, of which 600 are packed away', () => {
  const [, , window = EMPTY_WINDOW] = grown([300, 300, 100]);
  const other = hashed(['one', 'two']);

  test('has its blocks, and as many loose lines as are too few for one', () => {
    expect(window.blocks.map(({ first, count }) => [first, count])).toEqual([
      [0, 300],
      [300, 300],
    ]);
    expect(window.recent).toEqual(lines(600, 100));
    const read = lineReader(window);
    for (const index of [0, 299, 300, 599, 600, 699, 5]) expect(read(index)).toBe(line(index));
    expect([read(-1), read(700)]).toEqual([undefined, undefined]);
    for (const from of [0, 1, 299, 300, 599, 600, 699, 700]) {
      expect(windowLines(window, from)).toEqual(lines(from, 700 - from));
    }
  });

  test.each([0, 1, 299, 300, 301, 599, 600, 650, 700])(
    'that is rewritten from line %i on has the lines before it, under new places',
    (index) => {
      const next = rewrittenFrom(window, index, other);
      const expected = [...lines(0, index), ...other.lines];
      expect(windowLines(next)).toEqual(expected);
      expect([...next.hashes]).toEqual([...hashed(expected).hashes]);
      expect([next.from, nextPlace(next)]).toEqual([700, 702 + index]);
      const whole = window.blocks.filter(({ first, count }) => first + count <= index);
      expect(next.blocks.slice(0, whole.length).map(({ packed }) => packed)).toEqual(
        whole.map(({ packed }) => packed),
      );
      expect(next.blocks.every(({ count }) => count <= 1_024)).toBe(true);
      const read = lineReader(next);
      expect(expected.map((_, at) => read(at))).toEqual(expected);
    },
  );

  test('goes on from few lines with many, and from many with few', () => {
    const [, few = EMPTY_WINDOW, many = EMPTY_WINDOW] = grown([1, 10, 9_995]);
    expect(few.hashes).toEqual(hashed(lines(0, 11)).hashes);
    expect([many.from, many.hashes.length, many.blocks.length]).toEqual([6, 10_000, 10]);
    expect(many.hashes).toEqual(hashed(lines(6, 10_000)).hashes);
    expect(windowLines(many, 10_000)).toEqual(lines(10_000, 6));
    const [block] = many.blocks;
    expect([block?.first, block?.count]).toEqual([0, 1_001]);
    const again = restoredWindow(many.from, many.blocks, many.recent);
    expect([again.from, again.hashes.length]).toEqual([6, 10_000]);
    expect(again.hashes).toEqual(many.hashes);
    expect([-1, 0, 994, 995].map(lineReader(many))).toEqual([undefined, line(6), line(1_000), line(1_001)]);
    expect(lineReader(rewrittenFrom(many, 500, other))(499)).toBe(line(505));
  });

  test('lets go of a block of which no line is left', () => {
    const [, after = EMPTY_WINDOW, one = EMPTY_WINDOW] = grown([300, 9_701, 1]);
    expect(after.blocks[0]).toMatchObject({ first: 0, count: 300 });
    expect([after.from, one.from]).toEqual([1, 2]);
    const [, none = EMPTY_WINDOW] = grown([300, 10_000]);
    expect([none.from, none.blocks[0]?.first]).toEqual([300, 300]);
  });

  test('is put together as it was stored, or from loose lines', () => {
    expect(restoredWindow(0, window.blocks, window.recent)).toEqual(window);
    expect(restoredWindow(40, [], ['one', 'two'])).toEqual({
      ...EMPTY_WINDOW,
      from: 40,
      hashes: other.hashes,
      recent: other.lines,
    });
  });

  test('says what is wrong with a block that cannot be read', () => {
    const [block] = window.blocks;
    if (block === undefined) throw new Error('nothing was packed');
    const broken = { ...block, packed: block.packed.map((byte) => byte ^ 0xa5) };
    expect(() => restoredWindow(0, [broken], [])).toThrow('a block of log lines cannot be unpacked');
    expect(() => restoredWindow(0, [{ ...block, count: 299 }], [])).toThrow(
      'a block of log lines has not as many as it says',
    );
  });
});
