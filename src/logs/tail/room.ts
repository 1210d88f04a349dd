/**
 * How much one answer may hold, where all that is asked for is too much: lines of 8 KB, asked for by the ten thousand,
 * are an answer that never comes. What does not fit is halved, and what fits is remembered and tried again, ever more
 * slowly, as TCP feels for the room of a link.
 */
import { MAX_TAIL } from './rate.ts';

export interface Room {
  /** Of the largest answer to ask for, in characters. */
  readonly bytes: number;
  /** An answer has come since the last one that was too large. */
  readonly answered: boolean;
  /** A smaller answer came, and then a larger one did not: it is the size, and no outage. */
  readonly confirmed: boolean;
  /** Unix milliseconds: twice as much is asked for from then on. */
  readonly retryAt: number;
  /** Milliseconds waited for that, when it was set. */
  readonly waitMs: number;
}

/** Lines; the first may be cut, and what stands after the last line's end may count as one. */
export const LEAST_TAIL = 3;

const FIRST_WAIT_MS = 2_000;
const LONGEST_WAIT_MS = 1_800_000;

/** @param bytesPerLine Of the last answer. */
export function mostLines(room: Room | undefined, bytesPerLine: number): number {
  if (room === undefined) return MAX_TAIL;
  return Math.min(MAX_TAIL, Math.max(LEAST_TAIL, Math.floor(room.bytes / bytesPerLine)));
}

/** The answer to so long a tail was too large, too slow or cut. */
export function roomAfterFailure(
  room: Room | undefined,
  { tail, bytesPerLine, now }: { readonly tail: number; readonly bytesPerLine: number; readonly now: number },
): Room {
  const isNew = room?.answered === true;
  const waitMs =
    room === undefined ? FIRST_WAIT_MS : isNew ? Math.min(LONGEST_WAIT_MS, 2 * room.waitMs) : room.waitMs;
  return {
    bytes: Math.max(LEAST_TAIL, Math.floor(tail / 2)) * bytesPerLine,
    answered: false,
    confirmed: isNew || room?.confirmed === true,
    retryAt: now + waitMs,
    waitMs,
  };
}

export interface AnswerSize {
  /** Lines that were asked for. */
  readonly tail: number;
  /** Characters that came. */
  readonly bytes: number;
  /** As many lines came as were asked for. */
  readonly full: boolean;
  readonly now: number;
}

/** @returns undefined when there is no bound any more. */
export function roomAfterAnswer(room: Room, { tail, bytes, full, now }: AnswerSize): Room | undefined {
  if (tail >= MAX_TAIL) return undefined;
  // The first answer tells what the lines that fitted are in bytes, which until then was a guess.
  const known = full && !room.answered ? bytes : Math.max(room.bytes, bytes);
  // A clock that was set back must not keep the room small.
  const isDue = full && (now >= room.retryAt || now < room.retryAt - room.waitMs);
  return { ...room, bytes: isDue ? Math.max(known, 2 * bytes) : known, answered: true };
}
