/**
 * Bytes over undici. One deadline spans name lookup, connect, TLS, headers and body; redirects are never
 * followed (a 301 turns a POST into a GET); a connection pool that failed is retired, so that the next
 * attempt starts on a fresh socket (stale keep-alive: undici #3492; half-open TCP: kubernetes #48638); a name
 * that stops resolving falls back to the last address that it had. Proxies are honoured as everywhere:
 * HTTPS_PROXY (CONNECT), HTTP_PROXY, NO_PROXY, in either case, read by undici. TLS trusts what Node trusts:
 * its own list and the certificates in NODE_EXTRA_CA_CERTS.
 */
import type { Dispatcher } from 'undici';
import type { TransportReason } from './errors.ts';
import type { WireResponse } from '../wire/response.ts';
import { createLookup } from './lookup.ts';
import { createAgent, createProxyPool, isUndiciError, request as send } from './undici.ts';

export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly signal: AbortSignal;
  /** Open a new connection even if idle ones exist. */
  readonly fresh: boolean;
  /** Largest accepted body in bytes. */
  readonly maxBytes: number;
}

export interface Transport extends AsyncDisposable {
  /** Resolves with any complete answer; rejects with what the socket, the pool or the signal said. */
  exchange(exchange: Exchange): Promise<WireResponse>;
}

/** Idle sockets are given up before most servers and load balancers do. */
const KEEP_ALIVE_MS = 4_000;
const MAX_CONNECTIONS = 64;
/** A proxy that takes a CONNECT and never answers is let go after this, whoever still waits. */
const PROXY_TIMEOUT_MS = 30_000;

export function createTransport(): Transport {
  const lookup = createLookup();
  let pool = newPool();
  const retired = new Set<Dispatcher>();
  let closed = false;

  function newPool(): Dispatcher {
    return createAgent({
      connections: MAX_CONNECTIONS,
      pipelining: 1,
      // One request, one connection: what is said above of fresh and failed ones holds for HTTP/1.1 only.
      allowH2: false,
      keepAliveTimeout: KEEP_ALIVE_MS,
      keepAliveMaxTimeout: KEEP_ALIVE_MS,
      // The exchange's own deadline rules; undici's would only add a second, coarser one.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: { lookup, timeout: 0 },
      proxyTls: { lookup },
      connectTimeout: PROXY_TIMEOUT_MS,
      clientFactory: (origin, options) =>
        createProxyPool(origin, { ...options, headersTimeout: PROXY_TIMEOUT_MS }),
    });
  }

  /** Sends later exchanges through a new pool; those under way on the old one finish there. */
  function retire(used: Dispatcher): void {
    if (closed || used !== pool) return;
    pool = newPool();
    retired.add(used);
    void used
      .close()
      .catch(() => {})
      .then(() => retired.delete(used));
  }

  async function exchange(request: Exchange): Promise<WireResponse> {
    if (request.fresh) retire(pool);
    const used = pool;
    try {
      const response = await send(used, {
        ...splitUrl(request.url),
        method: request.method,
        headers: request.headers,
        body: request.body ?? null,
        signal: request.signal,
      });
      const text = await readBody(response.body, request.maxBytes);
      return { status: response.statusCode, headers: response.headers, text };
    } catch (error) {
      retire(used);
      throw error;
    }
  }

  return {
    exchange,
    async [Symbol.asyncDispose]() {
      closed = true;
      await Promise.allSettled([pool, ...retired].map((one) => one.destroy()));
    },
  };
}

function splitUrl(url: string): { origin: string; path: string } {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
}

async function readBody(body: Dispatcher.ResponseData['body'], maxBytes: number): Promise<string> {
  const chunks: Buffer[] = [];
  let size = 0;
  for await (const chunk of body as AsyncIterable<Buffer>) {
    size += chunk.length;
    if (size > maxBytes) throw new Error(`the answer is larger than ${maxBytes} bytes`);
    chunks.push(chunk);
  }
  // Invalid UTF-8 becomes U+FFFD: a log line with broken bytes must not cost the lines around it.
  return Buffer.concat(chunks).toString('utf8');
}

/** What kind of connection failure an error of the transport is. */
export function transportReason(error: Error): TransportReason {
  const code = errorCode(error);
  if (code === undefined) return 'other';
  if (code === 'ECONNREFUSED') return 'refused';
  if (['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED'].includes(code))
    return 'reset';
  if (['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA'].includes(code)) return 'dns';
  if (['EHOSTUNREACH', 'ENETUNREACH', 'EADDRNOTAVAIL', 'ETIMEDOUT'].includes(code)) return 'unreachable';
  // The proxy's own refusal of a CONNECT has no code but that of an abort; a real abort never comes here.
  if (code.startsWith('UND_ERR_PRX') || code === 'UND_ERR_ABORTED') return 'proxy';
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
