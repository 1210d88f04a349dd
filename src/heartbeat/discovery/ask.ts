/** One question to the service, and how it ended. Its time counts from when the rate limit lets it leave. */
import type { ClientOf } from '../../client/caller.ts';
import { ApiError, TransportError, UnauthorizedError } from '../../client/errors.ts';
import { describeFailure } from '../driver/describe-failure.ts';
import { FAILURE_WORDS } from '../engine/outcome.ts';
import type { Told } from './knowledge.ts';

/** `list`: one question for all deployments; a number: the deployment of this id. */
export type Subject = 'list' | number;

export type Reply =
  | { readonly kind: 'answered'; readonly rows: readonly Told[] }
  /** The service does not know such an operation or deployment. `gone`: in its own words, not a gateway's. */
  | { readonly kind: 'denied'; readonly gone: boolean }
  /** The key is refused, as for each other question. */
  | { readonly kind: 'refused'; readonly reason: string }
  /** Anything else, the page of a gateway for one. */
  | { readonly kind: 'unanswered'; readonly reason: string };

export type DeploymentClient = Pick<ClientOf<'deployments.list' | 'deployments.get'>, 'deployments'>;

/**
 * A larger answer is refused: it is read in one go, between two heartbeats. 16 MiB are some 8,000 deployments with an
 * environment of 2 kB each, take up to half a second on a busy core (a pause of T/30 breaks no bound, 0.67 s at a TTL of
 * 20 s), and 100 MB for that moment.
 */
const MAX_ANSWER_MEBIBYTES = 16;
/** An answer that takes longer does not count, ms: the first failure is logged within 10 s of the start. */
const TIMEOUT_MS = 9_500;
/** Statuses of a service that does not know such an operation, or such a deployment. */
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
