/** Asks an app once, never through a proxy: a proxy that is down would look like a dead app. */
import { createConnection, type Socket } from 'node:net';
import { createLookup, type Lookup } from '../../client/transport/lookup.ts';
import { transportReason } from '../../client/transport/reason.ts';
import type { TransportReason } from '../../client/errors.ts';
import { createSocketClient } from '../../client/transport/undici.ts';

export type AppAnswer =
  | { readonly healthy: true }
  /** In words, without anything that the address holds. */
  | { readonly healthy: false; readonly why: string };

/** The rest of a longer body is not read: the status is known. */
const BODY_BYTES = 64 * 1024;
const HEADER_BYTES = 16 * 1024;

const WORDS: Readonly<Record<TransportReason, string>> = {
  dns: 'its name does not resolve',
  tls: 'the TLS handshake failed',
  reset: 'the connection was closed',
  refused: 'it refuses connections',
  unreachable: 'it cannot be reached',
  proxy: 'it cannot be reached',
  'too-large': 'its answer was too large',
  malformed: 'its answer is not a complete HTTP response',
  other: 'its answer is not a complete HTTP response',
};

const WELL: AppAnswer = { healthy: true };

export function createAskApp(address: string): (signal: AbortSignal) => Promise<AppAnswer> {
  const url = new URL(address);
  const lookup = createLookup();
  return async (signal) => {
    try {
      return await (url.protocol === 'tcp:' ? connect(url, lookup, signal) : get(url, lookup, signal));
    } catch (error) {
      return { healthy: false, why: WORDS[transportReason(error as Error)] };
    }
  };
}

function lookupUntil(lookup: Lookup, signal: AbortSignal): Lookup {
  return (hostname, options, callback) => lookup(hostname, options, callback, signal);
}

function connect(url: URL, lookup: Lookup, signal: AbortSignal): Promise<AppAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AppAnswer>();
  const socket: Socket = createConnection({
    host: hostOf(url),
    port: Number(url.port),
    lookup: lookupUntil(lookup, signal),
  });
  const end = (): void => void socket.destroy();
  signal.addEventListener('abort', end, { once: true });
  socket.once('connect', () => resolve(WELL)).once('error', reject);
  socket.once('close', () => reject(new Error('closed')));
  return promise.finally(() => {
    signal.removeEventListener('abort', end);
    end();
  });
}

async function get(url: URL, lookup: Lookup, signal: AbortSignal): Promise<AppAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<AppAnswer>();
  const life = new AbortController();
  const client = createSocketClient(url.origin, {
    pipelining: 0,
    allowH2: false,
    headersTimeout: 0,
    bodyTimeout: 0,
    maxHeaderSize: HEADER_BYTES,
    maxCachedSessions: 0,
    // What Node and undici both call `signal` ends a socket, whatever it is doing.
    connect: { signal: life.signal, timeout: 0, lookup: lookupUntil(lookup, life.signal) },
  });
  let answer: AppAnswer = WELL;
  let left = BODY_BYTES;
  client.dispatch(
    { path: url.pathname + url.search, method: 'GET', headers: headersOf(url), body: null },
    {
      // undici takes no handler without it.
      onRequestStart() {},
      onResponseStart(_, status) {
        if (status >= 200) answer = answerTo(status);
      },
      onResponseData(_, chunk) {
        left -= chunk.length;
        if (left < 0) resolve(answer);
      },
      onResponseEnd: () => resolve(answer),
      onResponseError: (_, error) => reject(error),
    },
  );
  const end = (): void => reject(new Error('not wanted any more'));
  signal.addEventListener('abort', end, { once: true });
  try {
    return await promise;
  } finally {
    signal.removeEventListener('abort', end);
    // First, for a living client would connect again.
    void client.destroy(new Error('asked')).catch(() => {});
    life.abort();
  }
}

function answerTo(status: number): AppAnswer {
  if (status < 300) return WELL;
  if (status >= 400) return { healthy: false, why: `it answers with status ${status}` };
  return { healthy: false, why: `it answers with status ${status}, and redirects are not followed` };
}

function headersOf({ username, password }: URL): Record<string, string> {
  const headers = { 'user-agent': 'pilotlight', accept: '*/*' };
  if (username === '' && password === '') return headers;
  const credentials = `${decodeURIComponent(username)}:${decodeURIComponent(password)}`;
  return { ...headers, authorization: `Basic ${Buffer.from(credentials).toString('base64')}` };
}

function hostOf({ hostname }: URL): string {
  return hostname.replace(/^\[(.*)\]$/, '$1');
}
