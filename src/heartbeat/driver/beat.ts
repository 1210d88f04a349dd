/** One heartbeat over the client, and how its end looks to the engine. */
import type { ClientOf } from '../../client/caller.ts';
import type { Peer } from '../../client/transport/transport.ts';
import type { ThrottledError } from '../../client/errors.ts';
import type { AttemptOutcome } from '../engine/state.ts';
import { describeFailure, failureLabel } from './describe-failure.ts';
import type { BeatRequest } from './ports.ts';

const MAX_ANSWER_BYTES = 64 * 1024;

/** The engine decides about retries and limits; the client makes one attempt. */
export function createBeatPort(
  client: Pick<ClientOf<'deployments.heartbeat'>, 'deployments'>,
): (request: BeatRequest) => Promise<AttemptOutcome> {
  return async ({ deploymentId, key, timeoutMs, fresh, signal, connected }) => {
    if (key === '') return { type: 'unauthorized', reason: 'no-key' };
    const answered: { by?: Peer } = {};
    try {
      const answer = await client.deployments.heartbeat(
        { id: deploymentId },
        {
          apiKey: key,
          timeoutMs,
          signal,
          retry: false,
          freshConnection: fresh,
          subject: deploymentId,
          maxBytes: MAX_ANSWER_BYTES,
          onConnected: connected,
          onPeer: (peer) => (answered.by = peer),
        },
      );
      if (answer.deployment_id === deploymentId) return { type: 'accepted' };
      answered.by?.judge('wrong-deployment');
      return { type: 'failed', reason: 'wrong-deployment' };
    } catch (error) {
      return judged(outcomeOf(error), deploymentId, answered.by);
    }
  };
}

function judged(outcome: AttemptOutcome, deploymentId: number, peer: Peer | undefined): AttemptOutcome {
  if (outcome.type === 'failed') peer?.judge(outcome.reason);
  if (outcome.type !== 'not-found' || peer === undefined) return outcome;
  peer.judge('not-found', deploymentId);
  return { ...outcome, address: peer.address, addresses: peer.addresses };
}

export function outcomeOf(error: unknown): AttemptOutcome {
  const reason = failureLabel(error);
  switch (reason) {
    case 'throttled': {
      const { retryAfterMs, thresholdMs } = error as ThrottledError;
      return {
        type: 'throttled',
        ...(retryAfterMs !== undefined && { retryAfterMs }),
        ...(thresholdMs !== undefined && { thresholdMs }),
      };
    }
    case 'unauthorized':
    case 'not-found':
      return { type: reason };
    default:
      return { type: 'failed', reason, why: describeFailure(error) };
  }
}
