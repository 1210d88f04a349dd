/** What `logs -f` says beside the lines, on stderr: that the service does not answer, and that the output is too slow. */
import type { LogEvent } from '../../logs/events.ts';
import { printError, type Console } from '../console.ts';
import { legibleLine } from '../text/legible.ts';

export interface Notes {
  observe(event: LogEvent): void;
  /** Says in the end what is not said yet. */
  end(): void;
}

/** Each trouble when it begins and when it is over, not while it lasts. */
export function createNotes(group: number, console: Pick<Console, 'err'>): Notes {
  const say = (words: string): void => printError(console, `pilotlight: worker group ${group}: ${words}`);
  let failing = false;
  /** Since the last that were delivered. */
  let dropped = 0;

  function endOverflow(): void {
    if (dropped > 0) say(`${dropped} lines were dropped, for the output was too slow`);
    dropped = 0;
  }

  return {
    observe(event) {
      switch (event.kind) {
        case 'poll failed':
          if (!failing) say(`${legibleLine(event.reason)}; trying again, nothing is lost yet`);
          failing = true;
          return;
        case 'polled':
          if (failing) say('following again');
          failing = false;
          return;
        case 'dropped':
          if (dropped === 0) say('lines are dropped: the output is too slow for them');
          dropped += event.records;
          return;
        case 'delivered':
          return endOverflow();
        default:
      }
    },
    end: endOverflow,
  };
}
