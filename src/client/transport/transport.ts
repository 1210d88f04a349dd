/**
 * Bytes over undici. An exchange owns its connection from the first packet to the last byte, and one that fails or is
 * aborted takes it along in whatever phase, so that the next attempt never meets the socket that failed (stale
 * keep-alive: undici #3492; half-open TCP: kubernetes #48638). Redirects are never followed: a 301 turns a POST into a
 * GET. undici reads HTTPS_PROXY, HTTP_PROXY and NO_PROXY, in either case.
 */
import { isIPv6 } from 'node:net';
import type { WireResponse } from '../../wire/response.ts';
import { AddressBook, type AddressState, type Place, type Subject } from './address-book.ts';
import { Connection, type Exchange } from './connection.ts';
import { type Resolve, createLookup } from './lookup.ts';
import { transportReason } from './reason.ts';
import { Trust } from './trust.ts';

export type { Exchange } from './connection.ts';

/** The address that answered: of the service, or of the proxy in front of it. */
export interface Peer {
  /** An IP address. */
  readonly address: string;
  /** How many addresses could have answered, this one included. */
  readonly addresses: number;
  /**
   * To be called by whoever has read the answer. Without a reason it was good. With one, other addresses come first for
   * some minutes; if a subject is given, only for requests about that.
   */
  judge(reason?: string, subject?: Subject): void;
}

export interface Answered extends WireResponse {
  /** Absent through a SOCKS5 proxy. */
  readonly peer?: Peer;
}

/** What a transport knows of the addresses of an origin. */
export interface OriginAddresses {
  readonly origin: string;
  /** `host:port` of the proxy whose addresses these are; absent if they are the service's own. */
  readonly proxy?: string;
  readonly addresses: readonly AddressState[];
}

export interface Transport extends AsyncDisposable {
  /** Connections that are being made, in use, or idle: each is one open file, and two while it is being made. */
  readonly open: number;
  /** Of each origin that was asked lately. */
  addresses(): OriginAddresses[];
  /**
   * Resolves with any complete answer; rejects with what the socket or the signal said, as soon as it does, also
   * while a body is being read (which can outlive its abort elsewhere: node #56917).
   */
  exchange(exchange: Exchange): Promise<Answered>;
}

/** An exchange that is aborted earlier says nothing about its address, ms. */
const TELLING_MS = 500;

export function createTransport(resolve?: Resolve): Transport {
  return new PooledTransport(resolve);
}

/** Of more idle connections than this, the one that was used longest ago is given up. */
const MAX_IDLE = 64;
/** Origins whose addresses are remembered; a service has two. */
const MAX_BOOKS = 64;

class PooledTransport implements Transport {
  readonly #lookup: ReturnType<typeof createLookup>;
  /** In use and idle ones. */
  readonly #open = new Set<Connection>();
  /** The one that was used last is the last. */
  readonly #idle: Connection[] = [];
  readonly #books = new Map<string, AddressBook>();
  readonly #trust = new Trust();
  #isDisposed = false;

  constructor(resolve?: Resolve) {
    this.#lookup = createLookup(resolve);
  }

  get open(): number {
    return this.#open.size;
  }

  async exchange(request: Exchange): Promise<Answered> {
    const { signal, fresh, subject } = request;
    signal.throwIfAborted();
    if (this.#isDisposed) throw new Error('the transport is disposed of');
    const { origin } = new URL(request.url);
    const startedAt = performance.now();
    const reused = fresh ? undefined : this.#take(origin, subject);
    const connection = reused ?? this.#create(origin, subject);
    const aborted = Promise.withResolvers<never>();
    const onAbort = (): void => aborted.reject(signal.reason as Error);
    signal.addEventListener('abort', onAbort);
    try {
      const sent = reused ? nextTurn().then(() => connection.send(request)) : connection.send(request);
      const response = await Promise.race([sent, aborted.promise]);
      this.#keep(connection);
      return { ...response, ...peerOf(connection) };
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error('aborted', { cause });
      const reason = signal.aborted ? 'timeout' : transportReason(error);
      // A server may close an idle connection at any time, also just before it is used.
      const tells = signal.aborted
        ? performance.now() - startedAt >= TELLING_MS
        : !(reused && reason === 'reset');
      if (tells) blame(connection, reason);
      void this.#giveUp(connection, error);
      if (reason === 'tls') void this.#doubtTrust();
      throw cause;
    } finally {
      request.onPlace?.(placeOf(connection));
      signal.removeEventListener('abort', onAbort);
    }
  }

  addresses(): OriginAddresses[] {
    const unixOffset = Date.now() - performance.now();
    return Array.from(this.#books, ([origin, book]) => ({
      origin,
      ...(book.proxy !== undefined && { proxy: book.proxy }),
      addresses: book.states(unixOffset),
    }));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true;
    await this.#giveUpAll(this.#open, 'the transport is disposed of');
  }

  /** What is known of the addresses of an origin. */
  #book(origin: string): AddressBook {
    const book = this.#books.get(origin) ?? new AddressBook();
    this.#books.delete(origin);
    this.#books.set(origin, book);
    const [oldest] = this.#books.keys();
    if (this.#books.size > MAX_BOOKS && oldest !== undefined) this.#books.delete(oldest);
    return book;
  }

  /** The idle connection to a good address that was used last; it is in use from here on. */
  #take(origin: string, subject: Subject | undefined): Connection | undefined {
    const book = this.#book(origin);
    const now = performance.now();
    const index = this.#idle.findLastIndex(
      (one) => one.origin === origin && one.addresses.every((each) => book.accepts(each, now, subject)),
    );
    const [taken] = index === -1 ? [] : this.#idle.splice(index, 1);
    if (taken) taken.subject = subject;
    return taken;
  }

  #create(origin: string, subject: Subject | undefined): Connection {
    const connection = new Connection(origin, {
      lookup: this.#lookup,
      book: this.#book(origin),
      busy: () => this.#busy(connection),
      secureContext: () => this.#trust.context(),
      onClosed: () => {
        // One in use fails its exchange, which then gives it up.
        if (this.#idle.includes(connection)) void this.#giveUp(connection, new Error('closed while idle'));
      },
    });
    connection.subject = subject;
    this.#open.add(connection);
    return connection;
  }

  /** Keeps a connection whose exchange is over for the next one. */
  #keep(connection: Connection): void {
    if (!this.#open.has(connection)) return;
    connection.subject = undefined;
    this.#idle.push(connection);
    if (this.#idle.length > MAX_IDLE)
      void this.#giveUpAll(this.#idle.slice(0, 1), 'too many idle connections');
  }

  /** Ends a connection; resolves when nothing of it is left. */
  #giveUp(connection: Connection, reason: Error): Promise<void> {
    this.#open.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    return connection.destroy(reason);
  }

  async #giveUpAll(connections: Iterable<Connection>, why: string): Promise<void> {
    await Promise.all(Array.from(connections, (one) => this.#giveUp(one, new Error(why))));
  }

  /** A certificate was refused: perhaps others are to be trusted by now. Then none of the old connections is used again. */
  async #doubtTrust(): Promise<void> {
    if (await this.#trust.refresh())
      await this.#giveUpAll([...this.#idle], 'other certificates are trusted by now');
  }

  /** Addresses that the other connections about the same subject use. */
  #busy(connection: Connection): ReadonlySet<string> {
    const { origin, subject } = connection;
    if (subject === undefined) return new Set();
    const others = [...this.#open].filter(
      (one) => one !== connection && one.origin === origin && one.subject === subject,
    );
    return new Set(others.flatMap(({ addresses }) => addresses));
  }
}

function peerOf({ book, addresses: [address] }: Connection): { readonly peer?: Peer } {
  if (address === undefined) return {};
  return {
    peer: {
      address,
      addresses: book.size,
      judge(reason, subject) {
        const now = performance.now();
        if (reason === undefined) book.worked(address, now, subject);
        else if (subject === undefined) book.failed(address, reason, now);
        else book.refused(address, subject, now);
      },
    },
  };
}

/** Of the addresses that it was connecting to, the first. */
function placeOf({ origin, book, addresses: [address] }: Connection): Place {
  const { protocol, host } = new URL(book.proxy === undefined ? origin : `http://${book.proxy}`);
  const [, port = protocol === 'https:' ? '443' : '80'] = /:(\d+)$/.exec(host) ?? [];
  const name = address === undefined ? host.replace(/:\d+$/, '') : isIPv6(address) ? `[${address}]` : address;
  return { address: `${name}:${port}`, isProxy: book.proxy !== undefined };
}

function blame({ book, addresses }: Connection, reason: string): void {
  for (const address of addresses) book.failed(address, reason, performance.now());
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
