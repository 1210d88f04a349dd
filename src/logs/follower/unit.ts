/**
 * The service does not say in what unit `tail` counts: some answer with so many lines, some with so many bytes or
 * characters. One short question finds out, once enough lines are known for the answers to differ.
 */
import type { Text } from '../text.ts';

/** `bytes` stands for characters too: what is asked for and what is full differ little. */
export type TailUnit = 'lines' | 'bytes';

/** Asked for while nothing is known: enough in either unit. */
export const FIRST_TAIL = 100_000;
/** Asked for once to learn the unit. A service that counts bytes or characters gives so many; one that counts lines more. */
export const PROBE_TAIL = 64;
/** The log must have as much before that is asked. */
const ENOUGH = { lines: PROBE_TAIL, bytes: 1_000 } as const;

/** A character may be cut, and a cut one arrives as up to three replacement characters of three bytes. */
const SLACK = 8;

/** Whether the service gave all that was asked for, so that more may stand above. */
export function isFull(text: Text, tail: number, unit: TailUnit | undefined): boolean {
  // A service that splits text at line ends counts the piece after the last end, too.
  const hasLines = text.lines.length + 1 >= tail;
  const hasBytes = text.bytes > tail - SLACK / 2;
  return unit === undefined ? hasLines || hasBytes : unit === 'lines' ? hasLines : hasBytes;
}

export function canProbe({ lines, bytes }: Text): boolean {
  return lines.length > ENOUGH.lines || bytes > ENOUGH.bytes;
}

/** @returns undefined if the answer fits both units, as one of blank lines does. */
export function unitOfProbe(text: Text): TailUnit | undefined {
  const hasBytes = Math.min(text.bytes, text.length) <= PROBE_TAIL + SLACK;
  if (!hasBytes) return 'lines';
  return Math.abs(text.lines.length - PROBE_TAIL) <= 1 ? undefined : 'bytes';
}

/** Whether an answer cannot be one of a service that counts so. */
export function contradicts(text: Text, tail: number, unit: TailUnit): boolean {
  if (unit === 'bytes') return Math.min(text.bytes, text.length / 2) > tail + SLACK;
  const isCutByBytes = tail > PROBE_TAIL && text.lines.length + 1 < tail && Math.abs(text.bytes - tail) <= 1;
  return text.lines.length > tail || isCutByBytes;
}
