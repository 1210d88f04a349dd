/** What is best on the sample of a long load is tried on all of it, and by how much it is off there the sample is read. */
import { describe, expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { searchParameters, type SearchRequest } from '../../../../../src/scaling/planner/search/search.ts';
import { scenarioOf } from '../../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf(
  { max_workers: 4, cold_workers: 1, target_util: 0.8 },
  { startSeconds: 40, coldStartSeconds: 10, controlSeconds: 10, destroySeconds: 120 },
);

/** Six hours of bursts, and of their 3,500 requests a quarter: so few that a sample may well be off. */
function requestOf(seed: number, p99LimitSeconds: number): SearchRequest {
  const shape = { shape: 'bursts', unitsPerSecond: 10, unitsPerRequest: 60, seconds: 6 * 3600 } as const;
  const loads = [RecordedLoad.of(generateLoad({ ...shape, seed }))];
  const bounds = { cold_mult: [1, 1], target_util: [0.7, 0.7], cold_workers: [1, 2] } as const;
  return { base, settings, loads, p99LimitSeconds, bounds, sampleRequests: 900 };
}

describe('the best set of a sample', () => {
  // Sets as cold_workers/min_load: what all of the load says of them; how many were looked at, and given up on all of it.
  test.each<[string, number, number, string[], number, number]>([
    ['keeps the limit on the whole', 8, 40, ['1/0: 15.326, 38.1 s'], 20, 0],
    [
      'is late too seldom: the sample, less strict, knows of none cheaper',
      9,
      30,
      ['1/15.2: 18.934, 27.2 s'],
      32,
      0,
    ],
    [
      'is late on the whole: a stricter sample names another',
      3,
      25,
      ['1/15.2: 19.064, 27.2 s', '1/40: 23.994, 12.9 s'],
      35,
      0,
    ],
    ['is late on the whole: much stricter', 7, 40, ['2/6.6: 15.087, 42.1 s', '1/20: 19.045, 30.6 s'], 57, 0],
    ['is none: the whole has to tell', 12, 25, ['1/40: 24.005, 22.3 s'], 2, 32],
  ])('%s', async (_, seed, limit, followed, looked, givenUp) => {
    const request = requestOf(seed, limit);
    const steps: number[] = [];
    const found = await searchParameters(request, { progress: ({ done }) => steps.push(done) });
    const words = found.tried.map(
      ({ cold_workers, min_load, cost, p99Seconds }) =>
        `${cold_workers}/${min_load}: ${cost.toFixed(3)}, ${p99Seconds.toFixed(1)} s`,
    );
    // Behind the set in force and the one with all workers hot.
    expect(words.slice(2)).toEqual(followed);
    expect([found.looked, found.givenUp]).toEqual([looked, givenUp]);
    expect(steps.at(-1)).toBe(looked + givenUp + found.tried.length);
    expect(steps).toEqual(steps.toSorted((one, other) => one - other));
    expect(found.best).toBe(found.tried.at(-1));
    const whole = await searchParameters({ ...request, sampleRequests: Infinity });
    expect(found.best?.cost).toBeLessThanOrEqual((whole.best?.cost ?? 0) * 1.01);
  });
});
