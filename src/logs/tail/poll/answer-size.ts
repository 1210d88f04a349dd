/** How many lines to ask for, as far as the size of an answer bounds it. */
import { MAX_TAIL } from '../rate.ts';
import { mostLines, roomAfterAnswer } from '../room.ts';
import { isFull, type TailText } from '../tail-text.ts';
import type { GroupProgress, PollResult } from './group-state.ts';

/** Characters, where no line has been seen yet. */
export const USUAL_LINE = 100;

/** The text of each level that has one. */
export type Bodies = readonly (readonly [level: string, text: string])[];

/** The same as lines. */
export type Texts = readonly (readonly [level: string, text: TailText])[];

/** What the answer says of how much one may hold. */
export function answerSize(
  { room, bytesPerLine }: GroupProgress,
  { tail, now }: PollResult,
  bodies: Bodies,
  texts: Texts,
): Pick<GroupProgress, 'room' | 'bytesPerLine'> {
  if (room === undefined) return {};
  const bytes = bodies.reduce((sum, [, body]) => sum + body.length, 0);
  const lines = texts.reduce((sum, [, text]) => sum + text.lines.length + (text.unended ? 1 : 0), 0);
  const full = texts.some(([, text]) => isFull(text, tail));
  return {
    bytesPerLine: lines === 0 ? bytesPerLine : bytes / lines,
    room: roomAfterAnswer(room, { tail, bytes, full, now }),
  };
}

/** The most to ask for. */
export function widestTail({ room, bytesPerLine = USUAL_LINE }: GroupProgress): number {
  return mostLines(room, bytesPerLine);
}

/**
 * What to ask for at once when a tail tells too little. Where size and outage are not told apart yet, one step at a
 * time; where they are, what came through: trying more now and then is for the polls in between, which lose nothing.
 */
export function widerTail(progress: GroupProgress, tail: number): number {
  const isGuess = progress.room?.confirmed === false;
  return isGuess ? Math.min(MAX_TAIL, 2 * tail) : widestTail(progress);
}
