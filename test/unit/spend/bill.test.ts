import { describe, expect, test } from 'vitest';
import type { Charge } from '../../../src/contract/operations/spend.ts';
import { createRandom } from '../../../src/emulator/random.ts';
import { billedDay, dayOf, forecast } from '../../../src/spend/bill.ts';

const DAY_MS = 86_400_000;

function charge(endpoint: number | null, amount: number, items: Charge['items'] = []): Charge {
  return { amount, items, metadata: endpoint === null ? {} : { endpoint_id: endpoint } };
}

describe('a day of the bill', () => {
  test('adds up what endpoints were charged, by kind of use', () => {
    const items = [
      { type: 'gpu', amount: 1 },
      { type: 'disk', amount: 0.1 },
      { type: 'bwd', amount: 0.02 },
      { type: 'bwu', amount: 0.03 },
      { type: 'gpu', amount: null },
    ];
    const { endpoints } = billedDay('2026-11-01', [charge(31, 1.15, items), charge(31, 2), charge(7, 1)]);
    expect(endpoints.get(31)).toEqual({
      gpu: 1,
      disk: 0.1,
      bandwidth: expect.closeTo(0.05, 9) as number,
      other: 2,
      total: expect.closeTo(3.15, 9) as number,
    });
    expect(endpoints.get(7)).toMatchObject({ other: 1, total: 1 });
  });

  test('knows an endpoint by its metadata, or by the source of a tree, and keeps what is of none', () => {
    const trees = ['endpoint-9', 'no-endpoint-8', 'endpoint-7-of'].map((source) => ({ amount: 4, source }));
    expect([...billedDay('2026-11-01', [...trees, charge(null, 1)]).endpoints.keys()]).toEqual([9, null]);
  });

  test('takes rounding for rounding: parts that are a thousandth off leave no other', () => {
    const { endpoints } = billedDay('2026-11-01', [charge(1, 1.001, [{ type: 'gpu', amount: 1 }])]);
    expect(endpoints.get(1)?.other).toBe(0);
  });
});

describe('the forecast', () => {
  /** Saturday noon. */
  const NOW = new Date('2026-11-28T12:00:00Z');

  /** `cost` of each day back from today, which is 0 days ago. */
  function days(back: number, cost: (daysAgo: number, weekday: number) => number) {
    return Array.from({ length: back + 1 }, (_, index) => {
      const date = new Date(NOW.getTime() - (back - index) * DAY_MS);
      return { day: dayOf(date), total: cost(back - index, date.getUTCDay()), isWhole: true };
    });
  }

  test('goes by weekday: dear Sundays to come are dear', () => {
    const totals = days(28, (ago, weekday) => (ago === 0 ? 4 : weekday === 0 ? 100 : 10));
    const month = forecast(totals, NOW);
    // What is left of today, a Sunday and a Monday.
    expect(month).toMatchObject({ days: 27 });
    expect(month?.soFar).toBe(
      totals.filter(({ day }) => day >= '2026-11-01').reduce((sum, { total }) => sum + total, 0),
    );
    expect(month?.expected).toBeCloseTo((month?.soFar ?? NaN) + 6 + 100 + 10, 9);
    expect(month?.range?.low).toBeCloseTo(month?.expected ?? 0, 9);
  });

  test('has a range that is as wide as days vary, and never below what is spent', () => {
    const totals = days(28, (ago) => (ago % 14 < 7 ? 5 : 15));
    const wide = forecast(totals, NOW);
    expect(wide?.range?.low).toBeGreaterThanOrEqual(wide?.soFar ?? Infinity);
    // Student's t of 20; three days to come, of weekdays that were seen 3, 4 and 4 times.
    expect((wide?.range?.high ?? 0) - (wide?.expected ?? 0)).toBeCloseTo(
      2.086 * Math.sqrt(((25 * 27) / 20) * (3 + 1 / 3 + 1 / 4 + 1 / 4)),
      0,
    );
  });

  test.each([14, 27])('holds 95 of 100 months with %i days known', (known) => {
    const early = new Date('2026-11-05T00:00:00Z');
    const random = createRandom(known);
    const normal = (): number => Math.sqrt(-2 * Math.log(1 - random())) * Math.cos(2 * Math.PI * random());
    const held = Array.from({ length: 1_000 }, () => {
      const totals = Array.from({ length: known + 2 }, (_, index) => {
        const day = dayOf(new Date(early.getTime() - (known + 1 - index) * DAY_MS));
        return { day, total: index === known + 1 ? 0 : 100 + 10 * normal(), isWhole: true };
      });
      const { soFar, range } = forecast(totals, early) ?? { soFar: 0, range: undefined };
      const actual = soFar + Array.from({ length: 26 }, () => 100 + 10 * normal()).reduce((a, b) => a + b, 0);
      return range !== undefined && actual >= range.low && actual <= range.high;
    }).filter(Boolean).length;
    expect(held / 1_000).toBeGreaterThan(0.93);
    expect(held / 1_000).toBeLessThan(0.97);
  });

  test('has no range with less than two weeks, and none at all before a whole day is billed', () => {
    const short = days(13, () => 10);
    expect(forecast(short, NOW)).toMatchObject({ days: 12, range: undefined });
    for (const last of [0, 1]) {
      const begun = days(28, (ago) => Number(ago <= last));
      expect(forecast(begun, NOW)).toBeUndefined();
    }
    expect(forecast([], NOW)).toBeUndefined();
  });
});
