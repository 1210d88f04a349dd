/** What an endpoint cost, hour by hour, out of its samples: sums, comparisons, and why one day is not as another. Pure. */
import { dayOf, daysUntil, forecast, sum, type Billed, type Forecast } from './bill.ts';

/** In dollars, estimated from the prices of instances. */
export interface Uses {
  readonly working: number;
  readonly idle: number;
  readonly starting: number;
  readonly stopped: number;
}

/**
 * What is counted of a stretch of time; money in dollars. A sample stands until the next one, and no longer than a hole
 * begins.
 */
const NOTHING_COUNTED = {
  /** How much of it was seen with a known cost, ms; and of that, how much with one that the service told. */
  seenMs: 0,
  toldMs: 0,
  told: 0,
  estimated: 0,
  working: 0,
  idle: 0,
  starting: 0,
  stopped: 0,
  /** How long it was known what workers did, ms; how many were ready, and starting, times ms. */
  usesMs: 0,
  readyMs: 0,
  startingMs: 0,
  /** Work asked of it: `cur_load` times seconds, and how long it was known, ms. */
  load: 0,
  loadMs: 0,
};

export type Counted = Readonly<typeof NOTHING_COUNTED>;

/** An hour of one endpoint, from this moment on, Unix ms. */
export type Hour = Counted & { readonly atMs: number };

/** Where a figure comes from; of a sum, its weakest part. */
export type Source = 'billed' | 'told' | 'estimated';
const SOURCES: readonly Source[] = ['estimated', 'told', 'billed'];

export interface Figure {
  readonly dollars: number;
  readonly source: Source;
}

export interface EndpointSpend {
  /** Its label; `#31` of one that nobody knows but the bill. */
  readonly endpoint: string;
  /** That it has now, or had last; null: the service does not say whose the charges are. */
  readonly id: number | null;
  /** Oldest first. */
  readonly hours: readonly Hour[];
  /** Their sums by day. */
  readonly days: ReadonlyMap<string, Counted>;
  /** By day; a day for which the service was not asked is missing. */
  readonly billed: ReadonlyMap<string, Billed>;
}

/** As long as the history keeps samples. */
export const BILL_DAYS = 40;
export const HOUR_MS = 3_600_000;
export const DAY_MS = 24 * HOUR_MS;
/** Of a stretch that counts as seen: daemons are restarted. */
const SEEN_SHARE = 0.9;
/** A told figure is lacking for a moment after each start. */
const TOLD_SHARE = 0.95;
/** What is usual goes by so many days before, and needs so many. */
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
  const total = { ...NOTHING_COUNTED };
  for (const hour of hours) for (const name of COUNTED) total[name] += hour[name];
  return total;
}

const COUNTED = Object.keys(NOTHING_COUNTED) as (keyof Counted)[];

/** undefined: nothing of it was seen. */
export function spentIn({ seenMs, toldMs, told, estimated }: Counted): Figure | undefined {
  if (seenMs === 0) return undefined;
  return { dollars: told + estimated, source: toldMs >= TOLD_SHARE * seenMs ? 'told' : 'estimated' };
}

/** Of a day. The bill counts once the day is over. Of today it is late, and what was seen has holes: the greater counts. */
export function spentOn({ days, billed }: EndpointSpend, day: string, today: string): Figure | undefined {
  const hours = days.get(day);
  const counted = hours && spentIn(hours);
  const bill = billed.get(day);
  if (bill && (day < today || !counted || bill.total > counted.dollars))
    return { dollars: bill.total, source: 'billed' };
  return counted;
}

/** undefined if no part is known. */
export function sumOfFigures(figures: readonly (Figure | undefined)[]): Figure | undefined {
  const known = figures.filter((figure) => figure !== undefined);
  if (known.length === 0) return undefined;
  const source = SOURCES.find((one) => known.some((figure) => figure.source === one)) ?? 'estimated';
  return { dollars: sum(known.map(({ dollars }) => dollars)), source };
}

/** What the hours until now cost on the days before, on average. */
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

/** Of one endpoint at least: another may have been made or deleted on that day. */
export function isSeen(spends: readonly EndpointSpend[], day: string): boolean {
  return spends.some(({ days }) => (days.get(day)?.seenMs ?? 0) >= SEEN_SHARE * DAY_MS);
}

export interface Month {
  readonly soFar: Figure;
  /** Days of it that were neither billed nor seen as a whole: they may have cost more. */
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
  // More than a month and more than the forecast goes by.
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
