/** What `logs -f` says beside the lines, on stderr: that the service does not answer, or late, or the output is too slow. */
import type { LogEvent } from '../../logs/events.ts';
import { legibleLine } from '../text/legible.ts';

/** Lines that come so late are worth a word, ms. */
const LATE_MS = 5_000;

/** Each trouble when it begins and when it is over, not while it lasts. */
export function createNotes(say: (words: string) => void) {
  let failing = false;
  let late = false;
  /** Since the last that were delivered. */
  let dropped = 0;

  function endOverflow(): void {
    if (dropped > 0) say(`${dropped} lines were dropped, for the output was too slow`);
    dropped = 0;
  }

  function answered(roundTripMs: number): void {
    if (failing) say('following again');
    failing = false;
    const isLate = roundTripMs >= LATE_MS;
    if (isLate && !late)
      say(`lines come ${Math.round(roundTripMs / 1_000)} s late: the service is slow, or limits this key`);
    if (late && !isLate) say('lines come in time again');
    late = isLate;
  }

  return {
    observe(event: LogEvent): void {
      switch (event.kind) {
        case 'poll failed':
          if (!failing) say(`${legibleLine(event.reason)}; trying again, nothing is lost yet`);
          failing = true;
          return;
        case 'polled':
          return answered(event.roundTripMs);
        case 'dropped':
          if (dropped === 0) say('lines are dropped: the output is too slow for them');
          dropped += event.records;
          return;
        case 'delivered':
          return endOverflow();
        default:
      }
    },
    /** Says in the end what is not said yet. */
    end: endOverflow,
  };
}
