/**
 * Whether advice is honest: in truthful worlds the backtest and what is promised are near what happens; in worlds that
 * differ from what a planner takes for granted, advice is near it or declines, and is never confidently wrong. Twenty
 * worlds here, a thousand in `npm run test:long`; their seeds are in the names.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { RUNS } from '../prove.ts';
import { AdviceTable, MOST_WRONG, savingOffBy, wrongBy } from './table.ts';
import { trialOf } from './trial.ts';
import { KINDS, worldOf } from './worlds.ts';

const WORLDS = process.env['SIMULATION_RUNS'] === undefined ? 20 : Math.min(1_000, RUNS);
const FIRST_SEED = 1_000;
/** A small world is a few hours: chance alone moves its workers by some percent. */
const MOST_BACKTEST_ERROR = 0.1;
const MOST_SAVING_ERROR = 0.1;
/** Of all worlds: what changes in the last minutes of a history, or is hidden behind a mean, nobody can see. */
const MOST_WRONG_SHARE = 0.02;
/** In the middle of all truthful worlds. */
const USUAL_BACKTEST_ERROR = 0.05;

const table = new AdviceTable();
const worlds = Array.from({ length: WORLDS }, (_, index) => ({
  kind: KINDS[index % KINDS.length] ?? 'truthful',
  seed: FIRST_SEED + index,
}));
const backtests: number[] = [];
const wrong: string[] = [];

describe.each(worlds)('world $seed: $kind', ({ kind, seed }) => {
  test('is near what happens, or declines', async () => {
    const trial = await trialOf(worldOf(kind, seed));
    table.add(kind, seed, trial);
    const { report } = trial;
    if (kind === 'ten minutes' || kind === 'no load') expect(report.verdict).toBe('declined');
    const dearer = report.verdict === 'change' && trial.best.costPerHour > trial.today.costPerHour * 1.05;
    if ((wrongBy(trial) ?? 0) > MOST_WRONG || dearer) wrong.push(`${kind}, seed ${seed}: ${report.sentence}`);
    if (kind !== 'truthful') return;
    backtests.push(report.backtest?.errorRatio ?? Infinity);
    expect(Math.abs(savingOffBy(trial) ?? 0), report.sentence).toBeLessThanOrEqual(MOST_SAVING_ERROR);
  });
});

test('advice that is wrong is as rare as that, in all worlds together', () => {
  expect(wrong.length / WORLDS, wrong.join('\n')).toBeLessThanOrEqual(MOST_WRONG_SHARE);
});

test('truthful backtests are off by no more than 5% in the middle, and 10% in nine of ten', () => {
  const sorted = backtests.sort((a, b) => a - b);
  expect(sorted[Math.floor(sorted.length / 2)]).toBeLessThanOrEqual(USUAL_BACKTEST_ERROR);
  expect(sorted[Math.floor(sorted.length * 0.9 - 0.1)]).toBeLessThanOrEqual(MOST_BACKTEST_ERROR);
});

afterAll(() => {
  process.stdout.write(`${[...table.lines, ...wrong].join('\n')}\n`);
});
