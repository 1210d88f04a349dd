import { describe, expect, it } from 'vitest';
import { PATIENCE, runsAt, search, SCENARIOS, type ScenarioName } from './prove.ts';

describe('on a healthy service, within its stated bound,', () => {
  it.each([
    ['rotation', 'a new key is in use'],
    ['resume', 'a beat is acknowledged after a sleep'],
    ['farewell', 'the last beat leaves T − ε − A, and nothing remains after stop()'],
    ['mistakes', 'a service that forgets the deployment for T − ε − I − X′ loses nothing'],
    ['slowness', 'a constant latency of min(T/8, 30 s) loses nothing'],
  ] as [ScenarioName, string][])(
    '%s: %s',
    async (scenario) => {
      expect((await search(scenario, { runs: runsAt(20), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'beginnings: N deployments that are added together are each reached within T/10 and the queue',
    async () => {
      expect((await search('beginnings', { runs: runsAt(200), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'needed: what an app needs is kept; what none needs is withheld, and saved where the app is back in time',
    async () => {
      expect((await search('needed', { runs: runsAt(100), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'limiter: N deployments under one rate limit live where N · θ ≤ T − ε − X, and after outages in their order',
    async () => {
      expect((await search('limiter', { runs: runsAt(100), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'unnamedLimiter: they live under one that is not named where N · max(2 s, 1.5 θ) ≤ T − ε − X',
    async () => {
      expect((await search('unnamedLimiter', { runs: runsAt(100), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'oneKey: if the heartbeats fit the key, none lapses',
    async () => {
      expect((await search('oneKey', { runs: runsAt(4), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'oneKeyShares: daemons get half of what heartbeats leave, in 99 of 100 worlds',
    async () => {
      const { runs, violations } = await search('oneKeyShares', { runs: runsAt(4) });
      expect(violations / runs).toBeLessThan(0.01);
    },
    PATIENCE,
  );

  it(
    'connections: N deployments behind N places survive while connecting hangs',
    async () => {
      expect((await search('connections', { runs: runsAt(200), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );

  it(
    'concurrency: N deployments behind a limit of C requests survive together',
    async () => {
      expect((await search('concurrency', { runs: runsAt(100), enough: 5 })).examples).toEqual([]);
    },
    PATIENCE,
  );
});

it('beyond these bounds losses are found', async () => {
  expect((await search('concurrency', { runs: 30, factor: 1.6, enough: 1 })).violations).toBeGreaterThan(0);
  expect((await search('beginnings', { runs: 10, factor: 0.3, enough: 1 })).violations).toBeGreaterThan(0);
  expect((await search('limiter', { runs: 20, factor: 1.4 })).violations).toBeGreaterThan(3);
  expect((await search('connections', { runs: 20, factor: 1.25, enough: 1 })).violations).toBeGreaterThan(0);
  expect((await search('slowness', { runs: 30, factor: 1.5 })).violations).toBeGreaterThan(0);
  expect((await search('mistakes', { runs: 100, factor: 1.5 })).violations).toBeGreaterThan(10);
  expect((await search('needed', { runs: 60, factor: 0.5 })).violations).toBeGreaterThan(1);
});

it.each(Object.keys(SCENARIOS) as ScenarioName[])(
  'the same seed gives the same trace: %s',
  async (scenario) => {
    const [one, other] = await Promise.all(
      [7, 7].map((seed) => SCENARIOS[scenario]({ seed, factor: undefined, trace: true })),
    );
    expect(one?.trace.length).toBeGreaterThan(10);
    expect(other).toEqual(one);
  },
);
