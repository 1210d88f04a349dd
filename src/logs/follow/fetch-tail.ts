/** One poll over the client, and what its answer means to the follower. */
import type { ClientOf } from '../../client/partial-client.ts';
import { ApiError, ResponseError, TimeoutError, TransportError } from '../../client/errors.ts';
import { recogniseAnswer } from '../tail/answer.ts';
import type { FetchTail } from './group-follower.ts';

/** When to ask again is the follower's decision, so the client makes one attempt. */
export function createTailFetcher(client: Pick<ClientOf<'workergroups.logs'>, 'workergroups'>): FetchTail {
  return async ({ workergroupId, tail, signal }) => {
    try {
      return recogniseAnswer(
        200,
        await client.workergroups.logs({ id: workergroupId, tail }, { signal, retry: false }),
      );
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const retryAfterMs = error instanceof ApiError ? error.waitMs : undefined;
      return {
        kind: 'error',
        reason: error.message,
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(mayBeTooLarge(error) && { tooLarge: true }),
      };
    }
  };
}

/** Too slow, cut, or larger than what the client, a proxy or the service lets through. */
function mayBeTooLarge(error: Error): boolean {
  if (error instanceof ApiError) return error.status === 413 || error.status === 504;
  if (error instanceof TransportError) return error.reason === 'reset' || error.reason === 'other';
  return error instanceof TimeoutError || error instanceof ResponseError;
}
