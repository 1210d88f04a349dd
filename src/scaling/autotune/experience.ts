/** What came of a change, beside what was before it: from the minutes that were seen. Pure. */
import { endOfSeenHour, HOUR_MS, stretchOf, type Minute, type Stretch } from './minutes.ts';
import type { Experience } from './state.ts';

const HOURS_OF_A_DAY = 24;

/** An hour's cost is compared where so many minutes of it were seen: a start alone takes some. */
const MINUTES_TO_COMPARE = 20;

/** What came of a change that has been in force since `setMs`, beside what was before it. */
export function experienceOf(minutes: readonly Minute[], setMs: number, nowMs: number): Experience {
  const hours = hoursOf(minutes, setMs - HOURS_OF_A_DAY * HOUR_MS, HOURS_OF_A_DAY);
  const likeFirst = [hours[0], hours.at(-1)].filter((hour) => hour !== undefined);
  const first = stretchOf(minutes, setMs, Math.min(nowMs, endOfSeenHour(minutes, setMs)));
  const before = hours.filter(isComparable).sort((a, b) => a.load - b.load);
  // Of whole hours: what a change starts at once is paid before it saves anything.
  const costs = hoursOf(minutes, setMs, Math.floor((nowMs - setMs) / HOUR_MS)).flatMap((hour) =>
    isComparable(hour) ? costsOf(hour, before) : [],
  );
  return {
    minutes: first.minutes,
    excessMinutes: first.excessMinutes,
    excessMinutesBefore: Math.max(...likeFirst.map(({ excessMinutes }) => excessMinutes)),
    emptyMinutes: first.emptyMinutes,
    idleMinutesBefore: Math.max(...likeFirst.map(({ idleMinutes }) => idleMinutes)),
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

/** An hour of which enough was seen, with its load and cost. */
type ComparableHour = Stretch & { readonly load: number; readonly cost: number };

function isComparable(hour: Stretch): hour is ComparableHour {
  return hour.minutes >= MINUTES_TO_COMPARE && hour.load !== null && hour.cost !== null;
}

/**
 * An hour's cost, and what one with such a load cost before. With less load than any had before, any set costs less, and
 * one without workers nothing: such an hour may prove harm, and never a saving.
 */
function costsOf({ load, cost }: ComparableHour, before: readonly ComparableHour[]) {
  const costBefore = costAtLoad(before, load);
  if (costBefore === undefined) return [];
  const isQuieter = load < (before[0]?.load ?? 0);
  return isQuieter && cost <= costBefore ? [] : [{ cost, costBefore }];
}

/**
 * Between the hour with the next lower load and the one with the next higher; in proportion where none had as much.
 * @param before By load
 */
function costAtLoad(before: readonly ComparableHour[], load: number): number | undefined {
  const above = before.find((hour) => hour.load >= load);
  const below = before.findLast((hour) => hour.load <= load);
  if (!above) return below && below.load > 0 ? (below.cost * load) / below.load : below?.cost;
  if (!below || below.load >= above.load) return above.cost;
  const part = (load - below.load) / (above.load - below.load);
  return below.cost + part * (above.cost - below.cost);
}

/** null of nothing. */
function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
