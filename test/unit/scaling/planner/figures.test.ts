/** What plans are made of and compared by: settings, estimates, and what a plan hangs on. */
import { describe, expect, test } from 'vitest';
import { estimateOf, plan, sensitivityOf, variedScenarios } from '../../../../src/scaling/planner/plan.ts';
import {
  planSettings,
  SETTING_DEFAULTS,
  type PlanSettings,
} from '../../../../src/scaling/planner/settings.ts';
import { requests, scenarioOf } from '../../../support/plans.ts';

describe('settings', () => {
  test('have defaults, and a worker that starts costs what a hot one does', () => {
    expect(planSettings()).toEqual({ ...SETTING_DEFAULTS, priceStarting: 1 });
    expect(planSettings({ priceHot: 3 }).priceStarting).toBe(3);
    expect(planSettings({ priceHot: 3, priceStarting: 2 }).priceStarting).toBe(2);
  });

  test.each<[Partial<PlanSettings>, string]>([
    [{ routing: 'best' as never }, '--routing: got best; allowed: one of shortest, random'],
    [
      { performance: { least: 0, most: 5 } },
      '--performance: got 0..5; allowed: a number above 0, or two such as 80..120',
    ],
    [{ performance: { least: 6, most: 5 } }, '--performance: got 6..5; allowed: a number above 0'],
    [
      { performance: { least: 6, most: Infinity } },
      '--performance: got 6..Infinity; allowed: a number above 0',
    ],
    [{ startSeconds: -1 }, '--start-time: got -1; allowed: a number of at least 0'],
    [{ startSeconds: Number.NaN }, '--start-time: got NaN; allowed: a number of at least 0'],
    [{ startSeconds: Infinity }, '--start-time: got Infinity; allowed: a number of at least 0'],
    [{ controlSeconds: 0 }, '--control-interval: got 0; allowed: a number above 0'],
    [{ scaleDownSeconds: -1 }, '--scale-down-delay: got -1; allowed: a number of at least 0'],
    [{ giveUpSeconds: 0 }, '--give-up: got 0; allowed: a number above 0'],
    [{ slots: 1.5 }, '--slots: got 1.5; allowed: a whole number'],
    [{ initialWorkers: 1.5 }, '--initial-workers: got 1.5; allowed: a whole number'],
    [{ initialWorkers: 'some' as never }, '--initial-workers: got some; allowed: a number of at least 0'],
  ])('refuses %j', (given, words) => {
    expect(() => planSettings(given)).toThrow(words);
    expect(() => planSettings(given)).toThrow(RangeError);
  });

  test.each<Partial<PlanSettings>>([
    { performance: { least: 5, most: 5 } },
    { startSeconds: 0, coldStartSeconds: 1.5, priceCold: 0 },
    { scaleDownSeconds: Infinity, destroySeconds: Infinity, giveUpSeconds: Infinity },
    { initialWorkers: 0 },
    { initialWorkers: 'floor', queueResponse: 'one-worker', stopping: 'idle' },
  ])('takes %j', (given) => {
    expect(planSettings(given)).toMatchObject(given);
  });
});

describe('an estimate', () => {
  test.each([
    [[3], 3, 3, 3],
    [[1, 3], 2, 2 - 12.71, 2 + 12.71],
    [[1, 2, 3], 2, 2 - 4.303 / Math.sqrt(3), 2 + 4.303 / Math.sqrt(3)],
    [[5, 5, 5, 5], 5, 5, 5],
  ])('of %j', (values, mean, low, high) => {
    const found = estimateOf(values);
    expect(found.mean).toBeCloseTo(mean);
    expect(found.low).toBeCloseTo(low);
    expect(found.high).toBeCloseTo(high);
  });

  test.each([
    [6, 2.571],
    [12, 2.201],
    [61, 2.0],
  ])("of %i values goes by Student's t", (count, t) => {
    const values = Array.from({ length: count }, (_, index) => index % 2);
    const { mean, high } = estimateOf(values);
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
    expect((high - mean) / Math.sqrt(variance / count) / t).toBeCloseTo(1, 2);
  });
});

describe('what a plan hangs on', () => {
  const scenario = scenarioOf({ min_load: 10, target_util: 1, max_workers: 3 }, { destroySeconds: Infinity });
  const load = requests([0, 100], [10, 100], [20, 100], [400, 100]);

  test('is found by half and double of each assumption that has one', () => {
    const varied = variedScenarios(scenario.parameters, scenario.settings);
    expect(varied).toHaveLength(12);
    expect(varied.slice(0, 4).map(({ settings }) => [settings.performance, settings.startSeconds])).toEqual([
      [{ least: 5, most: 5 }, 300],
      [{ least: 20, most: 20 }, 300],
      [{ least: 10, most: 10 }, 150],
      [{ least: 10, most: 10 }, 600],
    ]);
    expect(varied.every(({ series }) => series === false)).toBe(true);
    const none = { ...scenario.settings, startSeconds: 0 };
    expect(variedScenarios(scenario.parameters, none)).toHaveLength(10);
  });

  test('goes by the cost, up or down, and by waits, of which a part of a second counts for little', () => {
    const own = plan(scenario, load);
    const outcome = (perHour: number, p99: number) => ({
      ...own,
      cost: { ...own.cost, perHour },
      queueTime: { ...own.queueTime, p99 },
    });
    const same = outcome(1, 0.1);
    const settingsOf = (...about: Parameters<typeof sensitivityOf>) =>
      sensitivityOf(...about).map(({ setting }) => setting);
    const changed = [same, outcome(1.5, 0.1), outcome(0.5, 0.1), same, same, outcome(1, 0.3), same];
    expect(settingsOf(same, [...changed, outcome(1, 9), same, same, same, same]).join(' ')).toBe(
      'controlSeconds startSeconds performance coldStartSeconds loadWindowSeconds scaleDownSeconds',
    );
    // By factors, whatever it costs by itself: of 100 an hour, half as much moves it more than a tenth on top.
    const dear = outcome(100, 0.1);
    const ofDear = [dear, outcome(110, 0.1), outcome(50, 0.1), dear, outcome(100, 0.3)];
    expect(settingsOf(dear, ofDear).slice(0, 3)).toEqual(['startSeconds', 'coldStartSeconds', 'performance']);
    // What was not planned for counts as no change.
    expect(sensitivityOf(same, [])[0]?.half).toEqual({ costPerHour: 1, p99Seconds: 0.1 });
    // Of a cost that was none, or becomes none, there is no factor: then waits decide.
    const free = outcome(0, 0.1);
    const waiting = (cost: number) => [same, same, same, outcome(5, 0.1), same, same, outcome(cost, 9)];
    expect(settingsOf(free, waiting(0))[0]).toBe('controlSeconds');
    expect(settingsOf(same, [same, same, same, free, same, same, outcome(1, 9)])[0]).toBe('controlSeconds');
    expect(settingsOf(free, [free, free, outcome(5, 0.1)])[0]).toBe('performance');
    expect(settingsOf(same, [same, same, free])[0]).toBe('performance');
  });
});
