/** One poll over the client. */
import type { ClientOf } from '../../client/caller.ts';
import {
  ApiError,
  ResponseError,
  TimeoutError,
  TransportError,
  type TransportReason,
} from '../../client/errors.ts';
import { NOT_FOUND, recogniseAnswer, type Refusal } from '../answer.ts';
import { sourceKey } from '../source.ts';
import type { FetchTail, TailRequest } from './group-follower.ts';

/** Logs can be slow: the vendor's own client waits 120 s. */
const TIMEOUT_MS = 60_000;

export type LogClient = Pick<
  ClientOf<'workergroups.logs' | 'endpointGroups.logs'>,
  'workergroups' | 'endpointGroups'
>;

const CUT: Readonly<Record<TransportReason, Refusal['tooLarge']>> = {
  'too-large': 'surely',
  reset: 'perhaps',
  malformed: 'perhaps',
  other: 'perhaps',
  refused: undefined,
  dns: undefined,
  tls: undefined,
  unreachable: undefined,
  proxy: undefined,
};

/** The client makes one attempt: the follower decides when to ask again. */
export function createTailFetcher(client: LogClient): FetchTail {
  return async (request) => {
    try {
      return recogniseAnswer(200, await ask(client, request));
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const retryAfterMs = error instanceof ApiError ? error.waitMs : undefined;
      const notFound =
        NOT_FOUND.test(error.message) || (error instanceof ApiError && error.hasCode('not_found'));
      const tooLarge = notFound ? undefined : whetherTooLarge(error);
      return {
        kind: 'error',
        reason: error.message,
        ...(notFound && { notFound }),
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(tooLarge && { tooLarge }),
      };
    }
  };
}

function ask(client: LogClient, { source, tail, everyMs, signal }: TailRequest): Promise<unknown> {
  const turn = { everyMs, need: 'log', who: sourceKey(source) } as const;
  const options = { signal, retry: false, timeoutMs: TIMEOUT_MS, turn } as const;
  const operations = source.kind === 'workergroup' ? client.workergroups : client.endpointGroups;
  return operations.logs({ id: source.id, tail }, options);
}

function whetherTooLarge(error: Error): Refusal['tooLarge'] {
  if (error instanceof ApiError && error.status === 413) return 'surely';
  if (error instanceof TransportError) return CUT[error.reason];
  // Too slow for us or for a gateway, or cut.
  const isLikely = error instanceof TimeoutError || error instanceof ResponseError;
  return isLikely || (error instanceof ApiError && error.status === 504) ? 'perhaps' : undefined;
}
