import { expect, test } from 'vitest';
import { HOUR_MS, priceOf } from '../../../../src/scaling/autotune/minutes.ts';
import { minutesOf } from '../../../support/steering.ts';

test('the price of a worker is what was paid for each, at the least', () => {
  const minutes = [...minutesOf(0, HOUR_MS, { ready: 0 }), ...minutesOf(HOUR_MS, 2 * HOUR_MS, { ready: 4 })];
  expect(priceOf(minutes)).toBe(0.5);
  expect(priceOf(minutesOf(0, HOUR_MS, { cost: null }))).toBe(0);
  // Of a minute in which a worker was there for a part the cost is not that of one, and nobody's cost is none.
  const partly = minutesOf(2 * HOUR_MS, 3 * HOUR_MS, { ready: 0.5, cost: 0.1 });
  expect(priceOf([...minutes, ...partly, ...minutesOf(3 * HOUR_MS, 4 * HOUR_MS, { cost: null })])).toBe(0.5);
  expect(priceOf(minutesOf(0, HOUR_MS, { ready: 1, cost: 3 }))).toBe(3);
});
