/**
 * Whether advice is honest: in truthful worlds the backtest and what is promised are near what happens; in worlds that
 * differ from what a planner takes for granted, advice is near it or declines, and is never confidently wrong. Twenty
 * worlds here, a thousand in `npm run test:long`; their seeds are in the names.
 */
import { afterAll, describe, expect, test } from 'vitest';
import { RUNS, seedsOf } from '../prove.ts';
import { AdviceTable, MOST_WRONG, savingOffBy, wrongBy } from './table.ts';
import { trialOf } from './trial.ts';
import { KINDS, worldOf } from './worlds.ts';

const WORLDS = process.env['SIMULATION_RUNS'] === undefined ? 20 : Math.min(1_000, RUNS);
const MOST_BACKTEST_ERROR = 0.05;
const MOST_SAVING_ERROR = 0.1;

const began = performance.now();
const table = new AdviceTable();
const [first, last] = seedsOf(WORLDS);
/** Of the truthful ones: by how much each is off. */
const backtests: number[] = [];
const worlds = Array.from({ length: last - first + 1 }, (_, index) => ({
  kind: KINDS[(first - 1 + index) % KINDS.length] ?? 'truthful',
  seed: 999 + first + index,
}));

describe.each(worlds)('world $seed: $kind', ({ kind, seed }) => {
  test('is near what happens, or declines', async () => {
    const trial = await trialOf(worldOf(kind, seed));
    table.add(kind, seed, trial);
    const { report } = trial;
    if (kind === 'ten minutes' || kind === 'no load') expect(report.verdict).toBe('declined');
    expect(wrongBy(trial) ?? 0, report.sentence).toBeLessThanOrEqual(MOST_WRONG);
    if (report.verdict === 'change')
      expect(trial.best.costPerHour, report.sentence).toBeLessThanOrEqual(trial.today.costPerHour * 1.05);
    if (kind !== 'truthful') return;
    const { errorRatio = Infinity } = report.backtest ?? {};
    backtests.push(errorRatio);
    if (report.verdict !== 'declined') expect(errorRatio).toBeLessThanOrEqual(MOST_BACKTEST_ERROR);
    if (report.verdict !== 'change') return;
    expect(Math.abs(savingOffBy(trial) ?? 0), report.sentence).toBeLessThanOrEqual(MOST_SAVING_ERROR);
  });
});

test('in the median truthful world the backtest is off by half of that at most', () => {
  const errors = backtests.toSorted((one, other) => one - other);
  expect(errors[Math.floor(errors.length / 2)]).toBeLessThanOrEqual(MOST_BACKTEST_ERROR / 2);
});

/**
 * Off by 14% and 5%: one queue too many or too few had asked for all workers there are. Of thirty more lives of the first of
 * these, with the same settings and other requests, none comes within 5% of what was recorded.
 */
test.each([1000, 1675])('what chance alone decided is not advised upon: world %d', async (seed) => {
  const { report } = await trialOf(worldOf('truthful', seed));
  expect(report.sentence).toMatch(/^declined: the backtest is off by \d+%, and by chance alone /);
});

/**
 * Their backtests were off by 6.1%, 5.5%, 6.2% and 7.2%: bursts told larger requests, workers that differ were drawn by
 * chance, and, instead, taken to be alike.
 */
test.each([1036, 1144, 1630, 1720])('the backtest is near what happened in world %d', async (seed) => {
  const { report } = await trialOf(worldOf('truthful', seed));
  expect(report.backtest?.errorRatio, report.sentence).toBeLessThanOrEqual(MOST_BACKTEST_ERROR);
});

/**
 * Off by 35%: at its end more workers were cold than before, which hid what had become cheaper. And a saving that was
 * there only while hot workers are stopped after a minute, where they really were after ten. And workers of two speeds, of
 * which by chance more or fewer were quick.
 */
test.each<['prices change' | 'two speeds' | 'other delays', number]>([
  ['prices change', 1696],
  ['two speeds', 1655],
  ['other delays', 1980],
])('%s: advice is near what happened in world %d, or declines', async (kind, seed) => {
  const trial = await trialOf(worldOf(kind, seed));
  expect(wrongBy(trial) ?? 0, trial.report.sentence).toBeLessThanOrEqual(MOST_WRONG);
  expect(trial.best.costPerHour, trial.report.sentence).toBeLessThanOrEqual(trial.today.costPerHour * 1.05);
});

afterAll(() => {
  const seconds = ((performance.now() - began) / 1000).toFixed(0);
  process.stdout.write(`advice, worlds ${first} to ${last}, ${seconds} s\n${table.lines.join('\n')}\n`);
});
