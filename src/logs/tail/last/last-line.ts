/**
 * When is the last line of an answer a line? A service that ends its lines leaves a last one without an end while it
 * is being written: it waits until it is ended. One that joins its lines never ends the last one: it counts when
 * another follows it, or when it has rested.
 */
import type { TailText } from '../tail-text.ts';
import { standalone } from '../tail-text.ts';

/** Milliseconds that a last line rests, beside a whole interval between polls, before it counts. */
const REST_MS = 5_000;

/** The line at the end of the log that has no end yet. */
export interface PendingLine {
  readonly text: string;
  /** Characters of it that were delivered. */
  readonly taken: number;
  /** Unix milliseconds at which it was first seen with this text. */
  readonly since: number;
}

/** Lines to deliver. */
export interface Delivered {
  readonly lines: readonly string[];
  /** Index of the line that is only the rest of one, whose beginning was delivered before. */
  readonly continues?: number;
}

export interface LastLine extends Delivered {
  readonly pending?: PendingLine;
}

/** As it is read back: until version 0.1 a pending line was delivered whole or not at all. */
export function restoredPending({
  text,
  since,
  ...rest
}: PendingLine | (Omit<PendingLine, 'taken'> & { readonly delivered: boolean })): PendingLine {
  return { text, since, taken: 'taken' in rest ? rest.taken : rest.delivered ? text.length : 0 };
}

export function pendingLine(text: string, now: number, taken = 0): PendingLine {
  return { text: standalone(text), taken, since: now };
}

/** What is delivered of lines that follow the window, of which one may be the pending line, now ended. */
export function afterPending(pending: PendingLine | undefined, fresh: readonly string[]): Delivered {
  if (pending === undefined || pending.taken === 0) return { lines: fresh };
  const begun = pending.text.slice(0, pending.taken);
  // It is the first of them, unless late lines came before it.
  const at = fresh.findIndex((line) => line.startsWith(begun));
  if (at < 0) return { lines: fresh };
  const rest = (fresh[at] ?? '').slice(pending.taken);
  if (rest === '') return { lines: fresh.toSpliced(at, 1) };
  return { lines: fresh.with(at, rest), continues: at };
}

/** Whether a last line that had no end goes on at that place of a text. */
export function goesOn(pending: PendingLine | undefined, { lines, unended }: TailText, at: number): boolean {
  return pending !== undefined && (lines[at] ?? unended)?.startsWith(pending.text) === true;
}

/** To deliver of a last line of which no more will be seen; undefined where some of it was. */
export function partingLine(pending: PendingLine | undefined): string | undefined {
  return pending?.taken === 0 ? pending.text : undefined;
}

/** What becomes of the last line when none followed it. */
export function restingLine(
  pending: PendingLine | undefined,
  { unended }: TailText,
  service: { readonly endsLines: boolean; readonly now: number; readonly intervalMs: number },
): LastLine {
  const { endsLines, now, intervalMs } = service;
  if (pending === undefined)
    return { lines: [], ...(unended !== undefined && { pending: pendingLine(unended, now) }) };
  const { text, taken } = pending;
  // An older view of the log has less of it, or nothing.
  if (unended === undefined || (unended !== text && text.startsWith(unended))) return { lines: [], pending };
  if (unended !== text) {
    return {
      lines: [],
      pending: pendingLine(unended, now, unended.startsWith(text.slice(0, taken)) ? taken : 0),
    };
  }
  const since = Math.min(pending.since, now); // the clock may have been set back
  const settled = !endsLines && now - since >= intervalMs + REST_MS;
  if (!settled || taken === text.length) return { lines: [], pending: { ...pending, since } };
  return {
    lines: [text.slice(taken)],
    ...(taken > 0 && { continues: 0 }),
    pending: { ...pending, since, taken: text.length },
  };
}

/** Whether waiting will settle it. */
export function isAwaited({
  endsLines,
  pending,
}: {
  readonly endsLines: boolean;
  readonly pending?: PendingLine;
}): boolean {
  return !endsLines && pending !== undefined && pending.taken < pending.text.length;
}

/** What is left to see of a line that was drawn again and again: what stands after its last carriage return. */
export function lastState(line: string): string {
  // Asked of every line: to search from the front is ten times as fast.
  return line.includes('\r') ? line.slice(line.lastIndexOf('\r') + 1) : line;
}
