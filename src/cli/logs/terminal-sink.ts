/** Log records to a terminal or a pipe: the last lines of what was there at the start, then all that comes. */
import type { LogEvent } from '../../logs/events.ts';
import type { LogRecord } from '../../logs/record.ts';
import { ALL_ACCEPTED, type Sink } from '../../logs/sinks/sink.ts';
import type { Console } from '../console.ts';
import { describeGap, formatRecord } from './format.ts';
import { createHistory, matches, NO_TIMES, type WantedLog } from './wanted.ts';

export interface TerminalSinkOptions {
  readonly console: Pick<Console, 'out' | 'taken'>;
  readonly wanted: WantedLog;
  /** Beside the results. */
  readonly say: (words: string) => void;
  /** What is asked for cannot be shown. */
  readonly refuse: (why: string) => void;
  /** Unix milliseconds. */
  readonly now: () => number;
}

/**
 * A sink that also hears the follower's events, to know how many lines the first poll brought: they are the first
 * records. Some may have been dropped before they came here, so they are known by their numbers.
 */
export function terminalSink(options: TerminalSinkOptions): Sink & { observe(event: LogEvent): void } {
  const { console, wanted, say, refuse, now } = options;
  const isJson = wanted.format.json === true;
  /** The number of the last record of the first poll that brought lines. */
  let historyTo: number | undefined;
  let gaps = 0;
  const textOf = (record: LogRecord) => ('line' in record ? record.line : '');
  /** Undefined once it has been shown: it may be long. */
  let history: ReturnType<typeof createHistory<LogRecord>> | undefined = createHistory(wanted, textOf, now());

  /** @returns What to show now. */
  function take(record: LogRecord): readonly LogRecord[] {
    if (history === undefined) return [record];
    const ofHistory = record.seq <= (historyTo ?? 0);
    if (ofHistory && 'line' in record) history.add(record.level ?? '', record);
    if (record.seq < (historyTo ?? 0)) return 'gap' in record ? [record] : [];
    const shown = history.isTimeless() ? undefined : history.lines();
    history = undefined;
    if (!shown) {
      refuse(NO_TIMES);
      return [];
    }
    return ofHistory && 'line' in record ? shown : [...shown, record];
  }

  function print(records: readonly LogRecord[]): void {
    let text = '';
    for (const record of records) {
      if ('line' in record ? matches(wanted, record.line) : isJson)
        text += formatRecord(record, wanted.format);
      else if ('gap' in record) {
        // Where it stands, for a reader of both.
        console.out(text);
        text = '';
        say(describeGap(record.gap));
      }
    }
    console.out(text);
  }

  return {
    name: 'terminal',
    observe(event) {
      if (historyTo !== undefined) return;
      if (event.kind === 'gap') gaps += 1;
      if (event.kind === 'lines') historyTo = gaps + event.lines;
    },
    async write({ records }) {
      print(records.flatMap(take));
      await console.taken();
      return ALL_ACCEPTED;
    },
    close: () => Promise.resolve(),
  };
}
