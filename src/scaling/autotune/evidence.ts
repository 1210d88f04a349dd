/**
 * What was seen of an endpoint, by the minute, and what that proves. Trouble is not silence: a minute without samples, or
 * with a worker in error, is evidence of nothing, and never of less being enough. Pure.
 */
import type { Experience, SteeringState } from './state.ts';

/** A minute of the history. What the service did not say is null, which is no zero. */
export interface Minute {
  /** Unix ms. */
  readonly fromMs: number;
  /** Means over its samples, units/s. */
  readonly load: number | null;
  readonly capacity: number | null;
  /** Mean cost per hour. */
  readonly cost: number | null;
  /** Mean number of workers that take requests. */
  readonly ready: number;
  /** The most workers that were in error at once. */
  readonly errors: number;
}

const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;
const HOURS_OF_A_DAY = 24;
/** Before a change, and before a decision, ms: what it is set beside. */
const BASIS_MS = 25 * HOUR_MS;
/** The most that is asked of the history, ms: that, and the longest trial. */
export const EVIDENCE_MS = 50 * HOUR_MS;

/** Before anything moves, so many minutes must have been without trouble, all of them seen but one. */
const CALM_MINUTES = 15;
/** And of the day before, as far as there is a history, such a part without holes and errors. */
const SOUND_PART = 0.75;
/** An hour's cost is compared where so many minutes of it were seen: a start alone takes some. */
const MINUTES_TO_COMPARE = 20;

/** From when on minutes are asked for: a day, and where a change is on trial the day before it. */
export function evidenceFromMs({ change }: SteeringState, nowMs: number): number {
  const sinceMs = change?.phase === 'watching' ? (change.setMs ?? change.atMs) : nowMs;
  return Math.max(Math.min(sinceMs, nowMs) - BASIS_MS, nowMs - EVIDENCE_MS);
}

/** A stretch that was seen; means are of the minutes that say it, and null where none does. */
export interface Stretch {
  readonly minutes: number;
  readonly excessMinutes: number;
  readonly errorMinutes: number;
  readonly load: number | null;
  readonly cost: number | null;
}

/** @param minutes Earliest first */
export function stretchOf(minutes: readonly Minute[], fromMs: number, toMs: number): Stretch {
  const [load, cost] = [new Mean(), new Mean()];
  let [seen, excessMinutes, errorMinutes] = [0, 0, 0];
  for (let index = placeOf(minutes, fromMs); index < minutes.length; index += 1) {
    const minute = minutes[index];
    if (!minute || minute.fromMs >= toMs) break;
    if (!isSeen(minute)) continue;
    seen += 1;
    if (minute.load > minute.capacity) excessMinutes += 1;
    if (minute.errors > 0) errorMinutes += 1;
    load.add(minute.load);
    if (minute.cost !== null) cost.add(minute.cost);
  }
  return { minutes: seen, excessMinutes, errorMinutes, load: load.value, cost: cost.value };
}

function isSeen(minute: Minute): minute is Minute & { readonly load: number; readonly capacity: number } {
  return minute.load !== null && minute.capacity !== null;
}

/** Of the first minute that does not begin before. There is a day of them, and some stretches are looked for each minute. */
function placeOf(minutes: readonly Minute[], fromMs: number): number {
  let [low, high] = [0, minutes.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((minutes[middle]?.fromMs ?? Infinity) < fromMs) low = middle + 1;
    else high = middle;
  }
  return low;
}

class Mean {
  #sum = 0;
  #count = 0;

  add(value: number): void {
    this.#sum += value;
    this.#count += 1;
  }

  /** null of nothing. */
  get value(): number | null {
    return this.#count === 0 ? null : this.#sum / this.#count;
  }
}

/** What keeps the last minutes, or the last day, from being evidence; undefined where nothing does. */
export function troubleIn(minutes: readonly Minute[], nowMs: number): string | undefined {
  // The minute that is under way does not count: it may be a second old.
  const endMs = Math.floor(nowMs / MINUTE_MS) * MINUTE_MS;
  const last = stretchOf(minutes, endMs - CALM_MINUTES * MINUTE_MS, endMs);
  if (last.minutes < CALM_MINUTES - 1) return `samples are missing in the last ${CALM_MINUTES} minutes`;
  if (last.errorMinutes > 0) return `workers were in error in the last ${CALM_MINUTES} minutes`;
  if (last.excessMinutes > 0) {
    return `there was more load than ready workers can do in the last ${CALM_MINUTES} minutes`;
  }
  const [first] = minutes;
  const beginMs = Math.max(endMs - HOURS_OF_A_DAY * HOUR_MS, first?.fromMs ?? endMs);
  const day = stretchOf(minutes, beginMs, endMs);
  const sound = day.minutes - day.errorMinutes;
  return sound * MINUTE_MS < SOUND_PART * (endMs - beginMs)
    ? 'too much of the last day is without samples, or with workers in error'
    : undefined;
}

/** What came of a change that has been in force since `setMs`, beside what was before it. */
export function experienceOf(minutes: readonly Minute[], setMs: number, nowMs: number): Experience {
  const hours = hoursOf(minutes, setMs - HOURS_OF_A_DAY * HOUR_MS, HOURS_OF_A_DAY);
  const [dayBefore, before] = [hours[0], hours.at(-1)];
  const first = stretchOf(minutes, setMs, Math.min(nowMs, endOfSeenHour(minutes, setMs)));
  // Of whole hours: what a change starts at once is paid before it saves anything.
  const costs = hoursOf(minutes, setMs, Math.floor((nowMs - setMs) / HOUR_MS)).flatMap((hour) => {
    const { load, cost } = hour;
    const costBefore = load === null || !isComparable(hour) ? null : costAtLoad(hours, load);
    return cost === null || costBefore === null ? [] : [{ cost, costBefore }];
  });
  return {
    minutes: first.minutes,
    excessMinutes: first.excessMinutes,
    excessMinutesBefore: Math.max(before?.excessMinutes ?? 0, dayBefore?.excessMinutes ?? 0),
    errorMinutes: first.errorMinutes,
    errorMinutesBefore: Math.max(...hours.map(({ errorMinutes }) => errorMinutes)),
    hours: costs.length,
    costPerHour: meanOf(costs.map(({ cost }) => cost)),
    costPerHourBefore: meanOf(costs.map(({ costBefore }) => costBefore)),
  };
}

function hoursOf(minutes: readonly Minute[], fromMs: number, count: number): Stretch[] {
  return Array.from({ length: count }, (_, hour) => {
    const beginMs = fromMs + hour * HOUR_MS;
    return stretchOf(minutes, beginMs, beginMs + HOUR_MS);
  });
}

/** Minutes that nobody saw are not watched: an hour with a hole in it lasts longer. */
function endOfSeenHour(minutes: readonly Minute[], fromMs: number): number {
  let missing = HOUR_MS / MINUTE_MS;
  for (let index = placeOf(minutes, fromMs); index < minutes.length; index += 1) {
    const minute = minutes[index];
    if (minute && isSeen(minute)) missing -= 1;
    if (minute && missing === 0) return minute.fromMs + MINUTE_MS;
  }
  return Infinity;
}

function meanOf(values: readonly number[]): number | null {
  const mean = new Mean();
  for (const value of values) mean.add(value);
  return mean.value;
}

/** What a worker that takes requests costs an hour, about: the least that was paid for each. */
export function priceOf(minutes: readonly Minute[]): number {
  const prices = minutes.flatMap(({ cost, ready }) => (cost !== null && ready >= 1 ? [cost / ready] : []));
  return prices.length === 0 ? 0 : Math.min(...prices);
}

/**
 * What hours with such a load cost before: of the hour whose load was nearest, in proportion where none had as much. An
 * hour's own prediction there is not; a change that saves on average may save nothing in it, but costs no more.
 */
function costAtLoad(hours: readonly Stretch[], load: number): number | null {
  let nearest: { readonly load: number; readonly cost: number } | undefined;
  for (const hour of hours) {
    if (hour.load === null || hour.cost === null || !isComparable(hour)) continue;
    if (!nearest || Math.abs(hour.load - load) < Math.abs(nearest.load - load)) {
      nearest = { load: hour.load, cost: hour.cost };
    }
  }
  if (!nearest) return null;
  return nearest.load > 0 && load > nearest.load ? (nearest.cost * load) / nearest.load : nearest.cost;
}

function isComparable({ minutes }: Stretch): boolean {
  return minutes >= MINUTES_TO_COMPARE;
}
