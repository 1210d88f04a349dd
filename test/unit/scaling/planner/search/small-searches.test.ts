/**
 * Searches of some seconds of work, step for step: what is tried to the end, how much is given up, and how far it says
 * that it is. Whatever changes one of these is meant, or a mistake.
 */
import { expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import type { Candidate } from '../../../../../src/scaling/planner/search/candidate.ts';
import {
  searchParameters,
  type SearchOptions,
  type SearchRequest,
} from '../../../../../src/scaling/planner/search/search.ts';
import { scenarioOf } from '../../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf(
  { max_workers: 4, cold_workers: 1, target_util: 0.8 },
  { startSeconds: 40, coldStartSeconds: 10, controlSeconds: 10, destroySeconds: 120 },
);

function bursts(seconds: number, unitsPerRequest: number, seed = 1): RecordedLoad {
  return RecordedLoad.of(
    generateLoad({ shape: 'bursts', unitsPerSecond: 10, unitsPerRequest, seconds, seed }),
  );
}

/** target_util, cold_mult, cold_workers, min_load: cost, p99. */
function inWords({ target_util, cold_mult, cold_workers, min_load, cost, p99Seconds }: Candidate): string {
  return `${target_util} ${cold_mult} ${cold_workers} ${min_load}: ${cost.toFixed(4)}, ${p99Seconds.toFixed(1)} s`;
}

async function courseOf(request: Partial<SearchRequest>, options: SearchOptions = {}) {
  const shares = new Set<string>();
  let tries = 0;
  const found = await searchParameters(
    { base, settings, loads: [bursts(300, 60)], p99LimitSeconds: 60, ...request },
    {
      ...options,
      progress: ({ share, done }) => {
        shares.add(share.toFixed(2));
        tries = done;
      },
    },
  );
  return {
    tried: found.tried.map((set) => inWords(set)),
    best: found.best && inWords(found.best),
    counts: [found.givenUp, found.looked, tries],
    frontier: found.frontier.map((set) => inWords(set)),
    shares: [...shares].join(' '),
  };
}

test('the cheapest set that keeps a limit', async () => {
  const course = await courseOf({
    bounds: { cold_mult: [1, 1], target_util: [0.85, 0.9], cold_workers: [0, 2] },
  });
  expect(course).toMatchObject({
    tried: [
      '0.8 2.5 1 0: 0.2196, 24.6 s',
      '0.8 2.5 2 40: 0.3175, 1.7 s',
      '0.85 1 0 40: 0.3175, 1.7 s',
      '0.85 1 0 8.71: 0.1835, 11.4 s',
      '0.85 1 0 3.79: 0.1728, 32.8 s',
      '0.9 1 2 5.74: 0.1624, 32.8 s',
    ],
    best: '0.9 1 2 5.74: 0.1624, 32.8 s',
    counts: [61, 67, 67],
    shares: '0.00 0.04 0.06 0.42 0.51 0.60 0.67',
  });
});

test('the cheapest set under several loads', async () => {
  const course = await courseOf({
    loads: [bursts(300, 60), bursts(300, 60, 2)],
    bounds: { cold_mult: [1, 1.25], target_util: [0.9, 0.9], cold_workers: [0, 1] },
  });
  expect(course).toMatchObject({
    tried: [
      '0.8 2.5 1 0: 0.2136, 24.6 s',
      '0.8 2.5 1 40: 0.3256, 1.7 s',
      '0.9 1 1 40: 0.3256, 1.7 s',
      '0.9 1 1 8.71: 0.1887, 32.8 s',
      '0.9 1 1 0: 0.1756, 24.6 s',
    ],
    best: '0.9 1 1 0: 0.1756, 24.6 s',
    counts: [33, 38, 38],
    shares: '0.00 0.04 0.06 0.42 0.60 0.67',
  });
});

test('the cheapest sets of other limits', async () => {
  const course = await courseOf(
    { bounds: { cold_mult: [1, 1], target_util: [0.8, 0.8] } },
    { frontier: true },
  );
  expect(course).toMatchObject({
    tried: [
      '0.8 2.5 1 0: 0.2196, 24.6 s',
      '0.8 2.5 4 40: 0.3175, 1.7 s',
      '0.8 1 0 40: 0.3175, 1.7 s',
      '0.8 1 3 40: 0.3175, 1.7 s',
      '0.8 1 0 8.71: 0.1835, 11.4 s',
      '0.8 1 3 8.71: 0.1941, 11.4 s',
      '0.8 1 0 3.79: 0.1807, 11.4 s',
      '0.8 1 1 0: 0.1781, 24.6 s',
      '0.8 1 2 0: 0.1782, 24.6 s',
      '0.8 1 0 17.4: 0.2381, 5.6 s',
      '0.8 1 1 17.4: 0.2381, 5.6 s',
      '0.8 1 3 17.4: 0.2381, 5.6 s',
      '0.8 1 4 17.4: 0.2421, 5.6 s',
    ],
    best: '0.8 1 1 0: 0.1781, 24.6 s',
    counts: [55, 68, 68],
    frontier: [
      '0.8 1 1 0: 0.1781, 24.6 s',
      '0.8 1 0 3.79: 0.1807, 11.4 s',
      '0.8 1 0 17.4: 0.2381, 5.6 s',
      '0.8 2.5 4 40: 0.3175, 1.7 s',
    ],
    shares: '0.00 0.03 0.06 0.33 0.60 0.67 0.73 0.76 0.79 0.81 0.83 0.84 0.87 0.89 0.92 0.95 0.97',
  });
});

test('a long load, by its sample', async () => {
  const course = await courseOf(
    {
      loads: [bursts(6 * 3600, 600)],
      sampleRequests: 100,
      p99LimitSeconds: 300,
      bounds: { cold_mult: [1, 1], target_util: [0.7, 0.7], cold_workers: [1, 2] },
    },
    { frontier: true },
  );
  expect(course).toMatchObject({
    tried: [
      '0.8 2.5 1 0: 15.9904, 60.2 s',
      '0.7 2.5 2 40: 24.0036, 44.7 s',
      '0.7 1 2 0: 15.7106, 57.9 s',
      '0.7 1 1 6.6: 17.0344, 52.9 s',
      '0.7 1 1 40: 24.0036, 44.7 s',
    ],
    best: '0.7 1 2 0: 15.7106, 57.9 s',
    counts: [0, 22, 25],
    frontier: ['0.7 1 2 0: 15.7106, 57.9 s', '0.7 1 1 6.6: 17.0344, 52.9 s', '0.7 2.5 2 40: 24.0036, 44.7 s'],
    shares: '0.00 0.04 0.06 0.47 0.60 0.67 0.73 0.76 0.78 0.81 0.82 0.86 0.87 0.90 0.91 0.94 0.96 0.99',
  });
});

test('without a limit a frontier is drawn, and nothing is named', async () => {
  const bounds = { cold_mult: [1, 1], target_util: [0.8, 0.8], cold_workers: [0, 1] } as const;
  const { best, frontier } = await courseOf({ p99LimitSeconds: undefined, bounds });
  expect(best).toBeUndefined();
  expect(frontier.length).toBeGreaterThan(3);
});
