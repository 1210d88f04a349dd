import { expect, it } from 'vitest';
import { timingFor } from '../../src/heartbeat/engine/formulas.ts';
import { outageBound } from './outages.ts';
import { PATIENCE, runsAt, search, type ScenarioName } from './prove.ts';

it.each([
  [20_000, 0.58],
  [60_000, 0.59],
  [300_000, 0.66],
  [3_600_000, 0.96],
])('the bound for a single outage at a TTL of %i ms is %f T', (ttl, part) => {
  const bound = outageBound(timingFor({ ttl, interval: 'auto' })) / ttl;
  expect(Math.floor(bound * 100) / 100).toBe(part);
});

it.each<[ScenarioName, cost: number, promise: string]>([
  ['windows', 1, 'every window of X inside [b + I, b + T − ε] saves the deployment, wherever it is put'],
  ['outages', 1, 'any single outage within the bound is survived, whatever its kind'],
  ['chaos', 3, 'with everything going wrong at once no promise is broken'],
  ['chaosUnderLimit', 6, 'nor with one rate limit for all'],
  ['chaosUnderUnnamedLimit', 6, 'nor with one that is not named'],
])(
  '%s (a %d-th of the runs): %s',
  async (scenario, cost) => {
    expect((await search(scenario, { runs: runsAt(cost), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

it(
  'oneKeyInChaos, in 99 of 100 worlds: with a failing network, and one key for several processes, no deployment lapses',
  async () => {
    const { runs, violations, examples } = await search('oneKeyInChaos', { runs: runsAt(5) });
    expect(violations / runs, examples.join('\n')).toBeLessThan(0.01);
  },
  PATIENCE,
);

// The bounds are near the truth: a quarter of what is a little beyond them costs a deployment.
it.each<[ScenarioName, factor: number]>([
  ['windows', 0.7],
  ['outages', 1.3],
])('of %s of %f times the bound many do', async (scenario, factor) => {
  const { runs, violations } = await search(scenario, { runs: 100, factor });
  expect(violations / runs).toBeGreaterThan(0.25);
});
