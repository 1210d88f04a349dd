/** What an advice goes by: where each figure is from, and what is lacking. */
import { describe, expect, test } from 'vitest';
import { knownOf, type Known } from '../../../../src/scaling/advice/assumptions.ts';
import type { Recorded, Wishes } from '../../../../src/scaling/advice/recorded.ts';
import { recordedEndpoint } from '../../../support/recorded-endpoint.ts';
import { stretch, stretches } from './stretches.ts';

const SIZED: Wishes = { nowMs: 0, requestSize: 100 };

function known(over: Partial<Recorded> = {}, wishes: Wishes = SIZED): Known {
  const found = knownOf(recordedEndpoint(2, over), wishes);
  if (typeof found === 'string') throw new Error(found);
  return found;
}

function told(over: Partial<Recorded> = {}, wishes: Wishes = SIZED): Record<string, string> {
  const { assumptions } = known(over, wishes);
  return Object.fromEntries(assumptions.map(({ name, value, from }) => [name, `${value} (${from})`]));
}

test('each figure is told with where it is from', () => {
  expect(told()).toEqual({
    'size of a request': '100 units (given)',
    'performance of a worker': '100 units/s (measured)',
    'price of an hour': 'hot 0.4, starting 0.4 (measured)',
    'price of an hour of a cold worker': '0.02, not told by the service (assumed)',
    'start from nothing': '300 s (assumed)',
    'start from cold': '30 s, the mean of 1 (measured)',
    'time between two decisions': '5 s (assumed)',
    'window of the load estimate': '60 s (assumed)',
    'delay until a hot worker is stopped': '60 s (assumed)',
    'delay until a cold worker is destroyed': '1800 s (assumed)',
  });
});

test('starts are the means of those that were seen, each kind its own', () => {
  const starts = [
    { from: 'new', seconds: 100 },
    { from: 'new', seconds: 300 },
    { from: 'new', seconds: 200 },
  ] as const;
  expect(told({ starts })).toMatchObject({
    'start from nothing': '200 s, the mean of 3 (measured)',
    'start from cold': expect.stringMatching(/^\d+ s \(assumed\)$/) as string,
  });
});

test('what somebody has said is given, and used', () => {
  const assumed = { controlSeconds: 7, priceHot: 3, performance: { least: 80, most: 120 } };
  expect(told({}, { ...SIZED, assumed })).toMatchObject({
    'time between two decisions': '7 s (given)',
    'performance of a worker': '80 to 120 units/s (given)',
    'price of an hour': 'hot 3, starting 0.4 (given)',
    'window of the load estimate': '60 s (assumed)',
  });
  expect(known({}, { ...SIZED, assumed }).settings).toMatchObject(assumed);
});

test('workers of several kinds are told from the least to the most', () => {
  expect(told({ performances: [80, 90, 100, 110, 120] })['performance of a worker']).toMatch(
    /^75\.5 to 124 units\/s \(measured\)$/,
  );
});

test('a size that nobody has named is told from how the load varies', () => {
  expect(told({}, { nowMs: 0 })['size of a request']).toMatch(
    /^[\d.]+ units, told from how the load varies between looks \(assumed\)$/,
  );
});

test('requests of a small size under a load that varies much come several at once', () => {
  const loads = (factor: number) => stretches(480, (index) => ({ load: 50 + (index % 2) * factor }));
  expect(told({ stretches: loads(1) }, { nowMs: 0, requestSize: 1 })['size of a request']).not.toContain(
    'several',
  );
  expect(told({ stretches: loads(20) }, { nowMs: 0, requestSize: 1 })['size of a request']).toBe(
    '1 units, several at once (given)',
  );
});

test.each([
  [3.4, 4, 3],
  [3.5, 4, 4],
  [9, 4, 4],
])(
  'where %d are hot at first, of at most %d, the model begins with %d',
  (hot, max_workers, initialWorkers) => {
    const { parameters, stretches: all } = recordedEndpoint(2);
    const over = {
      parameters: { ...parameters, max_workers },
      stretches: all.with(0, stretch(0, { hot })),
    };
    expect(known(over).settings.initialWorkers).toBe(initialWorkers);
  },
);

describe('nothing is known', () => {
  const lacking = (over: Partial<Recorded>, wishes = SIZED) => knownOf(recordedEndpoint(2, over), wishes);
  const all = (over: object) => stretches(480, () => over);

  test.each([
    [
      'of workers of which none was ready',
      { stretches: all({ ready: 0, readyCapacity: 0 }) },
      /^no worker was ever ready/,
    ],
    ['without a price', { stretches: all({ costPerHour: null }) }, /^no price of a worker was ever known$/],
  ])('%s', (_what, over, words) => {
    expect(lacking(over)).toMatch(words);
  });

  test('of the size of a request where the load never varies', () => {
    expect(lacking({ stretches: all({}) }, { nowMs: 0 })).toMatch(/^nothing tells how large requests are/);
  });

  const lately = (over: object) => ({
    stretches: stretches(480, (index) => (index < 360 ? {} : over)),
  });

  test.each([
    ['cost more', { costPerHour: 0.85 * 1.3 }, /^workers cost 1\.\d+ times lately/],
    ['cost a little more', { costPerHour: 0.85 * 1.15 }, /^workers cost 1\.11 times lately/],
    ['cost less', { costPerHour: 0.85 / 1.3 }, /^workers cost 0\.\d+ times lately/],
    ['do more', { readyCapacity: 200 * 1.3 }, /^workers do 1\.\d+ times lately/],
    ['do less', { readyCapacity: 200 / 1.3 }, /^workers do 0\.\d+ times lately/],
  ])('of workers that %s lately', (_what, over, words) => {
    expect(lacking(lately(over))).toMatch(words);
  });

  test('but where they change by little', () => {
    expect(lacking(lately({ costPerHour: 0.85 * 1.1, readyCapacity: 200 * 1.15 }))).toBeTypeOf('object');
  });
});

describe('the price of a cold worker', () => {
  const cold = (price: number) =>
    stretches(480, (index) => {
      const workers = { hot: 3, cold: index % 4 };
      return { ...workers, costPerHour: 0.4 * workers.hot + price * workers.cold };
    });
  const of = (price: number, wishes?: Wishes) => {
    const found = known({ stretches: cold(price) }, wishes);
    const row = found.assumptions.find(({ name }) => name === 'price of an hour of a cold worker');
    return { ...found, words: `${row?.value} (${row?.from})` };
  };

  test('that looks have is measured', () => {
    const { words, recordedPriceCold, isColdAssumed, settings } = of(0.012);
    expect([words, isColdAssumed]).toEqual(['0.012 (measured)', false]);
    expect(recordedPriceCold).toBe(settings.priceCold);
  });

  test('that nobody told is no price of nothing: it is assumed, and not in what was recorded', () => {
    const { words, recordedPriceCold, isColdAssumed, settings } = of(0);
    expect([words, isColdAssumed]).toEqual(['0.02, not told by the service (assumed)', true]);
    expect(recordedPriceCold).toBeCloseTo(0, 5);
    expect(settings.priceCold).toBeCloseTo(0.02, 5);
  });

  test('that somebody names is given, also where it is nothing', () => {
    for (const price of [0.07, 0]) {
      const { words, settings, recordedPriceCold } = of(0, { ...SIZED, assumed: { priceCold: price } });
      expect(words).toBe(`${price} (given)`);
      expect([settings.priceCold, recordedPriceCold]).toEqual([price, price]);
    }
  });
});
