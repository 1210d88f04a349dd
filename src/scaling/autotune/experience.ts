/** What came of a change, beside what was before it: from the minutes that were seen. Pure. */
import { endOfSeenHour, HOUR_MS, stretchOf, type Minute, type Stretch } from './minutes.ts';
import type { Experience } from './state.ts';

const HOURS_OF_A_DAY = 24;

/** An hour's cost is compared where so many minutes of it were seen: a start alone takes some. */
const MINUTES_TO_COMPARE = 20;

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

/** null of nothing. */
function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}
