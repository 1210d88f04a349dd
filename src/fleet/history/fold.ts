/**
 * Folding rows into longer ones. Pure. Numbers in here are whole steps (STEPS of ../workers/measure.ts), so that sums
 * are exact: rows give the same whether they are folded at once, in parts, or in any order. (Below 2^53 steps: an
 * endpoint with ten million units of load a second gets there in ten days of one row.)
 */
import { MEASURES, type FleetSample, type Measure } from '../sample.ts';
import { STEPS } from '../workers/measure.ts';
import type { Aggregate, HistoryRow } from './row.ts';
import { TIER_MS } from './tiers.ts';

/** A row whose numbers are whole steps. */
export type StepRow = HistoryRow;

export const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];

const NOTHING: Aggregate = { count: 0, sum: 0, peak: 0 };

export function rowOf({ atMs, measures, workers }: FleetSample): StepRow {
  return {
    fromMs: atMs,
    lengthMs: 0,
    samples: 1,
    measures: eachMeasure((name) => {
      const value = measures[name];
      return value === null ? NOTHING : once(Math.round(value * STEPS[name]));
    }),
    workers: Object.fromEntries(Object.entries(workers).map(([status, count]) => [status, once(count)])),
  };
}

/** Begin of the stretch of such a length that has this moment. */
export function stretchOf(atMs: number, lengthMs: number): number {
  return Math.floor(atMs / lengthMs) * lengthMs;
}

/** Both of one stretch, as one row of it. */
export function added(a: StepRow, b: StepRow): StepRow {
  const samples = a.samples + b.samples;
  const workers: Record<string, Aggregate> = {};
  // A status that a row does not have had no workers in any of its samples.
  for (const [status, own] of Object.entries(a.workers)) {
    const { sum, peak } = both(own, b.workers[status] ?? NOTHING);
    workers[status] = { count: samples, sum, peak };
  }
  for (const [status, { sum, peak }] of Object.entries(b.workers))
    workers[status] ??= { count: samples, sum, peak };
  return {
    fromMs: a.fromMs,
    lengthMs: a.lengthMs,
    samples,
    measures: eachMeasure((name) => both(a.measures[name], b.measures[name])),
    workers,
  };
}

/** A row of a longer stretch: itself, but for its place. */
export function stretched(row: StepRow, lengthMs: number): StepRow {
  return { ...row, fromMs: stretchOf(row.fromMs, lengthMs), lengthMs };
}

/** Earliest first. Rows of one stretch become one. */
export function folded(rows: readonly StepRow[], lengthMs: number): StepRow[] {
  const byStretch = new Map<number, StepRow>();
  for (const row of rows) {
    const fromMs = stretchOf(row.fromMs, lengthMs);
    const before = byStretch.get(fromMs);
    byStretch.set(fromMs, before ? added(before, row) : stretched(row, lengthMs));
  }
  return [...byStretch.values()].sort((a, b) => a.fromMs - b.fromMs);
}

/**
 * What one process saw and could not store, as rows that are added to those of another that has looked since: what it saw
 * until the other began. From there on both looked, and a stretch that was looked at twice would count twice.
 */
export function unstored(held: readonly StepRow[], stored: readonly StepRow[]): StepRow[] {
  const ours = new Set(held.map(({ fromMs }) => fromMs));
  const theirs = stored.map(({ fromMs }) => fromMs);
  const begunMs = Math.min(...theirs.filter((atMs) => !ours.has(atMs)));
  const samples = held.filter(({ fromMs }) => fromMs < begunMs && !theirs.includes(fromMs));
  return [...samples, ...folded(samples, TIER_MS.minute), ...folded(samples, TIER_MS.hour)];
}

/** For whoever reads it: in units, not in steps. */
export function inUnits(row: StepRow): HistoryRow {
  const measures = eachMeasure((name) => {
    const { count, sum, peak } = row.measures[name];
    return { count, sum: sum / STEPS[name], peak: peak / STEPS[name] };
  });
  return { ...row, measures };
}

function eachMeasure(aggregate: (name: Measure) => Aggregate): Record<Measure, Aggregate> {
  const measures: Partial<Record<Measure, Aggregate>> = {};
  for (const name of MEASURE_NAMES) measures[name] = aggregate(name);
  return measures as Record<Measure, Aggregate>;
}

function once(value: number): Aggregate {
  return { count: 1, sum: value, peak: value };
}

function both(a: Aggregate, b: Aggregate): Aggregate {
  return { count: a.count + b.count, sum: a.sum + b.sum, peak: Math.max(a.peak, b.peak) };
}
