/** One heartbeat over the client, and how its end looks to the engine. */
import type { ClientOf } from '../../client/caller.ts';
import type { Peer } from '../../client/transport/transport.ts';
import {
  ApiError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
} from '../../client/errors.ts';
import type { FailureReason, Outcome } from '../engine/outcome.ts';
import type { BeatRequest } from './ports.ts';

/** An answer has a few dozen bytes; many are under way at once, and a sidecar has little memory. */
const MAX_ANSWER_BYTES = 64 * 1024;

/** The engine decides about repetition and limits; the client makes one attempt and nothing else. */
export function createBeatPort(
  client: Pick<ClientOf<'deployments.heartbeat'>, 'deployments'>,
): (request: BeatRequest) => Promise<Outcome> {
  return async ({ deploymentId, key, timeoutMs, fresh, signal, connected }) => {
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

/** Another address may know the deployment, or be well. */
function judged(outcome: Outcome, deploymentId: number, peer: Peer | undefined): Outcome {
  if (outcome.type === 'failed') peer?.judge(outcome.reason);
  if (outcome.type !== 'not-found' || peer === undefined) return outcome;
  peer.judge('not-found', deploymentId);
  return { ...outcome, address: peer.address, addresses: peer.addresses };
}

/** Sorts an error of the client into the outcomes that the engine tells apart. */
export function outcomeOf(error: unknown): Outcome {
  if (error instanceof ThrottledError) {
    return {
      type: 'throttled',
      ...(error.retryAfterMs !== undefined && { retryAfterMs: error.retryAfterMs }),
      ...(error.thresholdMs !== undefined && { thresholdMs: error.thresholdMs }),
    };
  }
  if (error instanceof UnauthorizedError) return { type: 'unauthorized' };
  if (error instanceof ApiError) return outcomeOfRefusal(error);
  const why = whyOf(error);
  return { type: 'failed', reason: reasonOf(error), ...(why !== undefined && { why }) };
}

/** In words, if the error says more than its kind: `connection refused (10.0.0.7:443)`. */
export function whyOf(error: unknown): string | undefined {
  if (!(error instanceof TransportError)) return undefined;
  const { code, message, address, port, hostname } = causeOf(error.cause);
  const place = address === undefined ? '' : ` (${address}${port === undefined ? '' : `:${port}`})`;
  switch (error.reason) {
    case 'refused':
      return `connection refused${place}`;
    case 'unreachable':
      return `the service is unreachable${place}: ${code ?? message}`;
    case 'reset':
      return `the connection was closed${place}: ${code ?? message}`;
    case 'dns':
      return `the name ${hostname ?? 'of the service'} does not resolve: ${code ?? message}`;
    case 'tls':
      return `the TLS handshake failed: ${message}; is the CA of the service in NODE_EXTRA_CA_CERTS?`;
    case 'proxy':
      return `the proxy did not connect: ${message}`;
    default:
      return message;
  }
}

interface SystemError {
  readonly message: string;
  readonly code?: string;
  readonly address?: string;
  readonly port?: number;
  readonly hostname?: string;
}

/** The innermost that the system said; of several addresses, what the first of them did. */
function causeOf(error: unknown): SystemError {
  if (error instanceof AggregateError) return causeOf(error.errors[0]);
  if (!(error instanceof Error)) return { message: String(error) };
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}

function outcomeOfRefusal(error: ApiError): Outcome {
  const { status, meaning } = error;
  if (status === 401 || status === 403) return { type: 'unauthorized' };
  if (meaning === 'not-found') return { type: 'not-found' };
  // Whoever answered was not the service: a gateway that lost its route, a framework, a page.
  if (status === 404) return { type: 'failed', reason: 'unreadable' };
  if (status >= 500) return { type: 'failed', reason: 'server-error' };
  if (status >= 400) return { type: 'failed', reason: 'status' };
  if (status >= 300) return { type: 'failed', reason: 'redirect' };
  return { type: 'failed', reason: status >= 200 ? 'rejected' : 'status' };
}

function reasonOf(error: unknown): FailureReason {
  if (error instanceof TimeoutError) return 'timeout';
  if (error instanceof ResponseError) return 'unreadable';
  if (!(error instanceof TransportError)) return 'unknown';
  switch (error.reason) {
    case 'dns':
    case 'tls':
    case 'reset':
      return error.reason;
    case 'refused':
    case 'unreachable':
    case 'proxy':
      return 'connect';
    case 'too-large':
    case 'malformed':
      return 'unreadable';
    case 'other':
      return 'unknown';
  }
}
