/** The search of an advice: on what it looks for sets, which of them it keeps, and what becomes of slower starts. */
import { describe, expect, test } from 'vitest';
import { searched } from '../../../../src/scaling/advice/choice.ts';
import { rateOf } from '../../../../src/scaling/advice/load/rate.ts';
import { outcomeOf } from '../../../../src/scaling/advice/prediction.ts';
import { LoadMaker, sceneOf, type SceneSource } from '../../../../src/scaling/advice/scenes.ts';
import { select, type SelectionOptions } from '../../../../src/scaling/advice/selection.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';
import { openLocalRunner, type OpenRunner } from '../../../../src/scaling/planner/search/runner.ts';
import type { SearchPoint } from '../../../../src/scaling/planner/search/search-space.ts';
import type { TrialGround } from '../../../../src/scaling/planner/search/trial.ts';
import { planSettings } from '../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';
import { stretches } from './stretches.ts';

const LIMIT_SECONDS = 60;
const PARAMETERS = {
  ...resolveDefaults({}),
  target_util: 0.5,
  cold_mult: 1,
  cold_workers: 2,
  min_load: 150,
  max_workers: 4,
};
const SETTINGS = planSettings({
  performance: { least: 100, most: 100 },
  coldStartSeconds: 30,
  startSeconds: 300,
  initialWorkers: 3,
});
/** Nothing but min_load may change. */
const BOUNDS = {
  target_util: [0.5, 0.5],
  cold_workers: [2, 2],
  cold_mult: [1, 1],
  min_cold_load: [0, 0],
} as const;
/** Two minutes in each twenty, of two requests a second. */
const BURSTS = RecordedLoad.of(
  Array.from({ length: 720 }, (_, index) => ({
    atSeconds: 1200 * Math.floor(index / 240) + (index % 240) / 2,
    work: 80,
  })),
);

function source(trace: RecordedLoad | undefined, unitsPerRequest = 80): SceneSource {
  const rate = rateOf(stretches(240, () => ({ load: 50, loadAverage: 50 })));
  const size = { mean: unitsPerRequest, dispersion: 1, from: 'given' } as const;
  return { settings: SETTINGS, recorded: new LoadMaker(rate), size, trace };
}

/** Runs trials here, and tells on what ground. */
function noted(): {
  readonly grounds: { settings: TrialGround['settings']; requests: number }[];
  readonly open: OpenRunner;
} {
  const grounds: { settings: TrialGround['settings']; requests: number }[] = [];
  const open: OpenRunner = (ground) => {
    grounds.push({ settings: ground.settings, requests: ground.loads[0]?.length ?? 0 });
    return openLocalRunner(ground);
  };
  return { grounds, open };
}

function options(over: Partial<SelectionOptions> = {}): SelectionOptions {
  return {
    parameters: PARAMETERS,
    limitSeconds: LIMIT_SECONDS,
    source: source(BURSTS),
    bounds: BOUNDS,
    allows: () => true,
    isCautious: false,
    openRunner: undefined,
    signal: undefined,
    progress: () => undefined,
    ...over,
  };
}

describe('what nobody looks at first', () => {
  const p99Of = (parameters: typeof PARAMETERS, startFactor: number) =>
    outcomeOf(
      parameters,
      sceneOf(source(BURSTS), 1, {
        settings: { startSeconds: 300 * startFactor, coldStartSeconds: 30 * startFactor },
      }),
    ).queueTime.p99;

  test.each([true, false])('keeps the limit should starts take twice as long: %s', async (isCautious) => {
    const { grounds, open } = noted();
    const { verdict, best } = await select(options({ isCautious, openRunner: open }));
    expect(verdict).toBe('change');
    const parameters = { ...PARAMETERS, ...best?.parameters };
    expect(parameters.min_load).toBeLessThan(150);
    expect(p99Of(parameters, 1)).toBeLessThanOrEqual(LIMIT_SECONDS);
    expect(p99Of(parameters, 2) <= LIMIT_SECONDS).toBe(isCautious);
    const { startSeconds, coldStartSeconds } = grounds[0]?.settings ?? SETTINGS;
    expect([startSeconds, coldStartSeconds]).toEqual(isCautious ? [600, 60] : [300, 30]);
    // Where the size of a request is known, it is searched once.
    expect(grounds).toHaveLength(1);
  });
});

test('where it turns on the size of a request it is searched once more with such twice as large', async () => {
  const { grounds, open } = noted();
  const shares: number[] = [];
  const { verdict, best, tried } = await select(
    options({
      source: source(undefined, 500),
      limitSeconds: 6,
      openRunner: open,
      progress: (share) => shares.push(share),
    }),
  );
  // Found with the larger ones, and cheaper with those that are likely.
  expect([verdict, best?.p99Seconds.every((seconds) => seconds <= 6)]).toEqual(['change', true]);
  expect(grounds).toHaveLength(2);
  expect((grounds[1]?.requests ?? 0) / (grounds[0]?.requests ?? 1)).toBeCloseTo(0.5, 1);
  expect(grounds.map(({ settings: { startSeconds } }) => startSeconds)).toEqual([300, 300]);
  expect(tried).toBe(29);
  expect(shares).toEqual(shares.toSorted((one, other) => one - other));
  const half = shares.findIndex((share) => share >= 0.5);
  expect(half).toBeGreaterThan(0);
  expect(Math.max(...shares)).toBeLessThanOrEqual(1);
});

describe('sets that are found', () => {
  const found = (over: Partial<Parameters<typeof searched>[1]> = {}, load = BURSTS) => {
    const scene = { load, settings: SETTINGS, seconds: load.seconds };
    const asked = {
      parameters: PARAMETERS,
      limitSeconds: LIMIT_SECONDS,
      bounds: BOUNDS,
      allows: () => true,
      openRunner: undefined,
      signal: undefined,
      ...over,
    };
    return searched(scene, asked, () => undefined);
  };

  test('keep the limit and the bounds, the cheapest first, the others each dearer', async () => {
    const { keepers, tried } = await found();
    const plans = keepers.map((point) =>
      outcomeOf({ ...PARAMETERS, ...point }, { load: BURSTS, settings: SETTINGS, seconds: 0 }),
    );
    expect(plans.every(({ queueTime }) => queueTime.p99 <= LIMIT_SECONDS)).toBe(true);
    expect(keepers.every(({ target_util, cold_workers }) => target_util === 0.5 && cold_workers === 2)).toBe(
      true,
    );
    const costs = plans.map(({ cost }) => cost.perHour);
    expect(costs[0]).toBe(Math.min(...costs));
    expect(costs.slice(1)).toEqual(costs.slice(1).toSorted((one, other) => one - other));
    expect(keepers.length).toBeGreaterThan(1);
    expect(keepers.length).toBeLessThanOrEqual(7);
    expect(Object.keys(keepers[0] ?? {})).toHaveLength(5);
    expect(tried).toBeGreaterThanOrEqual(keepers.length - 1);
  });

  test('are none that is in force beyond the bounds, however cheap it is', async () => {
    const inForce = { ...PARAMETERS, target_util: 0.9, min_load: 10 };
    const { keepers } = await found({ parameters: inForce, limitSeconds: 1e6 });
    expect(keepers.length).toBeGreaterThan(0);
    expect(keepers.map(({ target_util }: SearchPoint) => target_util)).not.toContain(0.9);
  });

  test('are none where nothing keeps the limit', async () => {
    const all = RecordedLoad.of(Array.from({ length: 50 }, () => ({ atSeconds: 0, work: 8000 })));
    expect((await found({ limitSeconds: 1 }, all)).keepers).toEqual([]);
  });

  test('are looked for until nobody wants them', async () => {
    const stopping = new AbortController();
    const signals: (AbortSignal | undefined)[] = [];
    const open: OpenRunner = (ground) => ({
      ...openLocalRunner(ground),
      run: (_trials, signal) => {
        signals.push(signal);
        stopping.abort(new Error('enough'));
        return Promise.reject(stopping.signal.reason as Error);
      },
    });
    await expect(found({ openRunner: open, signal: stopping.signal })).rejects.toThrow('enough');
    expect(signals).toEqual([stopping.signal]);
  });

  test.each([
    ['of an hour and few requests, are tried on all of it', 1, 100, false],
    ['of 31 hours too', 31, 200, false],
    ['of 33 hours are tried on a sample', 33, 200, true],
    ['of a load of nothing are tried on that', 0, 0, false],
  ])('%s', async (_, hours, requests, isSampled) => {
    const load = RecordedLoad.of(
      Array.from({ length: requests }, (_unused, index) => ({
        atSeconds: ((index + 1) / requests) * hours * 3600,
        work: 80,
      })),
    );
    const samples: unknown[] = [];
    const open: OpenRunner = (ground) => {
      samples.push(ground.samples);
      throw new Error('seen');
    };
    await expect(found({ openRunner: open }, load)).rejects.toThrow('seen');
    expect(samples.map((sample) => sample !== undefined)).toEqual([isSampled]);
  });
});
