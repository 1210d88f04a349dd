import { expect, it } from 'vitest';
import type { BrokenEngine, BrokenLimiter } from './broken-engines.ts';
import { search, type ScenarioName } from './prove.ts';

/** One of `windows` needs 47, which has more in any run. */
const MOST_SEEDS = 50;

const NOTICED_BY = {
  'no timeout': 'windows',
  'basis at receipt': 'windows',
  'wall clock only': 'chaos',
  'monotonic clock only': 'resume',
  'retry budget': 'windows',
  'first failure is the last': 'windows',
  'reused socket': 'windows',
  '404 is final at first sight': 'windows',
  'gone is for ever': 'mistakes',
  'backoff without a cap': 'windows',
  'interval jittered to later': 'outages',
  'retries at once': 'chaos',
  'wait not cut short': 'outages',
  'key read once': 'rotation',
  'any answer is success': 'outages',
  'slow attempts given up at A': 'slowness',
  'nothing is aborted': 'windows',
  'no attempt gives way': 'connections',
  'withheld ones are beaten': 'needed',
  'withheld for ever': 'needed',
  'resumed at its interval': 'needed',
} as const satisfies Record<BrokenEngine, ScenarioName>;

const LIMITERS_NOTICED_BY = {
  'the daemon does not yield': 'oneKeyInChaos',
  'a closed bucket is asked early': 'limiter',
  'no spacing is learned': 'limiter',
  'the daemon comes back at once': 'oneKeyInChaos',
  'a wait is never cut short': 'outages',
  'logs are always first': 'oneKeyShares',
} as const satisfies Record<BrokenLimiter, ScenarioName>;

it.each([
  ...Object.entries(NOTICED_BY).map(([name, by]) => ({ name, by, engine: name as BrokenEngine })),
  ...Object.entries(LIMITERS_NOTICED_BY).map(([name, by]) => ({ name, by, limiter: name as BrokenLimiter })),
])('the mistake "$name" is noticed by the scenario $by', async ({ name, by, ...broken }) => {
  const { runs, violations, examples } = await search(by, { runs: MOST_SEEDS, ...broken, enough: 1 });
  console.log(`${name}: noticed by ${by} with seed ${runs}: ${examples[0]}`);
  expect(violations).toBe(1);
});
