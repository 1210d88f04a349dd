/** One heartbeat over the client, how its end looks to the engine, and what went wrong in words. */
import { ADVICE_BY_WORDS } from '../../contract/errors.ts';
import type { ClientOf } from '../../client/caller.ts';
import type { Peer } from '../../client/transport/transport.ts';
import {
  ApiError,
  CallError,
  RequestError,
  ResponseError,
  TimeoutError,
  TransportError,
  type ThrottledError,
  type TransportReason,
} from '../../client/errors.ts';
import { FAILURE_WORDS, type AttemptOutcome, type FailureReason } from '../engine/state.ts';
import type { BeatRequest } from './ports.ts';
import { getSystemErrorMessage } from 'node:util';

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
      return { type: 'throttled', retryAfterMs, thresholdMs };
    }
    case 'not-found':
      return { type: reason };
    case 'unauthorized':
      return { type: reason, why: describeFailure(error) };
    default:
      return { type: 'failed', reason, why: describeFailure(error) };
  }
}

type ErrorLabel = FailureReason | 'throttled' | 'unauthorized' | 'not-found';

function failureLabel(error: unknown): ErrorLabel {
  if (error instanceof ApiError) return labelOfRefusal(error);
  if (error instanceof TimeoutError) return 'timeout';
  if (error instanceof ResponseError) return 'unreadable';
  return error instanceof TransportError ? TRANSPORT[error.reason].label : 'unknown';
}

function labelOfRefusal({ code, status, meaning, errorCode }: ApiError): ErrorLabel {
  if (code !== 'api_error') return code;
  // Also what a permission is missing for. Without a code it is a page of a firewall.
  if (status === 401 || (status === 403 && errorCode !== undefined)) return 'unauthorized';
  if (meaning === 'not-found') return 'not-found';
  // Not the service's own words: a firewall, or a gateway that lost its route.
  if (status === 403 || status === 404) return 'unreadable';
  if (status >= 500) return 'server-error';
  if (status >= 400) return 'status';
  if (status >= 300) return 'redirect';
  return status >= 200 ? 'rejected' : 'status';
}

/** With the status and the address if they are known: `connection refused (10.0.0.7:443)`. */
export function describeFailure(error: unknown): string {
  const words = error instanceof TransportError ? describeTransport(error) : wordsOf(error);
  const facts = [
    ...(error instanceof ApiError ? [`status ${error.status}`] : []),
    ...(error instanceof CallError ? placeOf(error, causeOf(error.cause)) : []),
  ];
  return facts.length === 0 ? words : `${words} (${facts.join(', ')})`;
}

const NO_ROUTE = 'there is no such route at this address; check PILOTLIGHT_BASE_URL, or a proxy in between';

function wordsOf(error: unknown): string {
  const isKeyless = error instanceof RequestError && error.problems.some(({ field }) => field === 'apiKey');
  if (isKeyless) return FAILURE_WORDS['no-key'];
  const label = failureLabel(error);
  const isNoRoute = error instanceof ApiError && error.status === 404 && label === 'unreadable';
  if (isNoRoute) return NO_ROUTE;
  const known = error instanceof ApiError && ADVICE_BY_WORDS.find(({ says }) => says.test(error.said));
  return known ? `${FAILURE_WORDS[label]}: ${known.advice}` : FAILURE_WORDS[label];
}

/** `reason`: the label of a failure, the kind of a broken connection, or a text. */
export function describeAddressFailure(reason: string): string {
  const known: Readonly<Record<string, string>> = FAILURE_WORDS;
  return TRANSPORT[reason as TransportReason]?.words ?? known[reason] ?? reason;
}

const TRANSPORT: Readonly<
  Record<TransportReason, { readonly label: FailureReason; readonly words: string }>
> = {
  refused: { label: 'connect', words: 'connection refused' },
  unreachable: { label: 'connect', words: 'the service is unreachable' },
  proxy: { label: 'connect', words: 'the proxy did not connect' },
  reset: { label: 'reset', words: FAILURE_WORDS.reset },
  dns: { label: 'dns', words: FAILURE_WORDS.dns },
  tls: { label: 'tls', words: FAILURE_WORDS.tls },
  'too-large': { label: 'unreadable', words: 'the answer is too large' },
  malformed: { label: 'unreadable', words: 'the answer is not HTTP' },
  other: { label: 'unknown', words: 'the connection failed' },
};

function describeTransport({ reason, cause }: TransportError): string {
  const error = causeOf(cause);
  if (error.code === 'UND_ERR_HEADERS_OVERFLOW') return 'the headers of the answer are too large';
  const { hostname } = error;
  const words = hostname === undefined ? TRANSPORT[reason].words : `the name ${hostname} does not resolve`;
  if (reason === 'tls') return `${words}: ${tlsDetail(error)}`;
  return DETAILED.has(reason) ? `${words}: ${detailOf(error)}` : words;
}

const DETAILED: ReadonlySet<TransportReason> = new Set(['dns', 'unreachable', 'proxy', 'other']);

function detailOf({ code, errno, message }: CauseError): string {
  if (code?.startsWith('UND_ERR_CONNECT')) return 'no answer in time';
  // undici, of a proxy that refused: Proxy response (407) !== 200 when HTTP Tunneling.
  const [, status] = /\((\d{3})\)/.exec(message) ?? [];
  if (status !== undefined) return `it answered status ${status}`;
  return errno === undefined ? oneLine(message) : getSystemErrorMessage(errno);
}

const UNTRUSTED = /SELF_SIGNED|^UNABLE_TO_(?:VERIFY|GET_ISSUER)/;

function tlsDetail({ code = '', reason, message }: CauseError): string {
  if (UNTRUSTED.test(code))
    return 'the certificate is not trusted; its CA belongs into the file of NODE_EXTRA_CA_CERTS';
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return 'the certificate is for another host name';
  if (code === 'CERT_HAS_EXPIRED') return 'the certificate has expired';
  if (code === 'CERT_NOT_YET_VALID') return 'the certificate is not valid yet; is the clock right?';
  if (/WRONG_VERSION_NUMBER|PACKET_LENGTH/.test(code)) return 'this port does not speak TLS; is it for http?';
  return reason ?? oneLine(message);
}

const SHOWN = 120;

function oneLine(text: string): string {
  return text.trim().split('\n', 1).join('').slice(0, SHOWN);
}

function placeOf({ place }: CallError, { address, port }: CauseError): string[] {
  const own = address === undefined ? place?.address : socketAddress(address, port);
  if (own === undefined) return [];
  return [place?.isProxy ? `proxy ${own}` : own];
}

function socketAddress(address: string, port: number | undefined): string {
  if (port === undefined) return address;
  return address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;
}

type CauseError = Pick<Error, 'message'> & Pick<NodeJS.ErrnoException, 'code' | 'errno'> & CauseFacts;
type CauseFacts = Partial<Readonly<Record<'address' | 'hostname' | 'reason', string> & { port: number }>>;

/** The innermost error of the system; of several addresses, that of the first. */
function causeOf(error: unknown): CauseError {
  if (error instanceof AggregateError) return causeOf(error.errors[0]);
  if (!(error instanceof Error)) return { message: String(error) };
  return error.cause instanceof Error ? causeOf(error.cause) : error;
}
