/** From lines taken to records: epoch, sequence number and time, which only ever go up. */
import type { GroupState } from './group.ts';
import { microsFormatter, type Gap, type LogRecord } from '../record.ts';
import type { Taken } from './stream.ts';

/** The name of the one stream of a plain text. */
export const PLAIN = '';

/** What a poll took from one stream, under its level's name. */
export type TakenByLevel = readonly [level: string, taken: Taken];

/** In order: what the old epoch still had to say, then each stream's gap and its lines. */
export function numberRecords(state: GroupState, taken: readonly TakenByLevel[], now: number) {
  const records: LogRecord[] = [];
  const format = microsFormatter();
  let { epoch, seq, time } = state.progress;
  const append = (level: string, content: { readonly line: string } | { readonly gap: Gap }) => {
    seq += 1;
    // Equal times would be dropped as repeats by Loki, and the clock may go back.
    time = Math.max(now * 1000, time + 1);
    const place = { time: format(time), workergroup_id: state.workergroupId, epoch, seq };
    records.push({ ...place, ...content, ...(level !== PLAIN && { level }) });
  };
  for (const [level, { parting }] of taken) if (parting !== undefined) append(level, { line: parting });
  if (taken.some(([, { gap }]) => gap?.reason === 'reset')) epoch += 1;
  if (state.forgotten) append(PLAIN, { gap: { reason: 'reset', lost_min: 0, lost_estimate: 0 } });
  for (const [level, { gap, lines }] of taken) {
    if (gap !== undefined) append(level, { gap });
    for (const line of lines) append(level, { line });
  }
  return { records, progress: { epoch, seq, time } };
}
