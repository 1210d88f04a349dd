/**
 * What to ask for after a poll that failed as one for too much does: a deadline passed, the connection was reset, what
 * came was cut. Most of these are of an outage, and say nothing of size; to ask for less from then on would lose lines.
 *
 * It is the size when it fails, a shorter one comes through, it fails again, and the shorter one comes through again.
 * Until then a shorter tail is but a question whether any comes through: the first answer is followed by one for as much
 * as before. And until that happened more often, no lines are given up for it.
 */
import type { Refusal } from '../answer.ts';
import { isSupposed, LEAST_TAIL, limitAfterFailure, type SizeLimit } from '../size-limit.ts';
import { USUAL_LINE } from './answer-size.ts';
import type { GroupState, PollResult } from './group-state.ts';

export interface Narrowed {
  readonly state: GroupState;
  /** To ask for next; undefined: as much as without the failure. */
  readonly tail?: number;
  /** At once, as far as the polls of a group may follow each other; else as after any error. */
  readonly isSoon: boolean;
}

/** So many errors in a row, and less is asked for than came through before. */
const ERRORS_TO_NARROW = 3;

export function afterTooLarge(
  state: GroupState,
  { tail, now }: Pick<PollResult, 'tail' | 'now'>,
  tooLarge: NonNullable<Refusal['tooLarge']>,
): Narrowed {
  const { answeredTail = 0, failures, progress, widened } = state;
  const isUnknown = tail > answeredTail;
  const next = tooLarge === 'surely' ? limited(state, tail, now) : suspecting(state, tail, now);
  if (!isUnknown && tooLarge !== 'surely' && failures + 1 < ERRORS_TO_NARROW)
    return { state: next, isSoon: false };
  // Of two backends that take turns, of which one fails, the other is asked too before lines are given up.
  const isForLines = widened?.isNeeded === true && isSupposed(progress.sizeLimit);
  if (isForLines && isUnknown && failures === 0 && tooLarge !== 'surely')
    return { state: next, tail, isSoon: true };
  const half = Math.max(LEAST_TAIL, Math.floor(tail / 2));
  return {
    state: { ...next, widened: widened ?? { tail, isNeeded: false } },
    tail: isUnknown ? Math.max(half, answeredTail) : half,
    isSoon: tail > half && (isUnknown || tooLarge === 'surely'),
  };
}

/** Right after an answer, and of a size that failed before. */
function isRepeated(state: GroupState, tail: number): boolean {
  const { suspectedTail = Infinity, failures, progress } = state;
  return (
    failures === 0 && (tail >= suspectedTail || bytesOf(state, tail) > (progress.sizeLimit?.fits ?? Infinity))
  );
}

function suspecting(state: GroupState, tail: number, now: number): GroupState {
  const { answeredTail = 0, suspectedTail = tail, supposedLimit } = state;
  // What came through before fails too: it is an outage.
  const supposed = tail > answeredTail ? supposedLimit : undefined;
  return {
    ...state,
    suspectedTail: Math.min(tail, suspectedTail),
    supposedLimit: isRepeated(state, tail) ? limitOf(state, tail, now) : supposed,
  };
}

/** It is the size. */
function limited(state: GroupState, tail: number, now: number): GroupState {
  const { suspectedTail: _, supposedLimit: __, progress, ...rest } = state;
  return { ...rest, progress: { ...progress, sizeLimit: { ...limitOf(state, tail, now), isSure: true } } };
}

function limitOf(state: GroupState, tail: number, now: number): SizeLimit {
  const { progress, answeredTail = 0 } = state;
  const answered = answeredTail < tail ? bytesOf(state, answeredTail) : 0;
  return limitAfterFailure(progress.sizeLimit, { bytes: bytesOf(state, tail), answered, now });
}

function bytesOf({ progress: { bytesPerLine = USUAL_LINE } }: GroupState, tail: number): number {
  return tail * bytesPerLine;
}
