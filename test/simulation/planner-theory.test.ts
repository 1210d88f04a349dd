/**
 * The planner against queueing theory: a pool of workers that never changes is a G/G/c queue. Under the same requests it
 * waits as the Kiefer and Wolfowitz recursion says; under many random ones, as Erlang C and Pollaczek-Khinchine say.
 */
import { expect, test } from 'vitest';
import { type Arrival, type GeneratedLoad, generateLoad } from '../../src/scaling/planner/load.ts';
import { plan } from '../../src/scaling/planner/plan.ts';
import { isLong } from '../support/long.ts';
import { fixedPool, scenarioOf } from '../support/plans.ts';

/** Workers do 1 unit/s and requests are of 1 unit, so that a service takes a second. */
function loadOf(
  workers: number,
  utilisation: number,
  count: number,
  described: Partial<GeneratedLoad> = {},
): Iterable<Arrival> {
  const rate = workers * utilisation;
  return generateLoad({
    shape: 'poisson',
    unitsPerSecond: rate,
    unitsPerRequest: 1,
    seconds: count / rate,
    ...described,
  });
}

/** The group never has anything to decide, so it decides rarely: which is most of the time that a plan takes. */
function waitsIn(workers: number, load: Iterable<Arrival>) {
  const scenario = scenarioOf(fixedPool(workers, 1), { speed: 1, controlSeconds: 86_400 });
  return plan({ ...scenario, series: false }, load).queueTime;
}

/** First come first served by c servers: each request goes to the one that is free first (Kiefer, Wolfowitz 1955). */
function kieferWolfowitz(workers: number, load: Iterable<Arrival>) {
  const freeAt = Array.from({ length: workers }, () => 0);
  let [count, sum, max] = [0, 0, 0];
  for (const { atSeconds, work } of load) {
    const first = freeAt.indexOf(Math.min(...freeAt));
    const begins = Math.max(atSeconds, freeAt[first] ?? 0);
    freeAt[first] = begins + work;
    count += 1;
    sum += begins - atSeconds;
    max = Math.max(max, begins - atSeconds);
  }
  return { mean: sum / count, max };
}

const pools = [1, 2, 5, 20].flatMap((workers) => [0.5, 0.8, 0.95, 1.2].map((use) => [workers, use] as const));
test.each(pools)(
  '%i workers at utilisation %f wait exactly as Kiefer and Wolfowitz',
  (workers, utilisation) => {
    for (const shape of ['poisson', 'bursts', 'constant'] as const) {
      const load = [...loadOf(workers, utilisation, 5_000, { shape })];
      const [planned, exact] = [waitsIn(workers, load), kieferWolfowitz(workers, load)];
      expect(planned.mean).toBeCloseTo(exact.mean, 9);
      expect(planned.max).toBe(exact.max);
    }
  },
);

/** Erlang C: the mean wait of M/M/c in services, by the recurrence of Erlang B. */
function erlangCWait(workers: number, utilisation: number): number {
  const offered = workers * utilisation;
  let blocked = 1;
  for (let worker = 1; worker <= workers; worker += 1) {
    blocked = (offered * blocked) / (worker + offered * blocked);
  }
  const waits = blocked / (1 - utilisation * (1 - blocked));
  return waits / (workers * (1 - utilisation));
}

// As many requests as keep the standard error at about a third of what is allowed. For M/M/1 it is
// sqrt(ρ (2 + 5ρ - 4ρ² + ρ³) / n) / (1-ρ)² services (Daley 1968): 1% of the mean with 16 million at 0.95.
test.each<readonly [workers: number, utilisation: number, count: number]>([
  [1, 0.5, 1e6],
  [5, 0.5, 2e6],
  [1, 0.8, 2e6],
  [5, 0.8, 2e6],
  ...(isLong ? ([[5, 0.95, 16e6]] as const) : []),
])('%i workers at utilisation %f wait as Erlang C says, within 3 percent', (workers, utilisation, count) => {
  const { mean } = waitsIn(workers, loadOf(workers, utilisation, count));
  expect(Math.abs(mean / erlangCWait(workers, utilisation) - 1)).toBeLessThan(0.03);
});

test.each<readonly [utilisation: number, count: number]>([
  [0.5, 5e5],
  [0.8, 1e6],
  ...(isLong ? ([[0.95, 8e6]] as const) : []),
])('M/D/1 at utilisation %f waits as Pollaczek and Khinchine say, within 3 percent', (utilisation, count) => {
  const theory = utilisation / (2 * (1 - utilisation));
  const { mean } = waitsIn(1, loadOf(1, utilisation, count, { sizes: 'fixed' }));
  expect(Math.abs(mean / theory - 1)).toBeLessThan(0.03);
});
