import { expect, test } from 'vitest';
import { Stagger } from '../../../../src/heartbeat/driver/driver.ts';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';

const APART = 1_000 / 1_750;

/** Of so many that are added together at 7,000. */
function dues(count: number, ttl: number, stagger = new Stagger()): number[] {
  const timing = timingFor({ ttl, interval: 'auto' });
  return Array.from({ length: count }, () => stagger.join(7_000, timing).dueAt - 7_000);
}

test('32 are due at once, and the others at a steady pace', () => {
  const all = dues(40, 60_000);
  expect(all.slice(0, 32).every((at) => at < 1e-6)).toBe(true);
  expect(all.slice(32)).toEqual(
    Array.from({ length: 8 }, (_, index) => expect.closeTo((index + 1) * APART, 6)),
  );
});

test('whoever would have to wait for more than T/10 is due at once', () => {
  const all = dues(40, 20); // T/10 is 2 ms
  const late = all.slice(32);
  expect(late.slice(0, 3)).toEqual([1, 2, 3].map((place) => expect.closeTo(place * APART, 6)));
  expect(late.slice(3)).toEqual([0, 0, 0, 0, 0]);
});

test('after a while there is room for as many at once again', () => {
  const stagger = new Stagger();
  dues(40, 60_000, stagger);
  const timing = timingFor({ ttl: 60_000, interval: 'auto' });
  expect(stagger.join(8_000, timing).dueAt).toBe(8_000);
});

test('each has a part of the interval of its own, and they lie evenly', () => {
  const stagger = new Stagger();
  const timing = timingFor({ ttl: 60_000, interval: 'auto' });
  const spreads = Array.from({ length: 100 }, () => stagger.join(0, timing).spread).toSorted((a, b) => a - b);
  expect(spreads.every((spread) => spread > 0 && spread <= 1)).toBe(true);
  const gaps = spreads.map((spread, index) => spread - (spreads[index - 1] ?? 0));
  expect(Math.max(...gaps)).toBeLessThan(0.03);
});
