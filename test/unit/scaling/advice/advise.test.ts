/** An advice as a whole, on an hour of a small endpoint, of which each part takes a tenth of a second. */
import { describe, expect, test } from 'vitest';
import type { AdvisedSet } from '../../../../src/scaling/advice/advice.ts';
import { advise, type AdviceOptions, type AdviceStep } from '../../../../src/scaling/advice/advise.ts';
import type { Recorded, Wishes } from '../../../../src/scaling/advice/recorded.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';
import { openLocalRunner } from '../../../../src/scaling/planner/search/runner.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';

const RECORDED = recordedEndpoint(1);
/** It may do without any worker, as its owner wants: no rule is against that then. */
const HOUR = { ...RECORDED, parameters: { ...RECORDED.parameters, inactivity_timeout: 0 } };
/** Known, so that nothing turns on them. */
const DELAYS = { scaleDownSeconds: 60, loadWindowSeconds: 60 };
const WISHES: Wishes = { nowMs: 5_000_000, requestSize: 500, assumed: { ...DELAYS, priceCold: 0 } };
const NO_COLD = { cold_workers: [0, 0], cold_mult: [1, 1], min_cold_load: [0, 0] } as const;
const MIN_LOAD_ALONE = { ...NO_COLD, target_util: [0.5, 0.5] } as const;

/** Half a minute in each ten, of four requests a second: three workers take it with a wait of 2 s, two with one of 18 s. */
const BURSTS = RecordedLoad.of(
  Array.from({ length: 6 }, (_, burst) =>
    Array.from({ length: 120 }, (_unused, index) => ({ atSeconds: 500 + burst * 600 + index / 4, work: 80 })),
  ).flat(),
);

function advised(over: Partial<Recorded>, wishes: Partial<Wishes> = {}, options: AdviceOptions = {}) {
  return advise({ ...HOUR, ...over }, { ...WISHES, ...wishes }, { bounds: MIN_LOAD_ALONE, ...options });
}

const withSet = (set: Partial<AdvisedSet>, max_workers = 6) => ({ ...HOUR.parameters, max_workers, ...set });
const hotAll = (hot: number) =>
  HOUR.stretches.map((stretch) => ({
    ...stretch,
    hot,
    ready: hot,
    readyCapacity: 100 * hot,
    costPerHour: 0.4 * hot,
  }));

describe('advised is', () => {
  test('what is cheaper, beside what is in force, with all that it goes by', async () => {
    const report = await advised({});
    expect(report).toMatchObject({
      endpoint: 'chat',
      atMs: 5_000_000,
      fromMs: 0,
      toMs: 3_600_000,
      limitSeconds: 10,
      verdict: 'change',
      backtest: {
        held: true,
        hours: [
          {
            fromMs: 0,
            seconds: 3600,
            load: expect.closeTo(50.2) as number,
            recorded: { hot: 3, costPerHour: expect.closeTo(1.2) as number },
          },
        ],
      },
      load: { seenSeconds: 3600, holes: [], requests: 361 },
      nothingKeeps: false,
      today: { parameters: { min_load: 150 }, peakHotWorkers: 3, meanHotWorkers: 3 },
      best: { parameters: { min_load: 50, target_util: 0.5 } },
    });
    expect(report.sentence).toMatch(
      /^min_load 150 → 50: 63% cheaper \(28\.80 → 10\.55 a day\), .* hangs most on the delay until a cold worker is destroyed$/,
    );
    expect(report.load.meanRate).toBeCloseTo(50.2);
    expect(report.load.peakRate).toBeCloseTo(50.4);
    expect(report.today?.costPerHour.mean).toBeCloseTo(1.2);
    expect(report.best?.costPerHour.mean).toBeCloseTo(0.44, 2);
    expect(report.gain?.mean).toBeCloseTo(0.634, 2);
    expect(report.tried).toBeGreaterThan(5);
    expect(report.assumptions).toHaveLength(10);
    expect(report.hangsOn).toBe('delay until a cold worker is destroyed');
    expect(new Set(report.sensitivity.map(({ assumption }) => assumption)).size).toBe(8);
    expect(report.sensitivity).toHaveLength(15);
    const { gain, todayPerHour } = report.sensitivity[0] ?? {};
    expect([gain, todayPerHour]).toEqual([expect.closeTo(0.634, 2), expect.closeTo(1.2)]);
    const gainsWith = (name: string) =>
      report.sensitivity.flatMap((one) => (one.assumption === name ? [Math.round(100 * one.gain)] : []));
    expect(new Set([63, ...gainsWith('delay until a cold worker is destroyed')]).size).toBeGreaterThan(1);
    const { today, best } = report.series ?? {};
    expect(Math.max(...(today?.hot ?? []))).toBe(3);
    expect(best?.hot.at(-1)).toBe(1);
  });

  test('what there is, where nothing else may be set', async () => {
    const report = await advised({}, {}, { bounds: { ...MIN_LOAD_ALONE, min_load: [150, 150] } });
    expect(report).toMatchObject({ verdict: 'keep', gain: undefined, nothingKeeps: false, tried: 2 });
    expect(report.sentence).toMatch(
      /^keep what you have: no set of 2 that keeps 10 s is cheaper by 5% \(28\.80 a day/,
    );
    expect(report.best).toEqual(report.today);
    expect(report.series?.best).toEqual(report.series?.today);
  });

  test('what keeps the limit, though it is dearer', async () => {
    const over = { stretches: hotAll(2), parameters: withSet({ min_load: 100 }) };
    const report = await advised(over, { limitSeconds: 5 }, { trace: BURSTS });
    expect(report.verdict).toBe('dearer');
    expect(report.limitSeconds).toBe(5);
    expect(report.sentence).toMatch(
      /^what you have keeps no p99 wait of 5 s as modelled \(18 s; .*\); what does, min_load 100 → 131, costs 15% more /,
    );
    expect(report.gain?.mean).toBeCloseTo(-0.15, 2);
    expect(report.best?.p99Seconds.mean).toBeLessThan(5);
    // Of a trace nothing about its requests is in doubt.
    expect(report.load.requests).toBe(720);
    expect(report.sensitivity).toHaveLength(13);
  });

  test('nothing else where nothing keeps the limit', async () => {
    const over = { stretches: hotAll(1), parameters: withSet({ min_load: 0, target_util: 0.9 }, 1) };
    const bounds = { ...NO_COLD, target_util: [0.9, 0.9] } as const;
    const report = await advised(over, { limitSeconds: 5 }, { trace: BURSTS, bounds });
    expect(report).toMatchObject({ verdict: 'keep', nothingKeeps: true });
    expect(report.sentence).toContain('within max_workers keeps 5 s');
  });
});

test('what is advised breaks no rule that the set in force keeps', async () => {
  // At more than 0.98 one worker is enough for it.
  const bounds = { ...NO_COLD, min_load: [98, 98] } as const;
  const utilOf = async (target_util: number, hot: number) => {
    const over = { parameters: withSet({ min_load: 98, target_util }), stretches: hotAll(hot) };
    const { best, verdict } = await advised(over, { limitSeconds: 60 }, { bounds });
    return [verdict, best?.parameters.target_util, best?.meanHotWorkers];
  };
  expect(await utilOf(0.4, 3)).toEqual(['change', 0.55, expect.closeTo(2)]);
  expect(await utilOf(0.96, 2)).toEqual(['change', 1, expect.closeTo(1, 1)]);
});

describe('a cold worker whose price nobody tells', () => {
  const KEPT_COLD = { cold_workers: 6, cold_mult: 1, min_load: 50 };
  const withCold = HOUR.stretches.map((stretch) => ({
    ...stretch,
    cold: 5,
    hot: 1,
    ready: 1,
    readyCapacity: 100,
    costPerHour: 0.4,
  }));
  const UNTOLD = { ...WISHES, assumed: DELAYS };

  test('costs a twentieth of a hot one, which is varied, and is in no backtest', async () => {
    const report = await advised({}, UNTOLD);
    expect(report).toMatchObject({
      verdict: 'change',
      backtest: { errors: { cost: expect.closeTo(0) as number } },
    });
    const varied = report.sensitivity.filter(({ assumption }) => assumption.includes('cold worker'));
    expect(varied.map(({ factor }) => factor)).toContain(2);
    expect(varied.find(({ assumption }) => assumption === 'price of an hour of a cold worker')).toBeDefined();
  });

  test('is no ground for fewer of them, or more: the answer turns on it, unless it is named', async () => {
    const over = { stretches: withCold, parameters: withSet(KEPT_COLD) };
    const bounds = {
      target_util: [0.5, 0.5],
      cold_workers: [0, 6],
      cold_mult: [1, 1],
      min_cold_load: [0, 0],
      min_load: [50, 50],
    } as const;
    const untold = await advised(over, UNTOLD, { bounds });
    expect(untold.sentence).toMatch(
      /^declined: the answer turns on what a cold worker costs, .* --price-cold$/,
    );
    const told = await advised(over, { ...UNTOLD, assumed: { ...DELAYS, priceCold: 0 } }, { bounds });
    expect(told.verdict).toBe('keep');
  });
});

describe('no advice is given', () => {
  const quiet = (over: object, count = 240) =>
    HOUR.stretches.map((stretch, index) => (index < count ? { ...stretch, ...over } : stretch));

  test.each<[string, Partial<Recorded>, RegExp]>([
    ['without a history', { stretches: [] }, /^declined: there is no history of it$/],
    [
      'on less than an hour',
      { stretches: HOUR.stretches.slice(0, 227) },
      /^declined: its load is known for 56 minutes; an hour is the least$/,
    ],
    [
      'on a load of nothing',
      { stretches: quiet({ load: 0, loadAverage: 0 }) },
      /^declined: there was no load at all$/,
    ],
    ['without a price', { stretches: quiet({ costPerHour: null }) }, /^declined: no price/],
    [
      'on parameters of just now',
      { parametersSinceMs: 1_815_000 },
      /^declined: the parameters were changed at 1970-01-01T00:30Z; advice needs half an hour since then: ask again later$/,
    ],
    [
      'where the model does not do what there was',
      { parameters: withSet({ min_load: 400 }) },
      /^declined: with the parameters that were set, the model does not do what the endpoint did/,
    ],
  ])('%s', async (_what, over, words) => {
    const report = await advised(over);
    expect(report).toMatchObject({
      verdict: 'declined',
      today: undefined,
      best: undefined,
      series: undefined,
    });
    expect(report.sentence).toMatch(words);
  });

  test('on parameters that no look has seen, with what it would have gone by', async () => {
    const report = await advised({ parametersSinceMs: 4_000_000 });
    expect(report.sentence).toMatch(/^declined: the parameters were changed at 1970-01-01T01:06Z/);
    expect(report.assumptions).toHaveLength(10);
  });

  const everySecond = (count: number, work: number) =>
    RecordedLoad.of(Array.from({ length: count }, (_, atSeconds) => ({ atSeconds, work })));

  test.each([
    ['of seconds', everySecond(101, 80), /^declined: the trace is of 100 s; an hour is the least$/],
    ['without work', everySecond(3600, 0), /^declined: the trace has no work in it: /],
  ])('on a trace %s, before anything is computed', async (_what, trace, words) => {
    const steps: AdviceStep[] = [];
    const report = await advised({}, {}, { trace, progress: (step) => steps.push(step) });
    expect(report).toMatchObject({ verdict: 'declined', tried: 0, today: undefined });
    expect(report.sentence).toMatch(words);
    expect(steps).toEqual([]);
  });

  test('on requests so large that there are hardly any', async () => {
    const report = await advised({}, { requestSize: 9e7 });
    expect(report).toMatchObject({ verdict: 'declined', load: { requests: 0 }, backtest: undefined });
    expect(report.sentence).toMatch(
      /^declined: with 90000000 units a request, its load is of 0 requests; 100 are /,
    );
    expect(report.assumptions).toHaveLength(10);
  });

  test('of what was there half an hour ago there is', async () => {
    const { verdict, backtest } = await advised({ parametersSinceMs: 1_800_000 });
    expect(verdict).toBe('change');
    expect(backtest?.hours).toMatchObject([{ fromMs: 1_800_000, seconds: 1_800 }]);
  });

  test('where other delays fit as well, and make the answer another', async () => {
    const report = await advised({}, { assumed: { priceCold: 0 } });
    expect(report.sentence).toMatch(/^declined: with other delays of the service/);
    expect(report).toMatchObject({ backtest: { held: true }, load: { requests: 361 } });
  });

  test('where chance alone decides what a change costs: which of workers that differ will come', async () => {
    const report = await advised({ performances: [70, 90, 110, 130] });
    expect(report.sentence).toMatch(/^declined: by chance alone .* may be off by 1\d\d%/);
    expect(report).toMatchObject({ backtest: { held: true }, best: undefined });
  });

  test('where it turns on the size of a request', async () => {
    const report = await advised({}, {}, { bounds: { ...NO_COLD, min_load: [0, 0] } });
    expect(report.sentence).toMatch(
      /^declined: the answer turns on the size of a request, .*\(500 units; .* is another\)$/,
    );
    expect(report.tried).toBeGreaterThan(5);
  });
});

test('the trials of its search run where somebody says', async () => {
  let [opened, trials] = [0, 0];
  const { tried } = await advised(
    {},
    {},
    {
      openRunner: (ground) => {
        opened += 1;
        const runner = openLocalRunner(ground);
        return {
          run: (some, signal) => {
            trials += some.length;
            return runner.run(some, signal);
          },
          [Symbol.asyncDispose]: () => runner[Symbol.asyncDispose](),
        };
      },
    },
  );
  expect(opened).toBeGreaterThan(0);
  expect(trials).toBeGreaterThanOrEqual(tried);
});

test('it says what it does, and how much of it is done, never less than before', async () => {
  const steps: AdviceStep[] = [];
  await advised({}, {}, { progress: (step) => steps.push(step) });
  expect([...new Set(steps.map(({ doing }) => doing))]).toEqual(['backtest', 'search', 'comparison']);
  const shares = steps.map(({ share }) => share);
  expect(shares).toEqual(shares.toSorted((a, b) => a - b));
  expect([shares[0], shares.at(-1)]).toEqual([0, 0.925]);
  const searching = steps.filter(({ doing }) => doing === 'search').map(({ share }) => share);
  expect(searching[0]).toBeGreaterThanOrEqual(0.05);
  expect(searching.at(-1)).toBeLessThanOrEqual(0.85);
});

test.each(['backtest', 'search', 'comparison'])(
  'it ends in the %s when nobody wants it any more',
  async (at) => {
    const stopping = new AbortController();
    const reason = new Error('nobody wants it');
    const running = advised(
      {},
      {},
      {
        signal: stopping.signal,
        progress: ({ doing }) => {
          if (doing === at) stopping.abort(reason);
        },
      },
    );
    await expect(running).rejects.toBe(reason);
  },
);
