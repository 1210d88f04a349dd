/** When one endpoint is looked at: again and again, one look at a time, on a beat of its own. */
import { backoffMs } from '../time/backoff.ts';
import type { Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';

export interface EndpointWatchOptions {
  /** Looks once; may wait for the rate limit before. @returns How many looks in a row have failed. */
  readonly look: (signal: AbortSignal) => Promise<number>;
  readonly intervalMs: () => number;
  /** Until the first look, ms. */
  readonly firstInMs: number;
  readonly clock: Clock;
  /** In [0, 1). */
  readonly random: () => number;
}

export function watchEndpoint({
  look,
  intervalMs,
  firstInMs,
  clock,
  random,
}: EndpointWatchOptions): Repeating {
  /** The moment of the next look, or of the present one. */
  let due = clock.now() + firstInMs;
  return new Repeating({
    firstInMs,
    clock,
    async run(signal) {
      const begun = clock.now();
      // Woken early, or the clock was set: looks go on from now.
      if (begun < due || begun - due > intervalMs()) due = begun;
      const failures = await look(signal);
      const leastMs = failures === 0 ? 0 : backoffMs(failures, random());
      const ended = clock.now();
      // The next moment of its beat; looks that are missed are not made up for.
      due += Math.max(1, Math.ceil((ended + leastMs - due) / intervalMs())) * intervalMs();
      // A clock that is set back makes no hole.
      return Math.min(due - ended, leastMs + intervalMs());
    },
  });
}
