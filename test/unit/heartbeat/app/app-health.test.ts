import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { type AppHealth, askEvery, observeApp, startAppHealth } from '../../../../src/heartbeat/app-watch.ts';

const GRACE = 60_000;

/** Answers, each so many ms after the one before. */
function after(answers: readonly (readonly [ms: number, healthy: boolean])[], grace = GRACE): AppHealth {
  let mono = 1_000;
  let health = startAppHealth(grace, mono);
  for (const [ms, well] of answers) {
    mono += ms;
    health = observeApp(health, { type: 'answered', healthy: well }, mono);
  }
  return health;
}

const bad = (count: number, ms = 5_000) => Array.from({ length: count }, () => [ms, false] as const);

test('an app that is never well releases its deployments when the grace has passed since the start', () => {
  expect(after(bad(11)).withheld).toBe(false);
  expect(after(bad(12))).toMatchObject({ withheld: true, unhealthyMs: GRACE, misses: 12 });
});

test('time in which it could not be asked does not count: a sleep, a stall, a clock that jumped', () => {
  const asleep = after([[5_000, true], [3_600_000, false], ...bad(3)]);
  expect(asleep).toMatchObject({ withheld: false, unhealthyMs: 8_000 + 15_000 });
  expect(after([[5_000, true], ...bad(2, -9e9)])).toMatchObject({ withheld: false, unhealthyMs: 0 });
});

test('another grace applies to what is known', () => {
  const health = after(bad(12));
  expect(observeApp(health, { type: 'grace', grace: GRACE + 1 }, 0).withheld).toBe(false);
  expect(observeApp(after(bad(11)), { type: 'grace', grace: 30_000 }, 0).withheld).toBe(true);
});

test('it is asked every second once it is withheld', () => {
  expect([after(bad(11)), after(bad(12))].map((health) => askEvery(health))).toEqual([5_000, 1_000]);
});

test('withheld exactly where the last good answer is a grace ago, or the start, by what could be asked', () => {
  const answer = fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(answer), fc.integer({ min: 5_000, max: 60_000 }), (answers, grace) => {
      const since = answers.slice(answers.findLastIndex(([, well]) => well) + 1);
      const unhealthy = since.reduce((sum, [ms]) => sum + Math.min(ms, 8_000), 0);
      expect(after(answers, grace).withheld).toBe(since.length >= 2 && unhealthy >= grace);
    }),
  );
});
