/** The recorded load as a rate over time, and its holes. */
import { expect, test } from 'vitest';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import { LOOK_MS, stretch, stretches } from './stretches.ts';

const MINUTE_MS = 60_000;

test('looks one after the other are one load without a hole', () => {
  const rate = rateOf(stretches(240));
  expect(rate).toMatchObject({ seconds: 3600, seenSeconds: 3600, work: 360_000, holes: [] });
  expect(rate.pieces).toHaveLength(240);
});

test('a look or two that are missing leave no hole: it went on as it was', () => {
  const rate = rateOf([stretch(0), stretch(2 * MINUTE_MS, { load: 300, loadAverage: 300 })]);
  expect(rate.holes).toEqual([]);
  expect(rate.seconds).toBe(135);
  expect(rate.work).toBe(15 * 100 + 105 * 100 + 15 * 300);
});

test('a hole of hours is cut out, said, and bridged from the load before it to the one after', () => {
  const from = LOOK_MS;
  const to = from + 5 * 60 * MINUTE_MS;
  const rate = rateOf([stretch(0), stretch(to, { load: 300, loadAverage: 300 })]);
  expect(rate.holes).toEqual([{ fromMs: from, toMs: to }]);
  expect(rate.seenSeconds).toBe(30);
  expect(rate.seconds).toBe(630);
  const bridge = rate.pieces.filter((piece) => piece.stretch === undefined).map((piece) => piece.rate);
  expect(bridge).toEqual(bridge.toSorted((a, b) => a - b));
  expect(bridge.every((each) => each > 100 && each < 300)).toBe(true);
});

test('a load that nobody knew is a hole, and no zero', () => {
  const unknown = { load: null, loadAverage: null };
  const rate = rateOf(stretches(100, (index) => (index >= 20 && index < 60 ? unknown : {})));
  expect(rate.holes).toHaveLength(1);
  expect(rate.seenSeconds).toBe(60 * 15);
  expect(Math.min(...rate.pieces.map((piece) => piece.rate))).toBeCloseTo(100);
});

test('what one of the two figures lacks, the other has', () => {
  expect(rateOf([stretch(0, { load: null, loadAverage: 70 })]).work).toBeCloseTo(15 * 70);
  expect(rateOf([stretch(0, { load: 30, loadAverage: null })]).work).toBeCloseTo(15 * 30);
});

test('pieces lie one behind the other', () => {
  const { pieces, seconds } = rateOf([...stretches(5), stretch(9_000_000), stretch(9_900_000)]);
  let at = 0;
  for (const piece of pieces) {
    expect(piece.atSeconds).toBe(at);
    at += piece.seconds;
  }
  expect(at).toBe(seconds);
});

test.each([
  ['are no hole up to three minutes', 180_000, 0],
  ['are one beyond', 180_001, 1],
])('looks that are missing %s', (_, gapMs, count) => {
  const { holes, pieces } = rateOf([
    stretch(5_000),
    stretch(20_000 + gapMs, { load: 200, loadAverage: 200 }),
  ]);
  expect(holes).toEqual(count === 0 ? [] : [{ fromMs: 20_000, toMs: 20_000 + gapMs }]);
  // What nobody saw belongs to no stretch; what went on as it was to the one before.
  expect(pieces[1]).toMatchObject(
    count === 0 ? { seconds: 180, rate: 100, stretch: 0 } : { seconds: 15, stretch: undefined },
  );
});

test('a bridge goes in forty even steps', () => {
  const { pieces, work } = rateOf([
    stretch(0, { load: 100, loadAverage: 100 }),
    stretch(9_000_000, { load: 300, loadAverage: 300 }),
  ]);
  expect(pieces).toHaveLength(42);
  expect([pieces[1]?.rate, pieces[2]?.rate, pieces[40]?.rate]).toEqual([102.5, 107.5, 297.5]);
  expect(work).toBeCloseTo(15 * 100 + 600 * 200 + 15 * 300, 6);
});

test.each([
  [10, 20, 16],
  [30, 20, 24],
  [0, 20, 12],
])('a look of %d where the average is %d counts as %d', (load, loadAverage, rate) => {
  expect(rateOf([stretch(0, { load, loadAverage })]).pieces[0]?.rate).toBeCloseTo(rate, 9);
});

test('a stretch of no length is none', () => {
  expect(rateOf([stretch(0, { toMs: 0 }), stretch(0)]).pieces).toHaveLength(1);
  expect(rateOf([])).toEqual({ pieces: [], seconds: 0, seenSeconds: 0, work: 0, holes: [] });
});
