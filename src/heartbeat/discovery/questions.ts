/** Which questions the service is asked, when, and how each ends. All times are monotonic ms. */
import { isDoubted, type DeploymentKnowledge, type Told } from './knowledge.ts';
import type { ClientOf } from '../../client/caller.ts';
import { ApiError, TransportError, UnauthorizedError } from '../../client/errors.ts';
import { describeFailure } from '../driver/describe-failure.ts';
import { FAILURE_WORDS } from '../engine/state.ts';

export interface Question {
  readonly dueAt: number;
  /** In a row without an answer, and how the last of them ended. */
  readonly failures: number;
  readonly last: Exclude<Reply, { readonly kind: 'answered' }> | undefined;
}

export type Questions = ReadonlyMap<Subject, Question>;

const ASK_EVERY_MS = 30_000;
/** Pauses between failures double, up to these. */
const FIRST_PAUSE_MS = 3_000;
const LONGEST_PAUSE_MS = { unanswered: ASK_EVERY_MS, refused: ASK_EVERY_MS, denied: 10 * 60_000 } as const;
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

/** The list, and single deployments: all `ids` while there is no list, and those that lists miss. */
export function openQuestions(
  questions: Questions,
  ids: ReadonlySet<number>,
  { listed, deployments }: DeploymentKnowledge,
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

export type Subject = 'list' | number;

export type Reply =
  | { readonly kind: 'answered'; readonly rows: readonly Told[] }
  /** The service does not know such an operation or deployment. `gone`: in its own words, not a gateway's. */
  | { readonly kind: 'denied'; readonly gone: boolean }
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'unanswered'; readonly reason: string };

export type DeploymentClient = Pick<ClientOf<'deployments.list' | 'deployments.get'>, 'deployments'>;

/** The answer is read in one go, between two heartbeats: 16 MiB take up to half a second and 100 MB. */
const MAX_ANSWER_MEBIBYTES = 16;
/** The first failure is logged within 10 s of the start. */
const TIMEOUT_MS = 9_500;
const DENIALS: ReadonlySet<number> = new Set([404, 405, 501]);

/** Never rejects; after the signal the reply means nothing. */
export async function ask(subject: Subject, client: DeploymentClient, signal: AbortSignal): Promise<Reply> {
  const maxBytes = MAX_ANSWER_MEBIBYTES * 1024 * 1024;
  const callOptions = { signal, timeoutMs: TIMEOUT_MS, retry: false, maxBytes } as const;
  try {
    if (subject === 'list') {
      const { deployments } = await client.deployments.list({}, callOptions);
      return { kind: 'answered', rows: deployments };
    }
    const { deployment } = await client.deployments.get({ id: subject }, callOptions);
    if ((deployment.id ?? subject) !== subject)
      return { kind: 'unanswered', reason: FAILURE_WORDS['wrong-deployment'] };
    return { kind: 'answered', rows: [{ ...deployment, id: subject }] };
  } catch (error) {
    return replyOfError(error);
  }
}

function replyOfError(error: unknown): Reply {
  if (error instanceof UnauthorizedError) return { kind: 'refused', reason: describeFailure(error) };
  if (error instanceof ApiError && DENIALS.has(error.status))
    return { kind: 'denied', gone: error.meaning === 'not-found' };
  const isTooLarge = error instanceof TransportError && error.reason === 'too-large';
  const reason = isTooLarge
    ? `the list is larger than ${MAX_ANSWER_MEBIBYTES} MiB; give the deployment by its id`
    : describeFailure(error);
  return { kind: 'unanswered', reason };
}
