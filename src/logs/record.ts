/**
 * What is delivered: one record a line, and one where lines
 * were lost. The field names are what users' scripts read.
 */
import type { LogSource } from './source.ts';

export type GapReason = 'overrun' | 'reset' | 'ambiguous' | 'handover';

export interface Gap {
  /**
   * overrun: more lines came between two polls than one tail holds. reset: the log started
   * over. ambiguous: lines repeat so much that new ones may have been taken for old ones.
   * handover: another replica took lines before, and may not have delivered them.
   */
  readonly reason: GapReason;
  /** Lines that are certainly lost. */
  readonly lost_min: number;
  /**
   * Lines that are probably lost; for `ambiguous`, the most that the line rate makes likely; for `handover`, those that
   * the other replica had not yet delivered when it was last heard of. At least lost_min; null while the line rate is
   * unknown.
   */
  readonly lost_estimate: number | null;
}

/** Whose log it is of. */
export type Origin =
  | { readonly workergroup_id: number; readonly endpoint?: never; readonly endpoint_id?: never }
  /** Its name and its id: a redeployment makes another endpoint of the same name, whose numbers begin at 1. */
  | { readonly workergroup_id?: never; readonly endpoint: string; readonly endpoint_id: number };

interface Place {
  /**
   * When the line was read: RFC 3339, UTC, microseconds. Strictly increasing within a log, but where the clock was set
   * back by more than a minute.
   */
  readonly time: string;
  /** From 1; up when the log started over, or numbers of the one before may be used again. */
  readonly epoch: number;
  /** From 1; up by one with each record of the log, also across epochs. */
  readonly seq: number;
}

interface LineRecord extends Place {
  readonly line: string;
  /** It is the rest of the line before it, which was delivered when it had rested without an end. */
  readonly continues?: true;
  /** Only where the service answers with a map of levels: the one that this line is of. */
  readonly level?: string;
}

interface GapRecord extends Place {
  readonly gap: Gap;
  readonly level?: string;
}

export type LogRecord = Origin & (LineRecord | GapRecord);

export function originOf(source: LogSource): Origin {
  if (source.kind === 'workergroup') return { workergroup_id: source.id };
  return { endpoint: source.name, endpoint_id: source.id };
}

/**
 * @param micros Microseconds since 1970; JavaScript's own
 *   dates end at milliseconds, too few for one tail's lines.
 */
export function formatMicros(micros: number): string {
  return microsFormatter()(micros);
}

/** For many times, most of which are of the same millisecond as the one before: a date is only made of the others. */
export function microsFormatter(): (micros: number) => string {
  let last = { millis: Number.NaN, text: '' };
  return (micros) => {
    const millis = Math.floor(micros / 1000);
    if (millis !== last.millis) last = { millis, text: new Date(millis).toISOString().slice(0, -1) };
    return `${last.text}${String(micros - millis * 1000).padStart(3, '0')}Z`;
  };
}
