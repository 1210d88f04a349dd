/** One question to the service, with an end: an answer, a refusal, the timeout, or the signal. Its time counts from when the rate limit lets it leave. */
import type { CallOptions } from '../../client/caller.ts';
import { TransportError } from '../../client/errors.ts';
import type { Subject } from './questions.ts';
import type { Told } from './knowledge.ts';
import { replyOfError, WRONG_DEPLOYMENT, type Reply } from './reply.ts';

/** The question names the id, so an answer may leave it out. */
type ToldOfOne = Omit<Told, 'id'> & { readonly id?: number | undefined };

/** The part of the client that is asked; `ClientOf<'deployments.list' | 'deployments.get'>` has it. */
export interface DeploymentClient {
  readonly deployments: {
    list(
      input: Readonly<Record<string, unknown>>,
      options?: CallOptions,
    ): Promise<{ readonly deployments: readonly Told[] }>;
    get(input: { readonly id: number }, options?: CallOptions): Promise<{ readonly deployment: ToldOfOne }>;
  };
}

/**
 * A larger answer is refused: it is read in one go, between two heartbeats. 16 MiB are some 8,000 deployments with an
 * environment of 2 kB each, take up to half a second on a busy core (a pause of T/30 breaks no bound, 0.67 s at a TTL of
 * 20 s), and 100 MB for that moment.
 */
const MAX_ANSWER_MEBIBYTES = 16;
const MAX_ANSWER_BYTES = MAX_ANSWER_MEBIBYTES * 1024 * 1024;
const TOO_LARGE: Reply = {
  kind: 'unanswered',
  reason: `the list is larger than ${MAX_ANSWER_MEBIBYTES} MiB; give the deployment by its id`,
};
/** An answer that takes longer does not count, ms: what goes wrong first is said within 10 s of the start. */
const TIMEOUT_MS = 9_500;

/** One question, and its end. Never rejects; after the signal the reply means nothing. */
export async function exchange(
  subject: Subject,
  client: DeploymentClient,
  signal: AbortSignal,
): Promise<Reply> {
  const callOptions = { signal, timeoutMs: TIMEOUT_MS, retry: false, maxBytes: MAX_ANSWER_BYTES } as const;
  try {
    return await (subject === 'list'
      ? askForList(client, callOptions)
      : askForOne(client, subject, callOptions));
  } catch (error) {
    return isTooLarge(error) ? TOO_LARGE : replyOfError(error);
  }
}

function isTooLarge(error: unknown): boolean {
  return error instanceof TransportError && error.reason === 'too-large';
}

async function askForList(client: DeploymentClient, callOptions: CallOptions): Promise<Reply> {
  const { deployments } = await client.deployments.list({}, callOptions);
  return { kind: 'answered', rows: deployments };
}

async function askForOne(client: DeploymentClient, id: number, callOptions: CallOptions): Promise<Reply> {
  const { deployment } = await client.deployments.get({ id }, callOptions);
  if (deployment.id !== undefined && deployment.id !== id) return WRONG_DEPLOYMENT;
  return { kind: 'answered', rows: [{ ...deployment, id }] };
}
