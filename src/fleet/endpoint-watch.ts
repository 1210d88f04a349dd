/** When an endpoint is looked at: one look at a time, at regular moments. */
import { backoffMs } from '../time/backoff.ts';
import type { Clock } from '../time/clock.ts';
import { Repeating } from '../time/repeating.ts';

export interface EndpointWatchOptions {
  /** Returns how many looks in a row have failed. */
  readonly look: (signal: AbortSignal) => Promise<number>;
  readonly intervalMs: () => number;
  readonly firstInMs: number;
  readonly clock: Clock;
  readonly random: () => number;
}

export function watchEndpoint({
  look,
  intervalMs,
  firstInMs,
  clock,
  random,
}: EndpointWatchOptions): Repeating {
  /** The moment of the next look, or of the current one. */
  let due = clock.now() + firstInMs;
  return new Repeating({
    firstInMs,
    clock,
    async run(signal) {
      const begun = clock.now();
      // Woken early, or the clock was set.
      if (begun < due || begun - due > intervalMs()) due = begun;
      const failures = await look(signal);
      const leastMs = failures === 0 ? 0 : backoffMs(failures, random());
      const ended = clock.now();
      // Missed looks are not made up for.
      due += Math.max(1, Math.ceil((ended + leastMs - due) / intervalMs())) * intervalMs();
      // A clock that is set back delays no look.
      return Math.min(due - ended, leastMs + intervalMs());
    },
  });
}
