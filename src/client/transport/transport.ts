/**
 * Bytes over undici. An exchange owns its connection from the first packet to the last byte: it takes the idle
 * one that was used last, or makes one; an exchange that fails or is aborted takes its connection with it, in
 * whatever phase that is, and nobody else's, so that the next attempt never meets the socket that failed (stale
 * keep-alive: undici #3492; half-open TCP: kubernetes #48638). One signal spans name lookup, connect, TLS, headers
 * and body; redirects are never followed (a 301 turns a POST into a GET); a name that stops resolving falls
 * back to the last address that it had. Proxies are honoured as everywhere: HTTPS_PROXY (CONNECT), HTTP_PROXY,
 * NO_PROXY, in either case, read by undici. TLS trusts what Node trusts: its own list and the certificates in
 * NODE_EXTRA_CA_CERTS.
 */
import type { Readable } from 'node:stream';
import type { TransportReason } from '../errors.ts';
import { BODY_TOO_LARGE } from '../../wire/body.ts';
import type { WireResponse } from '../../wire/response.ts';
import { ConnectionPool } from './connection-pool.ts';
import type { Resolve } from './lookup.ts';
import { isUndiciError } from './undici.ts';

export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes; its length is in the headers. */
  readonly body: string | Readable | undefined;
  readonly signal: AbortSignal;
  /** Open a new connection even if idle ones exist. */
  readonly fresh: boolean;
  /** Largest accepted body in bytes. */
  readonly maxBytes: number;
  /** Called once when the connection is there and the request is on its way: at once on a reused one. */
  readonly onConnected?: (() => void) | undefined;
  /** The answer has begun: `soFar` is what has come of it, at any time, also when its end never comes. */
  readonly onAnswer?: ((soFar: () => WireResponse) => void) | undefined;
}

export interface Transport extends AsyncDisposable {
  /** Connections that are being made, in use, or idle: each is one open file at most. */
  readonly open: number;
  /**
   * Resolves with any complete answer; rejects with what the socket or the signal said, as soon as it does, also
   * while a body is being read (which can outlive its abort elsewhere: node #56917).
   */
  exchange(exchange: Exchange): Promise<WireResponse>;
}

export function createTransport(resolve?: Resolve): Transport {
  const pool = new ConnectionPool(resolve);
  let disposed = false;

  async function exchange(request: Exchange): Promise<WireResponse> {
    const { signal, fresh } = request;
    signal.throwIfAborted();
    if (disposed) throw new Error('the transport is disposed of');
    const { origin, pathname, search } = new URL(request.url);
    const reused = fresh ? undefined : pool.take(origin);
    const connection = reused ?? pool.create(origin);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    try {
      const { method, headers, body, maxBytes, onConnected, onAnswer } = request;
      const wanted = { path: pathname + search, method, headers, body, maxBytes, onConnected, onAnswer };
      const sent = reused ? nextTurn().then(() => connection.send(wanted)) : connection.send(wanted);
      const response = await Promise.race([sent, aborted.promise]);
      pool.keep(connection);
      return response;
    } catch (error) {
      void pool.giveUp(connection, error instanceof Error ? error : new Error('aborted', { cause: error }));
      throw error;
    } finally {
      signal.removeEventListener('abort', onAbort);
    }
  }

  return {
    get open() {
      return pool.size;
    },
    exchange,
    async [Symbol.asyncDispose]() {
      disposed = true;
      await pool.giveUpAll(new Error('the transport is disposed of'));
    },
  };
}

/**
 * What has already arrived at an idle socket, its end for one, is read before it is written to: undici looks for
 * that itself, but not beyond the turn of the event loop in which it is asked.
 */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(resolve);
  });
}

/** EPERM and EACCES: a firewall of this machine. The last is Node's ETIMEDOUT where it tried several addresses. */
const UNREACHABLE: ReadonlySet<string> = new Set([
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENETDOWN',
  'EPERM',
  'EACCES',
  'EADDRNOTAVAIL',
  'ETIMEDOUT',
  'UND_ERR_CONNECT_TIMEOUT',
]);

/** What kind of connection failure an error of the transport is. */
export function transportReason(error: Error): TransportReason {
  const code = errorCode(error);
  // Undici's own, which has no code of its own.
  if (code === undefined) return error.name === 'HTTPParserError' ? 'malformed' : 'other';
  if (code === 'ECONNREFUSED') return 'refused';
  if (code === BODY_TOO_LARGE) return 'too-large';
  if (['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED'].includes(code))
    return 'reset';
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'].includes(code)) return 'dns';
  if (UNREACHABLE.has(code)) return 'unreachable';
  // The proxy's own refusal of a CONNECT has no code but that of an abort; a real abort never comes here.
  if (code.startsWith('UND_ERR_PRX') || code === 'UND_ERR_ABORTED') return 'proxy';
  if (code === 'UND_ERR_HEADERS_OVERFLOW') return 'malformed';
  if (/^(ERR_TLS|ERR_SSL|UNABLE_TO_)|CERT|^EPROTO$/.test(code)) return 'tls';
  return 'other';
}

function errorCode(error: Error): string | undefined {
  const { code } = error as NodeJS.ErrnoException;
  if (typeof code === 'string') return code;
  // Happy eyeballs reports one error for each address.
  if (error instanceof AggregateError) return errorCode(error.errors[0] as Error);
  return isUndiciError(error) ? error.code : undefined;
}
