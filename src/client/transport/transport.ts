/**
 * Bytes over undici. A failed exchange closes its connection, so that the next attempt does not meet it
 * (undici #3492, kubernetes #48638). Redirects are not followed: a 301 turns a POST into a GET.
 */
import { isIPv6 } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import type { WireResponse } from '../../wire/response.ts';
import {
  AddressBook,
  createLookup,
  type AddressState,
  type Place,
  type Subject,
  type Resolve,
} from './address-book.ts';
import { Connection, type Exchange } from './connection.ts';
import { transportReason } from '../errors.ts';
import type { SecureContext } from 'node:tls';
import { readSlowFile, refuseIrregular } from '../slow-file.ts';

export type { Exchange } from './connection.ts';

/** The address that answered: the service's, or the proxy's. */
export interface Peer {
  readonly address: string;
  /** How many addresses could have answered, with this one. */
  readonly addresses: number;
  /**
   * Without a reason the answer was good. With one, other addresses come first for some minutes; with a
   * subject, for requests about it.
   */
  judge(reason?: string, subject?: Subject): void;
}

export interface Answered extends WireResponse {
  readonly peer?: Peer;
}

export interface OriginAddresses {
  readonly origin: string;
  readonly proxy?: string;
  readonly addresses: readonly AddressState[];
}

export interface Transport extends AsyncDisposable {
  /** Open connections; each is one open file, and two while it connects. */
  readonly open: number;
  addresses(): OriginAddresses[];
  /** Rejects as soon as socket or signal fail, also while a body is read (node #56917). */
  exchange(exchange: Exchange): Promise<Answered>;
}

const TELLING_MS = 500;

export function createTransport(resolve?: Resolve): Transport {
  return new PooledTransport(resolve);
}

const MAX_IDLE = 64;

class PooledTransport implements Transport {
  readonly #lookup: ReturnType<typeof createLookup>;
  readonly #open = new Set<Connection>();
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
      // An idle socket notices its end in a later turn of the event loop.
      const sent = reused ? setImmediate().then(() => connection.send(request)) : connection.send(request);
      const response = await Promise.race([sent, aborted.promise]);
      this.#keep(connection);
      return { ...response, ...peerOf(connection) };
    } catch (cause) {
      const error = cause instanceof Error ? cause : new Error('aborted', { cause });
      const reason = signal.aborted ? 'timeout' : transportReason(error);
      // A server may close an idle connection at any time.
      const tells = signal.aborted
        ? performance.now() - startedAt >= TELLING_MS
        : !(reused && reason === 'reset');
      if (tells)
        for (const address of connection.addresses)
          connection.book.failed(address, reason, performance.now());
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
    await this.#giveUpAll(this.#open);
  }

  #book(origin: string): AddressBook {
    const book = this.#books.get(origin) ?? new AddressBook();
    this.#books.set(origin, book);
    return book;
  }

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
        // A connection in use fails its exchange, which closes it.
        if (this.#idle.includes(connection)) void this.#giveUp(connection);
      },
    });
    connection.subject = subject;
    this.#open.add(connection);
    return connection;
  }

  #keep(connection: Connection): void {
    if (!this.#open.has(connection)) return;
    connection.subject = undefined;
    this.#idle.push(connection);
    const [oldest] = this.#idle;
    if (oldest && this.#idle.length > MAX_IDLE) void this.#giveUp(oldest);
  }

  #giveUp(connection: Connection, reason = new Error('the client closed the connection')): Promise<void> {
    this.#open.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    return connection.destroy(reason);
  }

  async #giveUpAll(connections: Iterable<Connection>): Promise<void> {
    await Promise.all(Array.from(connections, (one) => this.#giveUp(one)));
  }

  /** A certificate was refused: perhaps the trusted certificates changed. */
  async #doubtTrust(): Promise<void> {
    if (await this.#trust.refresh()) await this.#giveUpAll([...this.#idle]);
  }

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

function placeOf({ origin, book, addresses: [address] }: Connection): Place {
  const { protocol, host } = new URL(book.proxy === undefined ? origin : `http://${book.proxy}`);
  const [, port = protocol === 'https:' ? '443' : '80'] = /:(\d+)$/.exec(host) ?? [];
  const name = address === undefined ? host.replace(/:\d+$/, '') : isIPv6(address) ? `[${address}]` : address;
  return { address: `${name}:${port}`, isProxy: book.proxy !== undefined };
}

const CERTIFICATE = /-----BEGIN CERTIFICATE-----[^-]+-----END CERTIFICATE-----/g;

/**
 * Trusted certificates: Node's, and those of NODE_EXTRA_CA_CERTS. Node reads that file once; this reads it
 * again when a certificate is refused.
 */
class Trust {
  readonly #path = process.env['NODE_EXTRA_CA_CERTS'] ?? '';
  #context: SecureContext | undefined;
  #text: string | undefined;

  /** All connections share it: making one costs half of a TLS connection. */
  context(): SecureContext {
    // TLS is loaded when it is needed, as undici does.
    return (this.#context ??= process.getBuiltinModule('node:tls').createSecureContext());
  }

  /** Reads the file again. True if other certificates may count now. */
  async refresh(): Promise<boolean> {
    const text = await readSlowFile(this.#path, refuseIrregular).catch(() => undefined);
    // One by one: a broken certificate must not hide those behind it.
    const extra = text?.match(CERTIFICATE);
    if (!extra || text === this.#text) return false;
    this.#text = text;
    const tls = process.getBuiltinModule('node:tls');
    const ofStart = tls.getCACertificates('extra');
    const own = tls.getCACertificates('default').filter((one) => !ofStart.includes(one));
    this.#context = tls.createSecureContext({ ca: [...own, ...extra] });
    return true;
  }
}
