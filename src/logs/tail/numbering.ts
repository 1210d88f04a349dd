/** From lines taken to records: epoch, sequence number and time, which only ever go up. */
import { microsFormatter, type Gap, type LogRecord } from '../record.ts';
import { lastState } from './last/last-line.ts';
import type { Taken } from './stream.ts';

/** The name of the one stream of a plain text. */
export const PLAIN = '';

/** What a poll took from one stream, under its level's name. */
export type TakenByLevel = readonly [level: string, taken: Taken];

/** The numbers of a group's last record. */
export interface RecordNumbers {
  /** From 1; up when the log started over. */
  readonly epoch: number;
  /** 0 before the first record. */
  readonly seq: number;
  /** Microseconds since 1970. */
  readonly time: number;
  /** When the epoch began. */
  readonly began?: Beginning;
}

interface Beginning {
  /** Unix milliseconds. */
  readonly at: number;
  /** Those whose logs were seen to begin anew. */
  readonly levels: readonly string[];
}

/** Milliseconds after which the levels of one log that began anew have all been seen to. */
const ONE_START_MS = 60_000;

interface LineContent {
  readonly line: string;
  readonly continues?: true;
}

/** Microseconds that a record's time may be ahead of the clock. */
const MOST_AHEAD = 60_000_000;

/** What numbering needs to know of a group. */
interface NumberedGroup {
  readonly workergroupId: number;
  readonly progress: RecordNumbers;
  /** Lines were taken before of which nothing is known any more: the first record is a gap. */
  readonly forgotten: boolean;
}

/** In order: what the old epoch still had to say, then each stream's gap and its lines. */
export function numberRecords(group: NumberedGroup, taken: readonly TakenByLevel[], now: number) {
  const records: LogRecord[] = [];
  const format = microsFormatter();
  let { epoch, seq, time, began } = group.progress;
  const { workergroupId: workergroup_id } = group;
  const append = (level: string, content: LineContent | { readonly gap: Gap }) => {
    seq += 1;
    time = nextTime(time, now);
    const place = { time: format(time), workergroup_id, epoch, seq };
    records.push({ ...place, ...content, ...(level !== PLAIN && { level }) });
  };
  /** What nearly all records are, without the objects in between. */
  const appendPlain = (line: string) => {
    seq += 1;
    time = nextTime(time, now);
    records.push({ time: format(time), workergroup_id, epoch, seq, line });
  };
  for (const [level, { parting }] of taken)
    if (parting !== undefined) append(level, { line: lastState(parting) });
  const anew = taken.filter(([, { gap }]) => gap?.reason === 'reset').map(([level]) => level);
  if (anew.length > 0) {
    const same = joined(began, anew, now);
    if (same === undefined) epoch += 1;
    began = same ?? { at: now, levels: anew };
  }
  if (group.forgotten) append(PLAIN, { gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 } });
  for (const [level, { gap, doubt, lines, continues }] of taken) {
    if (gap !== undefined) append(level, { gap });
    if (doubt !== undefined) append(level, { gap: doubt });
    let index = 0;
    for (const line of lines) {
      const text = lastState(line);
      if (index === continues) append(level, { line: text, continues: true });
      else if (level === PLAIN) appendPlain(text);
      else append(level, { line: text });
      index += 1;
    }
  }
  return { records, progress: { epoch, seq, time, ...(began && { began }) } };
}

/** The levels of one log begin anew at once, and their first lines come one after another. */
function joined(began: Beginning | undefined, anew: readonly string[], now: number): Beginning | undefined {
  if (began === undefined || Math.abs(now - began.at) >= ONE_START_MS) return undefined;
  if (anew.some((level) => began.levels.includes(level))) return undefined;
  return { at: began.at, levels: [...began.levels, ...anew] };
}

/**
 * Equal times would be dropped as repeats by Loki, so they go up by at least one, also when the clock is set back a
 * little. When it is set back by more than a minute, it was wrong before: times in the future would be refused for as
 * long as it was ahead, so they follow it, once.
 *
 * @param time Microseconds, of the record before.
 * @param now Unix milliseconds.
 */
function nextTime(time: number, now: number): number {
  const clock = now * 1000;
  return time + 1 > clock + MOST_AHEAD ? clock : Math.max(clock, time + 1);
}
