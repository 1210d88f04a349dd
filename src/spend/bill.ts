/** Cost of endpoints by the service's charges, by day, and the month's forecast. Days are UTC. */
import { DAY_MS } from '../contract/times.ts';
import type { Charge } from '../contract/operations/spend.ts';

/** In dollars. */
export interface Billed {
  readonly gpu: number;
  readonly disk: number;
  readonly bandwidth: number;
  /** Kinds that the service names otherwise, or not at all. */
  readonly other: number;
  readonly total: number;
}

export interface BilledDay {
  /** `2026-11-28` */
  readonly day: string;
  /** By endpoint id; null: not told. */
  readonly endpoints: ReadonlyMap<number | null, Billed>;
}

export const NOTHING_BILLED: Billed = { gpu: 0, disk: 0, bandwidth: 0, other: 0, total: 0 };

const KINDS: Readonly<Record<string, Exclude<keyof Billed, 'total'>>> = {
  gpu: 'gpu',
  disk: 'disk',
  bwd: 'bandwidth',
  bwu: 'bandwidth',
};

/** A row's own amount counts; the part that its items do not explain is `other`. */
export function billedDay(day: string, charges: readonly Charge[]): BilledDay {
  const endpoints = new Map<number | null, Billed>();
  for (const charge of charges) {
    const id = endpointOf(charge);
    endpoints.set(id, sumOf([endpoints.get(id) ?? NOTHING_BILLED, billedOf(charge)]));
  }
  return { day, endpoints };
}

function endpointOf({ metadata, source }: Charge): number | null {
  const [, id] = /^endpoint-(\d+)$/.exec(source ?? '') ?? [];
  return metadata?.endpoint_id ?? (id === undefined ? null : Number(id));
}

function billedOf({ amount, items }: Charge): Billed {
  const billed = { ...NOTHING_BILLED, total: amount };
  for (const item of items ?? []) {
    const kind = KINDS[item.type ?? ''];
    if (kind) billed[kind] += item.amount ?? 0;
  }
  const other = amount - billed.gpu - billed.disk - billed.bandwidth;
  // Parts are rounded to a thousandth each.
  return { ...billed, other: Math.abs(other) < 0.005 ? 0 : other };
}

export function sumOf(parts: readonly Billed[]): Billed {
  return fieldSums(NOTHING_BILLED, parts);
}

interface DayTotal {
  readonly day: string;
  readonly total: number;
  /** Other days are not forecast from an incomplete one. */
  readonly isWhole: boolean;
}

export interface Forecast {
  /** This month, incomplete days included. */
  readonly soFar: number;
  readonly expected: number;
  /** 95 of 100 such months end in it; undefined if too little is known. */
  readonly range: { readonly low: number; readonly high: number } | undefined;
  /** Complete days behind the forecast. */
  readonly days: number;
}

/** With fewer days there is no range. */
const DAYS_FOR_RANGE = 14;
const MOST_DAYS = 28;

/**
 * Each day to come costs what its weekday cost on average in the last four weeks. The first billed day does
 * not count, because it is seldom complete. `totals`: in order, today last. Undefined without a complete
 * day.
 */
export function forecast(totals: readonly DayTotal[], now: Date): Forecast | undefined {
  const today = dayOf(now);
  const month = today.slice(0, 7);
  const first = totals.findIndex(({ total }) => total > 0);
  if (first === -1) return undefined;
  const complete = totals
    .slice(first + 1)
    .filter(({ day, isWhole }) => day < today && isWhole)
    .slice(-MOST_DAYS);
  if (complete.length === 0) return undefined;
  const means = weekdayMeans(complete);
  const soFar = sum(totals.filter(({ day }) => day.startsWith(month)).map(({ total }) => total));
  const ofToday = totals.find(({ day }) => day === today)?.total ?? 0;
  const rest = daysUntil(new Date(now.getTime() + 31 * DAY_MS), 30).filter((day) => day.startsWith(month));
  const toCome = sum(rest.map((day) => means[weekdayOf(day)] ?? 0));
  const expected = soFar + Math.max(0, (means[weekdayOf(today)] ?? 0) - ofToday) + toCome;
  const spread = spreadOf(complete, means, [today, ...rest]);
  const range =
    complete.length < DAYS_FOR_RANGE
      ? undefined
      : { low: Math.max(soFar, expected - spread), high: expected + spread };
  return { soFar, expected, range, days: complete.length };
}

/** Half the width of the range: days vary, and so does a weekday's mean of few days. */
function spreadOf(known: readonly DayTotal[], means: readonly number[], toCome: readonly string[]): number {
  const freedom = Math.max(1, known.length - means.length);
  const squares = known.map(({ day, total }) => (total - (means[weekdayOf(day)] ?? 0)) ** 2);
  const counts = Map.groupBy(known, ({ day }) => weekdayOf(day));
  const byWeekday = [...Map.groupBy(toCome, weekdayOf)];
  const days = byWeekday.map(
    ([weekday, { length }]) => length + length ** 2 / (counts.get(weekday)?.length ?? 1),
  );
  // Student's t to a thousandth or two.
  const t = 1.96 + 2.37 / freedom + 2.82 / freedom ** 2;
  return t * Math.sqrt((sum(squares) / freedom) * sum(days));
}

/** Sunday first; an unknown weekday gets the mean of all days. */
function weekdayMeans(days: readonly DayTotal[]): number[] {
  const byWeekday = Map.groupBy(days, ({ day }) => weekdayOf(day));
  return Array.from({ length: 7 }, (_, weekday) => {
    const known = byWeekday.get(weekday) ?? days;
    return sum(known.map(({ total }) => total)) / known.length;
  });
}

function weekdayOf(day: string): number {
  return new Date(`${day}T00:00:00Z`).getUTCDay();
}

/** Oldest first, today last. */
export function daysUntil(now: Date, back: number): string[] {
  return Array.from({ length: back + 1 }, (_, index) =>
    dayOf(new Date(now.getTime() - (back - index) * DAY_MS)),
  );
}

export function dayOf(date: Date): string {
  return date.toISOString().slice(0, 10);
}

export function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

export function fieldSums<Name extends string>(
  nothing: Readonly<Record<Name, number>>,
  parts: readonly Readonly<Record<Name, number>>[],
): Record<Name, number> {
  const total: Record<Name, number> = { ...nothing };
  for (const part of parts) for (const name of Object.keys(total) as Name[]) total[name] += part[name];
  return total;
}
