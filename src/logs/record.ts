/** Logs that can be followed, and the records that are delivered: one a line, and one for each gap. */

/** The log of a worker group, or the endpoint's own, in which the service says what it decides and why. */
export type LogSource =
  | { readonly kind: 'workergroup'; readonly id: number }
  /** Records and metrics have the name; questions have the id. */
  | { readonly kind: 'endpoint'; readonly id: number; readonly name: string };

/** `workergroup/123` or `endpoint/45` */
export type SourceKey = `${LogSource['kind']}/${number}`;

export function sourceKey({ kind, id }: LogSource): SourceKey {
  return `${kind}/${id}`;
}

export type GapReason = 'overrun' | 'reset' | 'ambiguous' | 'handover';

export interface Gap {
  /**
   * overrun: more lines came between two polls than one tail holds. reset: the log began again. ambiguous: equal lines
   * cannot be told apart. handover: another replica took lines before, and may not have delivered them.
   */
  readonly reason: GapReason;
  /** Lines that are certainly lost. */
  readonly lost_min: number;
  /**
   * Lines that are probably lost, null if the line rate is unknown. For `ambiguous`, the most that the rate makes likely.
   * For `handover`, those that the other replica had not delivered when it was last heard of.
   */
  readonly lost_estimate: number | null;
}

export type Origin =
  | { readonly workergroup_id: number; readonly endpoint?: never; readonly endpoint_id?: never }
  /** The id too: a redeployment makes another endpoint of the same name, whose numbers begin at 1. */
  | { readonly workergroup_id?: never; readonly endpoint: string; readonly endpoint_id: number };

/** Users' scripts read the field names. */
interface Numbered {
  /** When the line was read: RFC 3339, UTC, microseconds. It rises, unless the clock is set back by over a minute. */
  readonly time: string;
  /** From 1. It rises if the log begins again, or if numbers may be used again. */
  readonly epoch: number;
  /** From 1, also across epochs. */
  readonly seq: number;
}

interface LineRecord extends Numbered {
  readonly line: string;
  /** The rest of the line before, which was delivered when it had rested without an end. */
  readonly continues?: true;
  /** Only if the service answers with levels. */
  readonly level?: string;
}

interface GapRecord extends Numbered {
  readonly gap: Gap;
  readonly level?: string;
}

export type LogRecord = Origin & (LineRecord | GapRecord);

export function originOf(source: LogSource): Origin {
  if (source.kind === 'workergroup') return { workergroup_id: source.id };
  return { endpoint: source.name, endpoint_id: source.id };
}

/** @param micros Microseconds since 1970: milliseconds are too few for the lines of one answer. */
export function formatMicros(micros: number): string {
  return microsFormatter()(micros);
}

/** For many times: one of the same millisecond as the one before needs no new date. */
export function microsFormatter(): (micros: number) => string {
  let last = { millis: Number.NaN, text: '' };
  return (micros) => {
    const millis = Math.floor(micros / 1000);
    if (millis !== last.millis) last = { millis, text: new Date(millis).toISOString().slice(0, -1) };
    return `${last.text}${String(micros - millis * 1000).padStart(3, '0')}Z`;
  };
}
