import * as fc from '../../../support/fast-check.ts';
import { describe, expect, test } from 'vitest';
import { WORKER_STATUSES } from '../../../../src/contract/operations/serverless/workers.ts';
import {
  added,
  folded,
  inUnits,
  MEASURE_NAMES,
  rowOf,
  type StepRow,
} from '../../../../src/fleet/history/fold.ts';
import { MEASURE_ORDER, packed, STATUS_ORDER, unpacked } from '../../../../src/fleet/history/packed-row.ts';
import type { FleetSample, Measure } from '../../../../src/fleet/sample.ts';
import { STEPS } from '../../../../src/fleet/workers/measure.ts';

const MINUTE = 60_000;
const HOUR = 3_600_000;
const BEGIN = 1_790_000_000_000;

/** With as many digits as a sample has. */
function values(measure: Measure): fc.Arbitrary<number | null> {
  const whole = fc.integer({ min: 0, max: 2_000_000_000 });
  return fc.option(whole.map((steps) => steps / STEPS[measure]));
}
const sample: fc.Arbitrary<FleetSample> = fc.record({
  atMs: fc.integer({ min: BEGIN, max: BEGIN + 3 * HOUR }),
  measures: fc.record(
    Object.fromEntries(MEASURE_NAMES.map((name) => [name, values(name)])) as Record<
      Measure,
      fc.Arbitrary<number | null>
    >,
  ),
  workers: fc.dictionary(fc.constantFrom(...STATUS_ORDER), fc.integer({ min: 1, max: 500 })),
});
const samples = fc.array(sample, { minLength: 1, maxLength: 60 });

/** Not as JSON: the order in which statuses were met is nobody's business. */
function same(a: readonly StepRow[], b: readonly StepRow[]): void {
  expect(a).toEqual(b);
}

describe('folding', () => {
  test('gives the same at once, in parts, and in any order', () => {
    fc.assert(
      fc.property(samples, fc.nat(), fc.integer({ min: 1, max: 7 }), (all, seed, parts) => {
        const rows = all.map((one) => rowOf(one));
        const atOnce = folded(rows, HOUR);
        const shuffled = rows.map((row, index) => ({ row, key: (index * 7919 + seed) % 104_729 }));
        shuffled.sort((a, b) => a.key - b.key);
        same(
          folded(
            shuffled.map(({ row }) => row),
            HOUR,
          ),
          atOnce,
        );
        same(folded(folded(rows, MINUTE), HOUR), atOnce);
        same(folded(folded(folded(rows, MINUTE), 5 * MINUTE), HOUR), atOnce);
        const pieces = Array.from({ length: parts }, (_, part) =>
          folded(
            rows.filter((_row, index) => index % parts === part),
            MINUTE,
          ),
        );
        same(folded(pieces.flat(), HOUR), atOnce);
      }),
    );
  });

  test('keeps counts, sums and peaks exactly', () => {
    fc.assert(
      fc.property(samples, (all) => {
        const [row] = folded(
          all.map((one) => rowOf({ ...one, atMs: BEGIN })),
          HOUR,
        ).map((one) => inUnits(one));
        expect(row?.samples).toBe(all.length);
        for (const name of MEASURE_NAMES) {
          const known = all.flatMap(({ measures }) => measures[name] ?? []);
          const whole = known.map((value) => BigInt(Math.round(value * STEPS[name])));
          const sum = whole.reduce((total, value) => total + value, 0n);
          expect(row?.measures[name]).toEqual({
            count: known.length,
            sum: Number(sum) / STEPS[name],
            peak: Math.max(0, ...known),
          });
        }
        const idle = all.map(({ workers }) => workers['idle'] ?? 0);
        const total = idle.reduce((sum, count) => sum + count, 0);
        const expected = { count: all.length, sum: total, peak: Math.max(...idle) };
        expect(row?.workers['idle'] ?? { ...expected, count: all.length }).toEqual(expected);
      }),
    );
  });

  test('leaves no row where there was no sample', () => {
    const at = (atMs: number) => ({ ...rowOf(EMPTY), fromMs: atMs });
    const rows = folded([at(BEGIN), at(BEGIN + 10 * HOUR)], HOUR);
    expect(rows).toHaveLength(2);
  });

  test('of what is unknown counts nothing: its mean is that of what is known', () => {
    const known = rowOf({ ...EMPTY, measures: { ...EMPTY.measures, load: 6 } });
    const unknown = rowOf({ ...EMPTY, measures: { ...EMPTY.measures, load: null } });
    const row = inUnits(added(known, unknown));
    expect(row.measures.load).toEqual({ count: 1, sum: 6, peak: 6 });
    expect(row.samples).toBe(2);
  });
});

const EMPTY: FleetSample = {
  atMs: BEGIN,
  measures: {
    load: 0,
    load_average: 0,
    capacity_hot: 0,
    capacity_cold: 0,
    requests_working: 0,
    spend_per_hour: 0,
  },
  workers: {},
};

describe('bytes', () => {
  test('give back every row', () => {
    fc.assert(
      fc.property(samples, fc.constantFrom(MINUTE, HOUR), (all, lengthMs) => {
        for (const row of all.map((one) => rowOf(one)))
          expect(unpacked(packed(row), row.fromMs, 0)).toEqual(row);
        for (const row of folded(
          all.map((one) => rowOf(one)),
          lengthMs,
        ))
          expect(unpacked(packed(row), row.fromMs, lengthMs)).toEqual(row);
      }),
    );
  });

  test('can be read whatever the numbers are, and what comes behind an odd one is whole', () => {
    fc.assert(
      fc.property(fc.double(), (odd) => {
        const row = rowOf({ ...EMPTY, workers: { idle: 3 } });
        const load = { count: 1, sum: odd, peak: odd };
        const bytes = packed({ ...row, measures: { ...row.measures, load } });
        expect(unpacked(bytes, BEGIN, 0)).toMatchObject({ workers: { idle: { sum: 3 } } });
      }),
      { examples: [[-0.5], [-1e300], [NaN], [Infinity], [0.5], [2 ** 60]] },
    );
  });

  test('that end in the middle are no row', () => {
    const bytes = packed(rowOf({ ...EMPTY, workers: { idle: 3 } }));
    expect(() => unpacked(bytes.subarray(0, -1), BEGIN, 0)).toThrow(SyntaxError);
  });

  test('of a sample are few', () => {
    const measures = {
      load: 1234.5,
      load_average: 1200,
      capacity_hot: 2000,
      capacity_cold: 3000,
      requests_working: 17,
      spend_per_hour: 4.2,
    };
    expect(
      packed(rowOf({ ...EMPTY, measures, workers: { idle: 10, stopped: 12, loading: 1 } })).length,
    ).toBeLessThan(32);
  });

  test('have a place for every measure and every status', () => {
    expect([...MEASURE_ORDER].sort()).toEqual([...MEASURE_NAMES].sort());
    expect(STATUS_ORDER).toEqual(expect.arrayContaining(['unknown', ...WORKER_STATUSES]));
  });
});
