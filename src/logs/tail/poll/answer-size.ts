/** How many lines to ask for, as far as the size of an answer bounds it. */
import { isDue, isDueBeforeLoss, isSupposed, limitAfterAnswer, mostLines } from '../size-limit.ts';
import { isFull } from '../tail-text.ts';
import type { GroupProgress, GroupState, TextPoll } from './group-state.ts';

/** Characters, where no line has been seen yet. */
export const USUAL_LINE = 100;

/** The text of each level that has one. */
export type Bodies = readonly (readonly [level: string, text: string])[];

/** What is known of the size of answers, after one that came through. */
export function answered(state: GroupState, { tail, texts }: TextPoll, bodies: Bodies): GroupState {
  const { answeredTail: _, suspectedTail = 0, supposedLimit, progress, ...rest } = state;
  const bytes = bodies.reduce((sum, [, body]) => sum + body.length, 0);
  const lines = texts.reduce((sum, [, text]) => sum + text.lines.length + (text.unended ? 1 : 0), 0);
  // A whole log is all that a longer tail would have brought.
  const answeredTail = texts.some(([, text]) => isFull(text, tail)) ? tail : Infinity;
  const { sizeLimit: known, ...before } = progress;
  const limit = supposedLimit ?? known;
  // Of a shorter log only its size says something.
  const sizeLimit = limit && limitAfterAnswer(limit, { tail: answeredTail === tail ? tail : lines, bytes });
  return {
    ...rest,
    answeredTail,
    ...(!supposedLimit && answeredTail < suspectedTail && { suspectedTail }),
    progress: {
      ...before,
      ...(lines > 0 && { bytesPerLine: bytes / lines }),
      ...(sizeLimit && { sizeLimit }),
    },
  };
}

/** Characters that a poll may bring, as far as lines are as long as they were. */
export function expectedLength({ progress }: GroupState, tail: number): number {
  return tail * (progress.bytesPerLine ?? USUAL_LINE);
}

/** The most to ask for, without a try of what did not come through. */
export function fittingTail({ sizeLimit, bytesPerLine = USUAL_LINE }: GroupProgress): number {
  return mostLines(sizeLimit, bytesPerLine, false);
}

/** The most to ask for, at a time. While polls fail, nothing larger is tried. */
export function widestTail({ progress, failures }: GroupState, at: number): number {
  const { sizeLimit, bytesPerLine = USUAL_LINE } = progress;
  return mostLines(sizeLimit, bytesPerLine, failures === 0 && isDue(sizeLimit, at));
}

/** After a question for less than is wanted: what to ask for at once, or as much as it was. */
export function recoveringTail(state: GroupState, { tail, now }: TextPoll): number {
  const { widened, answeredTail, suspectedTail = Infinity } = state;
  if (answeredTail !== tail || widened === undefined) return tail;
  return Math.max(tail, Math.min(suspectedTail, widened.tail, widestTail(state, now)));
}

/** The most to ask for at once when a tail tells too little. What failed just now is tried again first. */
export function widerTail(state: GroupState, now: number): number {
  const { progress, failures, suspectedTail = Infinity } = state;
  const { sizeLimit, bytesPerLine = USUAL_LINE } = progress;
  const isTrying = isSupposed(sizeLimit) || (failures === 0 && isDueBeforeLoss(sizeLimit, now));
  return Math.min(suspectedTail, mostLines(sizeLimit, bytesPerLine, isTrying));
}
