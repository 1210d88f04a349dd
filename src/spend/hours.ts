/** Cost of an endpoint by the hour, from its samples: sums and comparisons. */
import { DAY_MS, HOUR_MS } from '../contract/times.ts';
import { dayOf, daysUntil, fieldSums, forecast, sum, type Billed, type Forecast } from './bill.ts';

/** Counts of a stretch of time, in dollars. A sample counts until the next one, but no longer than a hole. */
const NOTHING_COUNTED = {
  /** Time with a known cost, ms; and with a told one. */
  seenMs: 0,
  toldMs: 0,
  told: 0,
  estimated: 0,
  /** Estimates by the prices of instances. */
  working: 0,
  idle: 0,
  starting: 0,
  stopped: 0,
  /** Time with a known split, ms; ready and starting workers times ms. */
  usesMs: 0,
  readyMs: 0,
  startingMs: 0,
  /** Load times seconds, and the time with a known load, ms. */
  load: 0,
  loadMs: 0,
};

export type Counted = Readonly<typeof NOTHING_COUNTED>;

export type Hour = Counted & { readonly atMs: number };

/** A sum counts as estimated if any part is. */
type Source = 'billed' | 'told' | 'estimated';
const SOURCES: readonly Source[] = ['estimated', 'told', 'billed'];

export interface Figure {
  readonly dollars: number;
  readonly source: Source;
}

export interface EndpointSpend {
  /** Its label; `#31` if only the bill knows it. */
  readonly endpoint: string;
  /** The current or last id; null: the service does not say whose the charges are. */
  readonly id: number | null;
  /** Oldest first. */
  readonly hours: readonly Hour[];
  /** Sums by day. */
  readonly days: ReadonlyMap<string, Counted>;
  /** By day; a missing day was not asked for. */
  readonly billed: ReadonlyMap<string, Billed>;
}

/** As long as the history keeps samples. */
export const BILL_DAYS = 40;
/** Daemons are restarted, so a stretch counts as seen from this share on. */
const SEEN_SHARE = 0.9;
/** After each start, told figures are missing for a moment. */
const TOLD_SHARE = 0.95;
/** Days that the usual cost goes by, and needs. */
const USUAL_DAYS = 7;
const LEAST_USUAL_DAYS = 3;

export function endpointSpend(
  endpoint: string,
  id: number | null,
  hours: readonly Hour[],
  billed: ReadonlyMap<string, Billed>,
): EndpointSpend {
  const byDay = Map.groupBy(hours, ({ atMs }) => Math.floor(atMs / DAY_MS));
  const days = new Map(Array.from(byDay, ([day, own]) => [dayOf(new Date(day * DAY_MS)), sumOfHours(own)]));
  return { endpoint, id, hours, days, billed };
}

export function sumOfHours(hours: readonly Counted[]): Counted {
  return fieldSums(NOTHING_COUNTED, hours);
}

/** Undefined if nothing was seen. */
export function spentIn({ seenMs, toldMs, told, estimated }: Counted): Figure | undefined {
  if (seenMs === 0) return undefined;
  return { dollars: told + estimated, source: toldMs >= TOLD_SHARE * seenMs ? 'told' : 'estimated' };
}

/**
 * The bill counts once the day is over. Today's bill is late and samples have holes, so the greater counts.
 */
export function spentOn({ days, billed }: EndpointSpend, day: string, today: string): Figure | undefined {
  const hours = days.get(day);
  const counted = hours && spentIn(hours);
  const bill = billed.get(day);
  if (bill && (day < today || !counted || bill.total > counted.dollars))
    return { dollars: bill.total, source: 'billed' };
  return counted;
}

/** Undefined if no part is known. */
export function sumOfFigures(figures: readonly (Figure | undefined)[]): Figure | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length === 0) return undefined;
  const source = SOURCES.find((one) => known.some((figure) => figure.source === one)) ?? 'estimated';
  return { dollars: sum(known.map(({ dollars }) => dollars)), source };
}

/** Mean cost of the days before up to this time of day. */
export function usualUntilNow({ hours }: EndpointSpend, nowMs: number): number | undefined {
  const sinceMs = nowMs % DAY_MS;
  const costs = Array.from({ length: USUAL_DAYS }, (_, index) => {
    const untilMs = nowMs - (index + 1) * DAY_MS;
    let [dollars, seenMs] = [0, 0];
    for (const hour of hours) {
      if (hour.atMs < untilMs - sinceMs || hour.atMs >= untilMs) continue;
      const share = Math.min(1, (untilMs - hour.atMs) / HOUR_MS);
      dollars += (spentIn(hour)?.dollars ?? 0) * share;
      seenMs += hour.seenMs * share;
    }
    return seenMs < SEEN_SHARE * sinceMs ? undefined : dollars;
  }).filter((dollars) => dollars !== undefined);
  if (costs.length < LEAST_USUAL_DAYS) return undefined;
  return sum(costs) / costs.length;
}

/** One endpoint is enough: others may have been made or deleted on that day. */
export function isSeen(spends: readonly EndpointSpend[], day: string): boolean {
  return spends.some(({ days }) => (days.get(day)?.seenMs ?? 0) >= SEEN_SHARE * DAY_MS);
}

export interface Month {
  readonly soFar: Figure;
  /** Days that were neither billed nor seen whole; they may have cost more. */
  readonly unknownDays: number;
  readonly forecast: Forecast | undefined;
}

/** undefined: nothing is known of it. */
export function monthSoFar(spends: readonly EndpointSpend[], now: Date): Figure | undefined {
  const days = daysUntil(now, now.getUTCDate() - 1);
  const today = dayOf(now);
  return sumOfFigures(days.flatMap((day) => spends.map((spend) => spentOn(spend, day, today))));
}

/** undefined: nothing is known of it. */
export function monthOf(spends: readonly EndpointSpend[], now: Date): Month | undefined {
  const today = dayOf(now);
  // Longer than a month, and than the forecast needs.
  const days = daysUntil(now, 31).map((day) => ({
    day,
    isWhole: spends.some(({ billed }) => billed.has(day)) || isSeen(spends, day),
    total: sumOfFigures(spends.map((spend) => spentOn(spend, day, today)))?.dollars ?? 0,
  }));
  const soFar = monthSoFar(spends, now);
  if (!soFar) return undefined;
  const own = days.filter(({ day }) => day.startsWith(today.slice(0, 7)));
  const unknownDays = own.filter(({ day, isWhole }) => !isWhole && day < today).length;
  return { soFar, unknownDays, forecast: forecast(days, now) };
}
