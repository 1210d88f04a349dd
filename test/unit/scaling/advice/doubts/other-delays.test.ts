/** Delays of the service that nobody knows: where others fit as well, and matter. */
import { describe, expect, test } from 'vitest';
import { rateOf } from '../../../../../src/scaling/advice/load/rate.ts';
import { turnsOnDelays } from '../../../../../src/scaling/advice/doubts/other-delays.ts';
import { LoadMaker } from '../../../../../src/scaling/advice/scenes.ts';
import { planSettings, type PlanSettings } from '../../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import type { ResolvedParameters } from '../../../../../src/scaling/rules/findings.ts';
import { stretches } from '../stretches.ts';

const SET = { ...resolveDefaults({}), cold_workers: 2, max_workers: 6 };
const SETTINGS = planSettings({ performance: { least: 100, most: 100 }, priceHot: 1, priceCold: 0.1 });

/** Three hours under a load, of requests of a second. */
function asked(
  loadAt: (index: number) => number,
  fit: number,
  given = {},
  sets: readonly [ResolvedParameters, ResolvedParameters] = [SET, SET],
): boolean {
  const recorded = stretches(720, (index) => ({ load: loadAt(index), loadAverage: loadAt(index) }));
  return turnsOnDelays({
    sets,
    source: {
      settings: SETTINGS,
      recorded: new LoadMaker(rateOf(recorded)),
      size: { mean: 100, dispersion: 1, from: 'given' },
      trace: undefined,
    },
    given,
    error: 0.03,
    errorWith: () => fit,
  });
}

/** Two minutes of each twenty. */
const bursts = (index: number) => (index % 80 < 8 ? 400 : 20);

test('the answer turns on them where others fit as well and make a set cost something else', () => {
  expect(asked(bursts, 0.04)).toBe(true);
});

test('it does not where others fit worse, or change nothing, or where somebody has said what they are', () => {
  expect(asked(bursts, 0.06)).toBe(false);
  expect(asked(() => 250, 0.01)).toBe(false);
  expect(asked(bursts, 0.01, { scaleDownSeconds: 60, loadWindowSeconds: 60 })).toBe(false);
});

const hot = (min_load: number, target_util = 0.9) => ({
  ...SET,
  max_workers: 24,
  cold_mult: 1,
  min_load,
  target_util,
});
const higher = (most: number) => (index: number) => (index % 80 < 8 ? most : 20);

test('it does where what is cheaper is dearer while workers are stopped late, though neither costs much else', () => {
  // Twenty are hot all the time, or eighteen, and three more for as long as a burst keeps them.
  const sets = [hot(1800), hot(1440, 0.8)] as const;
  expect(asked(higher(1680), 0.04, {}, sets)).toBe(true);
  expect(asked(higher(1680), 0.06, {}, sets)).toBe(false);
});

test('where others fit better, what they save has to be worth a change too', () => {
  // Seven are hot all the time, or six, and the seventh for as long as a burst keeps it.
  const sets = [hot(600), hot(510)] as const;
  expect(asked(higher(600), 0.005, {}, sets)).toBe(true);
  expect(asked(higher(600), 0.04, {}, sets)).toBe(false);
  // Where nothing is saved, nothing can be lost.
  expect(asked(higher(600), 0.005, {}, [hot(600), hot(600)])).toBe(false);
});

describe('asked for are', () => {
  const delaysAsked = (given: Partial<PlanSettings>, off: (settings: PlanSettings) => number = () => 1) => {
    const delays: (readonly [scaleDown: number, loadWindow: number])[] = [];
    const turns = turnsOnDelays({
      sets: [SET, SET],
      source: {
        settings: { ...SETTINGS, scaleDownSeconds: 50, loadWindowSeconds: 40 },
        recorded: new LoadMaker(rateOf(stretches(4))),
        size: { mean: 100, dispersion: 1, from: 'given' },
        trace: undefined,
      },
      given,
      error: 0.03,
      errorWith: (settings) => {
        delays.push([settings.scaleDownSeconds, settings.loadWindowSeconds]);
        return off(settings);
      },
    });
    return { delays, turns };
  };

  test('delays far from those that are assumed', () => {
    expect(delaysAsked({}).delays).toEqual([
      [150, 40],
      [500, 40],
      [1500, 40],
      [50, 200],
      [500, 200],
      [1500, 200],
    ]);
  });

  test('none of what somebody knows, nor what is assumed', () => {
    const windows = delaysAsked({ scaleDownSeconds: 50 }).delays;
    expect(new Set(windows.map(String))).toEqual(new Set(['50,200']));
    const stops = delaysAsked({ loadWindowSeconds: 40 }).delays;
    expect(new Set(stops.map(String))).toEqual(new Set(['150,40', '500,40', '1500,40']));
    expect(delaysAsked({ scaleDownSeconds: 50, loadWindowSeconds: 40 }).delays).toEqual([]);
  });
});

test.each([
  [0.05, true],
  [0.0501, false],
])('a backtest that is off by %d fits as well as one by 0.03: %s', (fit, fits) => {
  expect(asked(bursts, fit)).toBe(fits);
});
