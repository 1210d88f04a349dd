/** Log records to a terminal or a pipe: the last lines of what was there at the start, then all that comes. */
import type { Writable } from 'node:stream';
import type { LogEvent } from '../../logs/events.ts';
import type { LogRecord } from '../../logs/record.ts';
import { ALL_ACCEPTED, type Sink } from '../../logs/sinks/sink.ts';

export interface TerminalSinkOptions {
  readonly out: Writable;
  /** How many of the lines that the first poll brings are shown. */
  readonly tail: number;
  readonly format: (record: LogRecord) => string;
  /** The reader of a pipe has gone (EPIPE): nothing is worth doing any more. */
  readonly onReaderGone: () => void;
}

/** A sink that also hears the follower's events, to know how many lines the first poll brought. */
export function terminalSink(options: TerminalSinkOptions): Sink & { observe(event: LogEvent): void } {
  const { out, tail, format, onReaderGone } = options;
  let toSkip: number | undefined;
  out.on('error', onReaderGone);

  function isShown(): boolean {
    if (toSkip === undefined || toSkip === 0) return true;
    toSkip -= 1;
    return false;
  }

  return {
    name: 'terminal',
    observe(event) {
      if (event.kind === 'lines') toSkip ??= Math.max(0, event.lines - tail);
    },
    async write({ records }) {
      const text = records
        .filter((record) => 'gap' in record || isShown())
        .map(format)
        .join('');
      await new Promise<void>((resolve) => {
        out.write(text, () => resolve());
      });
      return ALL_ACCEPTED;
    },
    close: () => Promise.resolve(),
  };
}
