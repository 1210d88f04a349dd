import { expect, it } from 'vitest';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { outageBound } from './outages.ts';
import { PATIENCE, RUNS, search } from './prove.ts';

it.each([
  [20_000, 0.58],
  [60_000, 0.59],
  [300_000, 0.66],
  [3_600_000, 0.96],
])('the bound for a single outage at a TTL of %i ms is %f T', (ttl, part) => {
  const bound = outageBound(timingFor({ ttl, interval: 'auto' })) / ttl;
  expect(Math.floor(bound * 100) / 100).toBe(part);
});

it(
  'any single outage within the bound is survived, whatever its kind',
  async () => {
    expect((await search('outages', { runs: RUNS, enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

// The bound is near the truth: a quarter of the outages a little above it cost a deployment.
it('of outages of 1.3 times the bound many are not', async () => {
  const { runs, violations } = await search('outages', { runs: 500, factor: 1.3 });
  expect(violations / runs).toBeGreaterThan(0.25);
});
