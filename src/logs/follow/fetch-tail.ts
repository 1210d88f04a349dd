/** One poll over the client, and what its answer means to the follower. */
import type { ClientOf } from '../../client/partial-client.ts';
import { ApiError } from '../../client/errors.ts';
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
      if (!(error instanceof ApiError) || error.waitMs === undefined) throw error;
      return { kind: 'error', reason: error.message, retryAfterMs: error.waitMs };
    }
  };
}
