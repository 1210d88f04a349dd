/**
 * One socket to one origin, perhaps through a proxy, for one exchange at a time. `destroy` ends it in any
 * phase; undici alone lets a connecting socket live on.
 */
import { channel } from 'node:diagnostics_channel';
import { ADDRCONFIG, type LookupAddress } from 'node:dns';
import { isIP, type Socket } from 'node:net';
import { addAbortSignal, type Readable } from 'node:stream';
import type { SecureContext } from 'node:tls';
import type { Client, Dispatcher, buildConnector } from 'undici';
import { BODY_TOO_LARGE, BoundedBody } from '../../wire/body.ts';
import type { WireResponse } from '../../wire/response.ts';
import { transportReason } from '../errors.ts';
import {
  LONG_MS,
  type AddressBook,
  type Candidate,
  type Place,
  type Subject,
  type Lookup,
} from './address-book.ts';
import { createAgent, createConnector, createSocketClient } from './undici.ts';

export interface Exchange {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Readable | undefined;
  readonly signal: AbortSignal;
  readonly fresh: boolean;
  /** Attempts about the same thing use different addresses. */
  readonly subject?: Subject | undefined;
  readonly maxBytes: number;
  readonly onConnected?: (() => void) | undefined;
  /** The answer has begun; `soFar` is what has come of it. */
  readonly onAnswer?: ((soFar: () => WireResponse) => void) | undefined;
  readonly onPlace?: ((place: Place) => void) | undefined;
}

interface ConnectionParts {
  readonly lookup: Lookup;
  readonly book: AddressBook;
  readonly busy: () => ReadonlySet<string>;
  readonly secureContext: () => SecureContext;
  readonly onClosed: () => void;
}

/** Shorter than most servers and load balancers keep idle sockets. */
const KEEP_ALIVE_MS = 4_000;
/** Gateways may add more headers than Node's 16 KiB. */
const HEADER_BYTES = 128 * 1024;
/** Node reports each TCP socket that it makes, within net.connect. */
const NEW_SOCKETS = channel('net.client.socket');

/** HTTP/1.1 alone has one request a connection. */
const PLAIN = { allowH2: false, maxCachedSessions: 0 };
const CLIENT = {
  ...PLAIN,
  pipelining: 1,
  keepAliveTimeout: KEEP_ALIVE_MS,
  keepAliveMaxTimeout: KEEP_ALIVE_MS,
  // The exchange has its own deadline.
  headersTimeout: 0,
  bodyTimeout: 0,
  maxHeaderSize: HEADER_BYTES,
};

export class Connection {
  readonly origin: string;
  readonly book: AddressBook;
  subject: Subject | undefined;
  readonly #parts: ConnectionParts;
  readonly #life = new AbortController();
  readonly #dispatcher: Dispatcher;
  readonly #connect: ReturnType<typeof createConnector>;
  #race: Race | undefined;
  #isAnswerDue = false;

  constructor(origin: string, parts: ConnectionParts) {
    this.origin = origin;
    this.book = parts.book;
    this.#parts = parts;
    const isTls = origin.startsWith('https:');
    const tls = isTls ? { secureContext: parts.secureContext() } : {};
    const { signal } = this.#life;
    this.#connect = createConnector({ ...PLAIN, ...tls, signal, timeout: 0 });
    const connect: buildConnector.connector = (target, callback) => this.#resolve(target, callback);
    this.#dispatcher = createAgent({
      // We open a direct socket, and the one to a proxy; through a tunnel undici's own `connect` opens it.
      factory: (address, given: Pick<Client.Options, 'connect'>) => {
        const tunnel = isTls && typeof given.connect === 'function' && given.connect;
        const client = createSocketClient(address, { ...CLIENT, connect: tunnel || connect });
        return client.on('disconnect', parts.onClosed);
      },
      clientFactory: (proxy) => createSocketClient(proxy, { ...CLIENT, connect }),
      requestTls: tls,
      connectTimeout: 0,
    });
  }

  /** The addresses that it connects to, or the connected one. Empty behind a SOCKS5 proxy. */
  get addresses(): readonly string[] {
    return [...(this.#race?.addresses ?? [])];
  }

  send({ url, method, headers, body, maxBytes, onConnected, onAnswer }: Exchange): Promise<WireResponse> {
    const { pathname, search } = new URL(url);
    const path = pathname + search;
    return new Promise((resolve, reject) => {
      const received = new BoundedBody(maxBytes);
      this.#isAnswerDue = true;
      let status = 0;
      let answerHeaders: WireResponse['headers'] = {};
      // A broken log line must not cost the others: invalid UTF-8 becomes U+FFFD.
      const soFar = (): WireResponse => ({
        status,
        headers: answerHeaders,
        text: received.bytes().toString('utf8'),
      });
      this.#dispatch(
        { origin: this.origin, path, method, headers, body: body ?? null },
        {
          onRequestStart: () => onConnected?.(),
          onResponseStart: (_, statusCode, fields) => {
            if (statusCode < 200) return;
            this.#isAnswerDue = false;
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
   * undici makes the socket to a SOCKS5 proxy before `dispatch` returns, and leaves it open after an abort.
   */
  #dispatch(options: Dispatcher.DispatchOptions, handler: Dispatcher.DispatchHandler): void {
    const own = (message: unknown): void => {
      const { socket } = message as { socket: Socket };
      addAbortSignal(this.#life.signal, socket).once('close', this.#parts.onClosed);
    };
    NEW_SOCKETS.subscribe(own);
    try {
      this.#dispatcher.dispatch(options, handler);
    } finally {
      NEW_SOCKETS.unsubscribe(own);
    }
  }

  #resolve(target: buildConnector.Options, callback: buildConnector.Callback): void {
    const { hostname, host = hostname } = target;
    if (host !== new URL(this.origin).host) this.book.proxy = host;
    if (isIP(hostname)) return this.#raceTo([hostname], target, callback);
    const options = { all: true, hints: process.platform === 'win32' ? 0 : ADDRCONFIG };
    const found: Parameters<Lookup>[2] = (error, addresses) => {
      if (error) return callback(error, null);
      const all = (addresses as LookupAddress[]).map(({ address }) => address);
      this.#raceTo(all, target, callback);
    };
    this.#parts.lookup(hostname, options, found, this.#life.signal);
  }

  #raceTo(
    addresses: readonly string[],
    target: buildConnector.Options,
    callback: buildConnector.Callback,
  ): void {
    this.book.resolved(addresses, performance.now());
    this.#race = new Race({
      book: this.book,
      subject: this.subject,
      busy: this.#parts.busy,
      open: (address, onConnect) => this.#connect({ ...target, hostname: address }, onConnect),
      callback: (...onConnect) => {
        const [, socket] = onConnect;
        if (socket) skipContinue(socket, () => this.#isAnswerDue);
        callback(...onConnect);
      },
    });
  }

  async destroy(reason: Error): Promise<void> {
    this.#race?.end();
    // First, because a living client would connect again.
    const ended = this.#dispatcher.destroy(reason).catch(() => {});
    this.#life.abort(reason);
    await ended;
  }
}

const INTERIM = /^HTTP\/1\.1 1(\d\d)(?: [^\r\n]*)?\r\n(?:[^\r\n]+\r\n)*\r\n/;
const INTERIM_BEGINS = 'HTTP/1.1 1';
const INTERIM_BYTES = 1024;

/**
 * Cuts `100 Continue` out of the socket's data: a server may send it unasked and repeatedly (RFC 9110,
 * 15.2.1), and undici would end the connection. An incomplete head waits for its rest.
 */
function skipContinue(socket: Socket, isAnswerDue: () => boolean): void {
  const read = socket.read.bind(socket) as (size?: number) => Buffer | null;
  let held: Buffer = Buffer.alloc(0);
  socket.read = (size?: number): Buffer | null => {
    const chunk = read(size);
    if (chunk === null || !isAnswerDue()) return chunk;
    const passed: Buffer[] = [];
    let rest = Buffer.concat([held, chunk]);
    for (;;) {
      const text = rest.toString('latin1', 0, INTERIM_BYTES);
      const [head, status] = INTERIM.exec(text) ?? [];
      if (head === undefined) {
        held = isCutInterim(text) ? rest : Buffer.alloc(0);
        rest = rest.subarray(held.length);
        break;
      }
      if (status !== '00') passed.push(rest.subarray(0, head.length));
      rest = rest.subarray(head.length);
    }
    const all = Buffer.concat([...passed, rest]);
    return all.length > 0 ? all : socket.read(size);
  };
}

function isCutInterim(text: string): boolean {
  if (text.length < INTERIM_BEGINS.length) return text !== '' && INTERIM_BEGINS.startsWith(text);
  return text.startsWith(INTERIM_BEGINS) && text.length < INTERIM_BYTES && !text.includes('\r\n\r\n');
}

function tooLarge(maxBytes: number): Error {
  return Object.assign(new Error(`the answer is larger than ${maxBytes} bytes`), { code: BODY_TOO_LARGE });
}

interface RaceOptions {
  readonly book: AddressBook;
  readonly subject: Subject | undefined;
  readonly busy: () => ReadonlySet<string>;
  readonly open: (address: string, onConnect: OnConnect) => Socket;
  readonly callback: OnConnect;
}

type OnConnect = (...args: [null, Socket] | [Error, null]) => void;

interface Runner {
  readonly socket: Socket;
  readonly startedAt: number;
}

/**
 * Connects to one of several addresses. The best one starts alone, then the next beside it; the first to
 * connect (with TLS) is used. After two seconds the older of two gives way. Node's own race gives up after
 * 250 ms, too early for a far network (node #54359).
 */
export class Race {
  readonly #options: RaceOptions;
  /** Connecting, the oldest first; in the end the winner alone. */
  readonly #runners = new Map<string, Runner>();
  readonly #tried = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #firstError: Error | undefined;
  #isOver = false;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#startNext();
  }

  get addresses(): Iterable<string> {
    return this.#runners.keys();
  }

  end(): void {
    this.#isOver = true;
    clearTimeout(this.#timer);
  }

  #startNext(): void {
    const next = this.#next();
    if (next) this.#start(next.address);
    else if (this.#runners.size === 0)
      this.#finish(this.#firstError ?? new Error('no address is left'), null);
  }

  #next(): Candidate | undefined {
    const { book, subject, busy } = this.#options;
    return book.order(performance.now(), subject, busy()).find(({ address }) => !this.#tried.has(address));
  }

  #start(address: string): void {
    const { book, open } = this.#options;
    const startedAt = performance.now();
    this.#tried.add(address);
    book.trying(address, startedAt);
    try {
      const socket = open(address, (error, connected) => {
        if (this.#isOver || !this.#runners.has(address)) return;
        if (error) this.#lost(address, error);
        else this.#won(address, connected);
      });
      this.#runners.set(address, { socket, startedAt });
    } catch (error) {
      return this.#lost(address, error as Error);
    }
    this.#schedule();
  }

  /** The next one starts beside the others, or in place of the older of two. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const next = this.#next();
    if (!next) return;
    const isFull = this.#runners.size > 1;
    const waitMs = isFull ? LONG_MS : this.#options.book.patience(next);
    this.#timer = setTimeout(() => {
      const [oldest] = this.#runners;
      if (isFull && oldest) this.#giveUp(...oldest);
      this.#startNext();
    }, waitMs);
  }

  #giveUp(address: string, { socket }: Runner): void {
    this.#runners.delete(address);
    this.#options.book.failed(address, 'slow to connect', performance.now());
    socket.destroy();
  }

  #lost(address: string, error: Error): void {
    this.#firstError ??= error;
    this.#runners.delete(address);
    this.#options.book.failed(address, transportReason(error), performance.now());
    if (this.#runners.size > 0) this.#schedule();
    else this.#startNext();
  }

  /** An earlier runner that lost is slow or dead; a later one only lost. */
  #won(winner: string, socket: Socket): void {
    let isEarlier = true;
    for (const [address, runner] of this.#runners) {
      if (address === winner) {
        isEarlier = false;
        this.#options.book.connected(performance.now() - runner.startedAt);
      } else if (isEarlier) this.#giveUp(address, runner);
      else {
        this.#runners.delete(address);
        runner.socket.destroy();
      }
    }
    this.#finish(null, socket);
  }

  #finish(...result: Parameters<OnConnect>): void {
    this.end();
    this.#options.callback(...result);
  }
}
