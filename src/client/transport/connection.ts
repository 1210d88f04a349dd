/**
 * One connection: a socket to one origin, through whatever proxy the environment names, and everything that
 * has to happen before it can be written to. It carries one exchange at a time. `destroy` ends it in any
 * phase (looking up a name, connecting, CONNECT to a proxy, TLS, waiting for an answer, reading a body):
 * undici alone lets a socket that is still connecting live on when its request is aborted.
 */
import { channel } from 'node:diagnostics_channel';
import type { Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { SecureContext } from 'node:tls';
import type { Client, Dispatcher } from 'undici';
import { BODY_TOO_LARGE, BoundedBody } from '../../wire/body.ts';
import type { WireResponse } from '../../wire/response.ts';
import type { AddressPatience } from './address-patience.ts';
import type { Lookup } from './lookup.ts';
import { createAgent, createSocketClient } from './undici.ts';

export interface ConnectionRequest {
  /** Path and query. */
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | undefined;
  /** Largest accepted body in bytes. */
  readonly maxBytes: number;
  /** The connection is there, and the request is being written to it. */
  readonly onConnected: (() => void) | undefined;
  /** The answer has begun: `soFar` is what has come of it, at any time, also when its end never comes. */
  readonly onAnswer: ((soFar: () => WireResponse) => void) | undefined;
}

export interface ConnectionParts {
  readonly lookup: Lookup;
  readonly patience: AddressPatience;
  readonly secureContext: () => SecureContext;
  readonly onClosed: (connection: Connection) => void;
}

/** Idle sockets are given up before most servers and load balancers do. */
const KEEP_ALIVE_MS = 4_000;
/** Where Node tells of each TCP socket that it makes, within net.connect. */
const NEW_SOCKETS = channel('net.client.socket');

const SOCKET = {
  pipelining: 1,
  // One request, one connection: what is said above of both holds for HTTP/1.1 only.
  allowH2: false,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  // The exchange's own deadline rules; undici's would only add a second, coarser one.
  headersTimeout: 0,
  bodyTimeout: 0,
  // A connector of undici's makes one socket here: it has nothing to resume.
  maxCachedSessions: 0,
};

export class Connection {
  readonly origin: string;
  readonly #life = new AbortController();
  readonly #dispatcher: Dispatcher;
  readonly #closed: () => void;
  readonly #patience: AddressPatience;
  readonly #patienceMs: number;
  readonly #bornAt = performance.now();
  #isMade = false;

  /**
   * Does nothing until the first request. `onClosed`: its socket was there, and is gone (may be said twice).
   * `secureContext` is asked for where the origin speaks TLS.
   */
  constructor(origin: string, { lookup, patience, secureContext, onClosed }: ConnectionParts) {
    this.origin = origin;
    this.#patience = patience;
    this.#patienceMs = patience.ms;
    const isTls = origin.startsWith('https:');
    const tls = isTls ? { secureContext: secureContext() } : {};
    this.#closed = () => onClosed(this);
    const { signal } = this.#life;
    const connect = {
      ...tls,
      // What Node and undici both call `signal` ends a socket, whatever it is doing.
      signal,
      timeout: 0,
      autoSelectFamilyAttemptTimeout: this.#patienceMs,
      lookup: (...[hostname, options, callback]: Parameters<Lookup>) =>
        lookup(hostname, options, callback, signal),
    };
    this.#dispatcher = createAgent({
      // Direct, or through a proxy that forwards plain HTTP, the socket is ours to open; through a tunnel undici's
      // own `connect` opens it, over the socket that clientFactory's client leads to the proxy.
      factory: (address, given: Pick<Client.Options, 'connect'>) => {
        const tunnel = isTls && typeof given.connect === 'function' && given.connect;
        const client = createSocketClient(address, { ...SOCKET, connect: tunnel || connect });
        return client.on('disconnect', this.#closed);
      },
      clientFactory: (proxy) => createSocketClient(proxy, { ...SOCKET, connect }),
      requestTls: tls,
      connectTimeout: 0,
    });
  }

  /** Resolves with any complete answer; rejects with what the socket, undici or `destroy` said. */
  send(request: ConnectionRequest): Promise<WireResponse> {
    const { path, method, headers, body, maxBytes, onConnected, onAnswer } = request;
    return new Promise((resolve, reject) => {
      const received = new BoundedBody(maxBytes);
      let status = 0;
      let answerHeaders: WireResponse['headers'] = {};
      // Invalid UTF-8 becomes U+FFFD: a log line with broken bytes must not cost the lines around it.
      const soFar = (): WireResponse => ({
        status,
        headers: answerHeaders,
        text: received.bytes().toString('utf8'),
      });
      this.#dispatch(
        { origin: this.origin, path, method, headers, body: body ?? null },
        {
          onRequestStart: () => {
            this.#made();
            onConnected?.();
          },
          onResponseStart(_, statusCode, fields) {
            // 1xx are not the answer.
            if (statusCode < 200) return;
            [status, answerHeaders] = [statusCode, fields];
            onAnswer?.(soFar);
          },
          onResponseData(_, chunk) {
            if (!received.add(chunk)) reject(tooLarge(maxBytes));
          },
          onResponseEnd: () => resolve(soFar()),
          onResponseError: (_, error) => reject(error),
        },
      );
    });
  }

  /**
   * The socket to a SOCKS5 proxy is made by undici alone, which takes no options for it, would leave it open
   * when it is aborted while the two negotiate, and does not say when it closes. It is made before `dispatch` returns.
   */
  #dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const own = (message: unknown): void => {
      const { socket } = message as { socket: Socket };
      addAbortSignal(this.#life.signal, socket).once('close', this.#closed);
    };
    NEW_SOCKETS.subscribe(own);
    try {
      this.#dispatcher.dispatch(options, handler);
    } finally {
      NEW_SOCKETS.unsubscribe(own);
    }
  }

  #made(): void {
    if (this.#isMade) return;
    this.#isMade = true;
    this.#patience.connected(this.#patienceMs, performance.now() - this.#bornAt);
  }

  /** At once; resolves when nothing of it is left. */
  async destroy(reason: Error): Promise<void> {
    if (!this.#isMade) this.#patience.failed(this.#patienceMs);
    // First, for a client that lives would connect again.
    const ended = this.#dispatcher.destroy(reason).catch(() => {});
    this.#life.abort(reason);
    await ended;
  }
}

function tooLarge(maxBytes: number): Error {
  return Object.assign(new Error(`the answer is larger than ${maxBytes} bytes`), { code: BODY_TOO_LARGE });
}
