/** Gives each record its number, its epoch and its time. */
import { microsFormatter, originOf, type Gap, type LogRecord } from '../record.ts';
import type { LogSource } from '../source.ts';
import type { Outcome } from './stream.ts';
import { lastState } from '../text.ts';

export interface Numbers {
  readonly epoch: number;
  readonly seq: number;
  /** Of the last record, microseconds since 1970. */
  readonly time: number;
  /** When the epoch began, and which levels have begun it: those of one log begin again together. */
  readonly began?: { readonly at: number; readonly levels: readonly string[] } | undefined;
}

export type Taken = readonly [level: string, outcome: Extract<Outcome, { kind: 'taken' }>];

/** The level of a service that answers with one text. */
export const PLAIN = '';

/** Milliseconds within which levels that begin again are of one epoch. */
const ONE_RESET_MS = 60_000;
/** Microseconds. Times go up, unless the clock was set back by more than this. */
const MOST_AHEAD = 60_000_000;

/** @param mark Goes before the first of them, once an answer was taken. */
export function numberRecords(
  before: Numbers,
  taken: readonly Taken[],
  { source, mark, now }: { source: LogSource; mark?: Gap | undefined; now: number },
): { readonly records: readonly LogRecord[]; readonly numbers: Numbers } {
  const records: LogRecord[] = [];
  const format = microsFormatter();
  const origin = originOf(source);
  let { epoch, seq, time, began } = before;
  const append = (level: string, content: { line: string; continues?: true } | { gap: Gap }): void => {
    const clock = Math.floor(now * 1_000);
    time = time + 1 > clock + MOST_AHEAD ? clock : Math.max(clock, time + 1);
    const place = { time: format(time), ...origin, epoch, seq: ++seq };
    records.push({ ...place, ...content, ...(level !== PLAIN && { level }) });
  };
  if (mark !== undefined && taken.length > 0) append(PLAIN, { gap: mark });
  for (const [level, { parting, gap, fresh }] of taken) {
    if (parting !== undefined) append(level, { line: lastState(parting) });
    if (gap?.reason === 'reset') {
      const isSame =
        began !== undefined && Math.abs(now - began.at) < ONE_RESET_MS && !began.levels.includes(level);
      epoch += isSame ? 0 : 1;
      began =
        isSame && began ? { at: began.at, levels: [...began.levels, level] } : { at: now, levels: [level] };
    }
    if (gap !== undefined) append(level, { gap });
    for (const [index, line] of fresh.lines.entries()) {
      const continues = index === fresh.continues && { continues: true as const };
      append(level, { line: lastState(line), ...continues });
    }
  }
  return { records, numbers: { epoch, seq, time, began } };
}
