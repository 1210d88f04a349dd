/** Which questions there are, when each is asked, and which is next. Pure. All times are monotonic ms. */
import type { Reply, Subject } from './ask.ts';
import type { Knowledge } from './knowledge.ts';

export interface Question {
  readonly dueAt: number;
  /** Attempts in a row without an answer. */
  readonly failures: number;
  /** How often since the last answer the service said that it does not know such a thing, and since when. */
  readonly denials: number;
  readonly deniedSince: number;
  /** How the last attempt ended, if it brought neither an answer nor a denial. */
  readonly failure: Extract<Reply, { readonly reason: string }> | undefined;
}

/** By subject, the list first. */
export type Questions = ReadonlyMap<Subject, Question>;

/** From one answer to the next question of the same: how late a change is learned. */
const ASK_EVERY_MS = 30_000;
/** After a denial that was confirmed: the service may learn to answer by its next release. */
const DENIED_FOR_MS = 10 * 60_000;
/** A misconfigured gateway denies too: a denial is believed when it was repeated over this time. */
const CONFIRM_MS = 60_000;
/** It doubles up to the time between two answers. */
const FIRST_PAUSE_MS = 3_000;
/** The jitter of a pause, [0.8, 1]. */
const JITTER = 0.2;

export function newQuestion(dueAt: number): Question {
  return { dueAt, failures: 0, denials: 0, deniedSince: 0, failure: undefined };
}

export function afterReply(question: Question, reply: Reply, now: number, random: () => number): Question {
  if (reply.kind === 'answered') return newQuestion(now + ASK_EVERY_MS);
  const { failures } = question;
  const pause = Math.min(ASK_EVERY_MS, FIRST_PAUSE_MS * 2 ** Math.min(failures, 8)) * (1 - JITTER * random());
  const next = { ...question, failures: failures + 1, dueAt: now + pause };
  if (reply.kind !== 'denied') return { ...next, failure: reply };
  const deniedSince = question.denials === 0 ? now : question.deniedSince;
  const dueAt = now - deniedSince >= CONFIRM_MS ? now + DENIED_FOR_MS : next.dueAt;
  return { ...next, dueAt, denials: question.denials + 1, deniedSince, failure: undefined };
}

/** The service said more than once in a row that it has no list. */
export function isListDenied(questions: Questions): boolean {
  return (questions.get('list')?.denials ?? 0) > 1;
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
  const noList = list.denials > 0 || list.failure?.kind === 'unanswered';
  const open = new Map<Subject, Question>([['list', list]]);
  const add = (id: number): unknown => open.set(id, questions.get(id) ?? newQuestion(now));
  for (const id of ids) {
    const known = deployments.get(id);
    if (noList || (listed && (known === undefined || known.missingSince !== undefined))) add(id);
  }
  for (const { id, isDoubted, gone } of deployments.values()) if (isDoubted && !gone) add(id);
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
