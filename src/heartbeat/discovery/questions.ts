/** Which questions there are, when each is asked, and which is next. Pure. All times are monotonic ms. */
import type { Reply, Subject } from './ask.ts';
import { isDoubted, type Knowledge } from './knowledge.ts';

export interface Question {
  readonly dueAt: number;
  /** Attempts in a row without an answer, and how the last of them ended. */
  readonly failures: number;
  readonly last: Exclude<Reply, { readonly kind: 'answered' }> | undefined;
}

/** By subject, the list first. */
export type Questions = ReadonlyMap<Subject, Question>;

/** From one answer to the next question of the same: how late a change is learned. */
const ASK_EVERY_MS = 30_000;
/** Pauses between failures double from the first, up to the time between two answers; after a denial, further. */
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = { unanswered: ASK_EVERY_MS, refused: ASK_EVERY_MS, denied: 10 * 60_000 } as const;
/** The jitter of a pause, [0.8, 1]. */
const JITTER = 0.2;

export function newQuestion(dueAt: number): Question {
  return { dueAt, failures: 0, last: undefined };
}

export function afterReply(question: Question, reply: Reply, now: number, random: () => number): Question {
  if (reply.kind === 'answered') return newQuestion(now + ASK_EVERY_MS);
  const { failures } = question;
  const pause = Math.min(LONGEST_PAUSE_MS[reply.kind], FIRST_PAUSE_MS * 2 ** Math.min(failures, 8));
  return { failures: failures + 1, last: reply, dueAt: now + pause * (1 - JITTER * random()) };
}

/**
 * The list, and the deployments that are asked for one by one: all `ids` while there is no list, those of them that the
 * list does not have, and others that lists have missed for a while. With a refused key there is only the list.
 */
export function openQuestions(
  questions: Questions,
  ids: ReadonlySet<number>,
  { listed, deployments }: Knowledge,
  now: number,
): Questions {
  const list = questions.get('list') ?? newQuestion(now);
  const noList = list.last !== undefined && list.last.kind !== 'refused';
  const open = new Map<Subject, Question>([['list', list]]);
  const add = (id: number): unknown => open.set(id, questions.get(id) ?? newQuestion(now));
  for (const id of ids) {
    const known = deployments.get(id);
    if (noList || (listed && (known === undefined || known.missingSince !== undefined))) add(id);
  }
  for (const known of deployments.values()) if (isDoubted(known, now) && !known.gone) add(known.id);
  return open;
}

/** The list as soon as it is due, else what has been due the longest, else what will be first. */
export function nextQuestion(
  questions: Questions,
  now: number,
): { readonly subject: Subject; readonly dueAt: number } {
  let next: { subject: Subject; dueAt: number } = { subject: 'list', dueAt: Infinity };
  for (const [subject, { dueAt }] of questions) {
    if (subject === 'list' && dueAt <= now) return { subject, dueAt };
    if (dueAt < next.dueAt) next = { subject, dueAt };
  }
  return next;
}
