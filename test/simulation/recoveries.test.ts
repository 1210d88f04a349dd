import { expect, it } from 'vitest';
import { isLong } from '../support/long.ts';
import { PATIENCE, runsAt, search, SCENARIOS, type ScenarioName } from './prove.ts';

it.each<[ScenarioName, cost: number, promise: string]>([
  ['rotation', 20, 'a new key is in use'],
  ['resume', 20, 'a heartbeat is accepted after a sleep'],
  ['farewell', 20, 'the last heartbeat leaves T − ε − A, and nothing remains after stop()'],
  ['mistakes', 20, 'a service that forgets the deployment for T − ε − I − X′ loses nothing'],
  ['slowness', 20, 'a constant latency of min(T/8, 30 s) loses nothing'],
  ['beginnings', 400, 'N deployments that are added together are each reached within T/10 and the queue'],
  ['needed', 100, 'what an app needs is kept; what none needs is withheld, and saved if it is back'],
  ['limiter', 100, 'deployments under one limit live if N · θ ≤ T − ε − X, after outages in their order'],
  ['unnamedLimiter', 100, 'they live under one that is not named if N · max(2 s, 1.5 θ) ≤ T − ε − X'],
  ['connections', 200, 'N deployments behind N places survive while connecting hangs'],
  ['concurrency', 100, 'N deployments behind a limit of C requests survive together'],
])(
  '%s, within its stated bound (a %d-th of the runs): %s',
  async (scenario, cost) => {
    expect((await search(scenario, { runs: runsAt(cost), enough: 5 })).examples).toEqual([]);
  },
  PATIENCE,
);

// Of fewer than a hundred runs none may break its promise.
it.each<[ScenarioName, cost: number, promise: string]>([
  ['oneKey', 10, 'if the heartbeats fit the key, none lapses'],
  ['sidecars', 5, 'nor of hearts that know nothing of each other, if N · θ ≤ 0.5 (T − ε − X)'],
  ['oneKeyShares', 10, 'daemons get half of what heartbeats leave'],
])(
  '%s, in 99 of 100 worlds (a %d-th of the runs): %s',
  async (scenario, cost) => {
    const { runs, violations, examples } = await search(scenario, { runs: runsAt(cost) });
    expect(violations / runs, examples.join('\n')).toBeLessThan(0.01);
  },
  PATIENCE,
);

it.each<[ScenarioName, runs: number, factor: number, atLeast: number]>([
  ['concurrency', 30, 1.6, 1],
  ['beginnings', 10, 0.3, 1],
  ['limiter', 20, 1.4, 4],
  ['sidecars', 20, 2, 4],
  ['connections', 20, 1.25, 1],
  ['slowness', 30, 1.5, 1],
  ['mistakes', 100, 1.5, 11],
  ['needed', 60, 0.5, 2],
])('%s: of %d runs beyond its bound, at %f of it, losses are found', async (name, runs, factor, atLeast) => {
  const { violations } = await search(name, { runs, factor, enough: atLeast });
  expect(violations).toBe(atLeast);
});

/** Others of the same worlds are as good, and begin with fewer deployments. */
const DEAR: ReadonlySet<string> = new Set(['beginnings', 'connections', 'oneKeyInChaos', 'oneKeyShares']);
const repeated = Object.keys(SCENARIOS).filter((name) => isLong || !DEAR.has(name)) as ScenarioName[];

it.each(repeated)('the same seed gives the same trace: %s', async (scenario) => {
  const [one, other] = await Promise.all(
    [7, 7].map((seed) => SCENARIOS[scenario]({ seed, factor: undefined, trace: true })),
  );
  expect(one?.trace.length).toBeGreaterThan(10);
  expect(other).toEqual(one);
});
