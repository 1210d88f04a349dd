/** When to ask a question that may stay unanswered, pure. All times are monotonic ms. */

export interface Question {
  readonly dueAt: number;
  /** Attempts in a row that brought no answer. */
  readonly misses: number;
  /** How often in a row the service said that it does not know such a thing, and since when. */
  readonly denials: number;
  readonly deniedSince: number;
}

/**
 * `answered`: it said. `denied`: it clearly does not know such a thing (404, 405, 501). `unanswered`: anything else,
 * a refused key and a page of a gateway among them.
 */
export type ReplyKind = 'answered' | 'denied' | 'unanswered';

/** Between two answers to the same question: how late a change is learned. */
export const ASK_EVERY_MS = 30_000;
/** After a denial that was confirmed: the service may learn to answer by its next release. */
const DENIED_FOR_MS = 10 * 60_000;
/** A misconfigured gateway denies too: a denial is believed when it was repeated over this time. */
const CONFIRM_MS = 60_000;
const FIRST_PAUSE_MS = 3_000;
/** The jitter of a pause, [0.8, 1]. */
const JITTER = 0.2;

export function newQuestion(now: number): Question {
  return { dueAt: now, misses: 0, denials: 0, deniedSince: now };
}

export function afterReply(
  question: Question,
  reply: ReplyKind,
  now: number,
  random: () => number,
): Question {
  if (reply === 'answered') return { ...newQuestion(now), dueAt: now + ASK_EVERY_MS };
  if (reply === 'unanswered') {
    return { ...question, misses: question.misses + 1, dueAt: now + pause(question.misses, random) };
  }
  const { denials } = question;
  const deniedSince = denials === 0 ? now : question.deniedSince;
  const confirmed = now - deniedSince >= CONFIRM_MS;
  const wait = confirmed ? DENIED_FOR_MS : pause(denials, random);
  return { misses: 0, denials: denials + 1, deniedSince, dueAt: now + wait };
}

/** Doubles up to the interval between answers. */
function pause(earlier: number, random: () => number): number {
  return Math.min(ASK_EVERY_MS, FIRST_PAUSE_MS * 2 ** Math.min(earlier, 8)) * (1 - JITTER * random());
}
