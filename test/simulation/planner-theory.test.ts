/**
 * The planner against queueing theory, where theory has an answer: a pool of workers that never changes is an
 * M/M/c or M/D/1 queue. As many requests as it takes for chance to stay well below the 3% that are allowed.
 */
import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../src/scaling/planner/generators.ts';
import { plan } from '../../src/scaling/planner/plan.ts';
import { fixedPool, scenarioOf } from '../support/plans.ts';

/** Workers do 1 unit/s and requests are of 1 unit, so that a service takes a second. */
function meanWait(workers: number, utilisation: number, sizes: 'exponential' | 'fixed', count: number) {
  const rate = workers * utilisation;
  const load = generateLoad({
    shape: 'poisson',
    unitsPerSecond: rate,
    unitsPerRequest: 1,
    seconds: count / rate,
    sizes,
  });
  return plan({ ...scenarioOf(fixedPool(workers, 1), { speed: 1 }), series: false }, load).queueTime.mean;
}

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

// Not 20 workers at 0.5: there one request in 270 waits at all, and chance alone makes more than 3%.
describe('M/M/c: the mean wait is that of Erlang C, within 3%', () => {
  test.each([
    [1, 0.5, 4e6],
    [5, 0.5, 8e6],
    [1, 0.8, 8e6],
    [5, 0.8, 8e6],
    [20, 0.8, 8e6],
    [1, 0.95, 16e6],
    [5, 0.95, 16e6],
    [20, 0.95, 16e6],
  ])('%i workers at utilisation %f', (workers, utilisation, count) => {
    const theory = erlangCWait(workers, utilisation);
    expect(Math.abs(meanWait(workers, utilisation, 'exponential', count) / theory - 1)).toBeLessThan(0.03);
  });
});

describe('M/D/1: the mean wait is that of Pollaczek and Khinchine, within 3%', () => {
  test.each([
    [0.5, 2e6],
    [0.8, 4e6],
    [0.95, 8e6],
  ])('one worker at utilisation %f', (utilisation, count) => {
    const theory = utilisation / (2 * (1 - utilisation));
    expect(Math.abs(meanWait(1, utilisation, 'fixed', count) / theory - 1)).toBeLessThan(0.03);
  });
});
