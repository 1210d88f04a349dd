/** Log records to a terminal or a pipe: the last lines of what was there at the start, then all that comes. */
import type { LogEvent } from '../../logs/events.ts';
import type { LogRecord } from '../../logs/record.ts';
import { ALL_ACCEPTED, type Sink } from '../../logs/sinks/sink.ts';
import type { Console } from '../console.ts';

export interface TerminalSinkOptions {
  readonly console: Pick<Console, 'out' | 'taken'>;
  /** How many of the lines that the first poll brings are shown. */
  readonly tail: number;
  readonly format: (record: LogRecord) => string;
}

/**
 * A sink that also hears the follower's events, to know how many lines the first poll brought: they are the first
 * records. Some may have been dropped before they came here, so what is hidden is told by its number.
 */
export function terminalSink({
  console,
  tail,
  format,
}: TerminalSinkOptions): Sink & { observe(event: LogEvent): void } {
  let hiddenTo: number | undefined;

  return {
    name: 'terminal',
    observe(event) {
      if (event.kind === 'lines') hiddenTo ??= event.lines - tail;
    },
    async write({ records }) {
      const shown = records.filter((record) => 'gap' in record || record.seq > (hiddenTo ?? 0));
      console.out(shown.map(format).join(''));
      await console.taken();
      return ALL_ACCEPTED;
    },
    close: () => Promise.resolve(),
  };
}
