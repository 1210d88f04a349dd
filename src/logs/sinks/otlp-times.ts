/**
 * The time of a record as a receiver gets it: when the line was read, unless the clock has been ahead and was set back.
 * A record that waited meanwhile is then of a time to come, which receivers refuse or show last for as long.
 */

/** Microseconds that a time may be ahead of the clock: clocks are corrected by less than that all the time. */
const AHEAD_MICROS = 60_000_000;

export class StreamTimes {
  /** Unix ms. */
  readonly #now: () => number;
  /** By log: the last time that was not the record's own, in microseconds. */
  readonly #floors = new Map<string, number>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Strictly increasing within a log whose recorded times are. All in microseconds since 1970. */
  timeOf(log: string, recorded: number): number {
    const now = this.#now() * 1000;
    const floor = this.#floors.get(log) ?? -Infinity;
    const after = floor > now + AHEAD_MICROS ? -Infinity : floor;
    const isAhead = recorded > now + AHEAD_MICROS;
    if (!isAhead && recorded > after) return recorded;
    const time = Math.max(isAhead ? now : recorded, after + 1);
    this.#floors.set(log, time);
    return time;
  }
}
