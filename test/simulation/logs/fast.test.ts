/** Logs that slide through the window within seconds: every line once, and no gap where none was lost. */
import { expect, test } from 'vitest';
import { PATIENCE, RUNS, seedsOf } from '../prove.ts';
import { brokenPromises } from './fast-log.ts';

/** Each takes as long as a hundred other schedules. */
const WORLDS = Math.ceil(RUNS / 60);

test(
  'fast logs of a backend that lags, with late lines, polls that fail, and a process that dies',
  () => {
    const [first, last] = seedsOf(WORLDS);
    const found: string[] = [];
    const start = performance.now();
    for (let seed = first; seed <= last; seed++) found.push(...brokenPromises(seed));
    const seconds = ((performance.now() - start) / 1_000).toFixed(1);
    console.log(`fast logs: seeds ${first} to ${last}, ${seconds} s, ${found.length} violations`);
    expect(found).toEqual([]);
  },
  PATIENCE,
);
