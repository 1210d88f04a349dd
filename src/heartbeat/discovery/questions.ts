/** Which questions there are, and which of them is next. Pure. */
import { isDoubted, type Knowledge } from './knowledge.ts';
import { newQuestion, type Question } from './question.ts';
import type { Wanted } from './wanted.ts';

/** `list`: one question for all; a number: the deployment of this id, by itself. */
export type Subject = 'list' | number;

/** After so many misses the list is not waited for any more: a request that hangs takes its whole timeout. */
const PATIENCE = 1;

/**
 * Those that are asked by themselves: all that are given by id while there is no list, those of them that the list
 * does not have, and those of a name that lists have missed for a while.
 */
export function singles(
  wanted: readonly Wanted[],
  knowledge: Knowledge,
  list: Question,
  keyRefused: boolean,
  now: number,
): Set<number> {
  const noList = list.denials > 0 || (list.misses >= PATIENCE && !keyRefused);
  const ids = wanted.flatMap((one) => {
    if (one.by !== 'id') return [];
    const known = knowledge.deployments.get(one.id);
    const unlisted = knowledge.listed && (known === undefined || known.missing !== undefined);
    return noList || unlisted ? [one.id] : [];
  });
  const doubted = [...knowledge.deployments.values()].filter((known) => !known.gone && isDoubted(known, now));
  return new Set([...ids, ...doubted.map(({ id }) => id)]);
}

/** The questions of these ids: those that are open as they are, the others due now. */
export function openSingles(
  open: ReadonlyMap<number, Question>,
  ids: ReadonlySet<number>,
  now: number,
): Map<number, Question> {
  return new Map([...ids].map((id) => [id, open.get(id) ?? newQuestion(now)]));
}

/** The list as soon as it is due, else what has been due the longest, else what will be first. */
export function nextQuestion(
  list: Question,
  open: ReadonlyMap<number, Question>,
  now: number,
): { readonly subject: Subject; readonly dueAt: number } {
  let next: { subject: Subject; dueAt: number } = { subject: 'list', dueAt: list.dueAt };
  if (list.dueAt <= now) return next;
  for (const [id, { dueAt }] of open) if (dueAt < next.dueAt) next = { subject: id, dueAt };
  return next;
}
