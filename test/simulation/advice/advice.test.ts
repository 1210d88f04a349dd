/**
 * Whether advice is honest: in truthful worlds the backtest and what is promised are near what happens; in worlds that
 * differ from what a planner takes for granted, advice is near it or declines, and is never confidently wrong. Twenty
 * worlds here, a thousand in `npm run test:long`; their seeds are in the names.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { AdviceTable, MOST_WRONG, savingOffBy, wrongBy } from './table.ts';
import { trialOf } from './trial.ts';
import { KINDS, worldOf } from './worlds.ts';

const WORLDS = process.env['SIMULATION_RUNS'] === undefined ? 20 : 1_000;
const FIRST_SEED = 1_000;
/** A small world is a few hours: chance alone moves its workers by some percent. */
const MOST_BACKTEST_ERROR = 0.1;
const MOST_SAVING_ERROR = 0.1;
/** In the middle of all truthful worlds. */
const USUAL_BACKTEST_ERROR = 0.05;

const table = new AdviceTable();
const worlds = Array.from({ length: WORLDS }, (_, index) => ({
  kind: KINDS[index % KINDS.length] ?? 'truthful',
  seed: FIRST_SEED + index,
}));
const backtests: number[] = [];

describe.each(worlds)('world $seed: $kind', ({ kind, seed }) => {
  test('is near what happens, or declines', async () => {
    const trial = await trialOf(worldOf(kind, seed));
    table.add(kind, seed, trial);
    const { report } = trial;
    if (kind === 'ten minutes' || kind === 'no load') expect(report.verdict).toBe('declined');
    expect(wrongBy(trial) ?? 0, report.sentence).toBeLessThanOrEqual(MOST_WRONG);
    if (report.verdict === 'change') {
      expect(trial.best.costPerHour, report.sentence).toBeLessThan(trial.today.costPerHour * 1.05);
    }
    if (kind !== 'truthful') return;
    backtests.push(report.backtest?.errorRatio ?? Infinity);
    expect(report.backtest?.errorRatio).toBeLessThanOrEqual(MOST_BACKTEST_ERROR);
    expect(Math.abs(savingOffBy(trial) ?? 0), report.sentence).toBeLessThanOrEqual(MOST_SAVING_ERROR);
  });
});

test('half of the truthful backtests are off by no more than 5%', () => {
  const middle = backtests.sort((a, b) => a - b)[Math.floor(backtests.length / 2)];
  expect(middle).toBeLessThanOrEqual(USUAL_BACKTEST_ERROR);
});

afterAll(() => {
  process.stdout.write(`${table.lines.join('\n')}\n`);
});
