/** What was seen of an endpoint, by the minute, and stretches of it. Pure. */

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

export const MINUTE_MS = 60_000;
export const HOUR_MS = 3_600_000;

/** A stretch that was seen; means are of the minutes that say it, and null where none does. */
export interface Stretch {
  readonly minutes: number;
  readonly excessMinutes: number;
  /** Without load, and of these the ones in which no worker took requests: then no load is seen either. */
  readonly idleMinutes: number;
  readonly emptyMinutes: number;
  readonly errorMinutes: number;
  readonly load: number | null;
  readonly cost: number | null;
}

/** @param minutes Earliest first */
export function stretchOf(minutes: readonly Minute[], fromMs: number, toMs: number): Stretch {
  const [load, cost] = [new Mean(), new Mean()];
  let [seen, excessMinutes, idleMinutes, emptyMinutes, errorMinutes] = [0, 0, 0, 0, 0];
  for (let index = placeOf(minutes, fromMs); index < minutes.length; index += 1) {
    const minute = minutes[index];
    if (!minute || minute.fromMs >= toMs) break;
    if (!isSeen(minute)) continue;
    seen += 1;
    if (minute.load > minute.capacity) excessMinutes += 1;
    if (minute.load === 0) idleMinutes += 1;
    if (minute.load === 0 && minute.capacity === 0) emptyMinutes += 1;
    if (minute.errors > 0) errorMinutes += 1;
    load.add(minute.load);
    if (minute.cost !== null) cost.add(minute.cost);
  }
  return {
    minutes: seen,
    excessMinutes,
    idleMinutes,
    emptyMinutes,
    errorMinutes,
    load: load.value,
    cost: cost.value,
  };
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

/** Minutes that nobody saw are not watched: an hour with a hole in it lasts longer. */
export function endOfSeenHour(minutes: readonly Minute[], fromMs: number): number {
  let missing = HOUR_MS / MINUTE_MS;
  for (let index = placeOf(minutes, fromMs); index < minutes.length; index += 1) {
    const minute = minutes[index];
    if (minute && isSeen(minute)) missing -= 1;
    if (minute && missing === 0) return minute.fromMs + MINUTE_MS;
  }
  return Infinity;
}

/** What a worker that takes requests costs an hour, about: the least that was paid for each. */
export function priceOf(minutes: readonly Minute[]): number {
  const prices = minutes.flatMap(({ cost, ready }) => (cost !== null && ready >= 1 ? [cost / ready] : []));
  return prices.length === 0 ? 0 : Math.min(...prices);
}
