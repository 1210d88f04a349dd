/** The connections of one transport, to all its origins: those in use, and the idle ones that wait to be used again. */
import type { SecureContext } from 'node:tls';
import { AddressBook, type Subject } from './address-book.ts';
import { Connection } from './connection.ts';
import { createLookup, type Resolve } from './lookup.ts';

/** Of more idle connections than this, the one that was used longest ago is given up. */
const MAX_IDLE = 64;
/** Origins whose addresses are remembered; a service has two. */
const MAX_BOOKS = 64;

export class ConnectionPool {
  readonly #lookup: ReturnType<typeof createLookup>;
  readonly #open = new Set<Connection>();
  /** The one that was used last is the last. */
  readonly #idle: Connection[] = [];
  readonly #books = new Map<string, AddressBook>();
  #secureContext: SecureContext | undefined;

  constructor(resolve?: Resolve) {
    this.#lookup = createLookup(resolve);
  }

  /** Connections that are being made, in use, or idle. */
  get size(): number {
    return this.#open.size;
  }

  /** By origin. */
  get books(): ReadonlyMap<string, AddressBook> {
    return this.#books;
  }

  /** What is known of the addresses of an origin. */
  book(origin: string): AddressBook {
    const book = this.#books.get(origin) ?? new AddressBook();
    this.#books.delete(origin);
    this.#books.set(origin, book);
    const [oldest] = this.#books.keys();
    if (this.#books.size > MAX_BOOKS && oldest !== undefined) this.#books.delete(oldest);
    return book;
  }

  /** The idle connection to a good address that was used last; it is in use from here on. */
  take(origin: string, subject: Subject | undefined): Connection | undefined {
    const book = this.book(origin);
    const now = performance.now();
    const index = this.#idle.findLastIndex(
      (one) => one.origin === origin && one.addresses.every((each) => book.accepts(each, now, subject)),
    );
    const [taken] = index === -1 ? [] : this.#idle.splice(index, 1);
    if (taken) taken.subject = subject;
    return taken;
  }

  create(origin: string, subject: Subject | undefined): Connection {
    const connection = new Connection(origin, {
      lookup: this.#lookup,
      book: this.book(origin),
      busy: () => this.#busy(connection),
      // One for all: to make it anew takes half of the processor time of a TLS connection. node:tls is loaded where
      // TLS is spoken, as undici loads it.
      secureContext: () =>
        (this.#secureContext ??= process.getBuiltinModule('node:tls').createSecureContext()),
      onClosed: (closed) => {
        // One in use fails its exchange, which then gives it up.
        if (this.#idle.includes(closed)) void this.giveUp(closed, new Error('closed while idle'));
      },
    });
    connection.subject = subject;
    this.#open.add(connection);
    return connection;
  }

  /** Keeps a connection whose exchange is over for the next one. */
  keep(connection: Connection): void {
    if (!this.#open.has(connection)) return;
    connection.subject = undefined;
    this.#idle.push(connection);
    const [oldest] = this.#idle;
    if (this.#idle.length > MAX_IDLE && oldest)
      void this.giveUp(oldest, new Error('too many idle connections'));
  }

  /** Ends a connection; resolves when nothing of it is left. */
  giveUp(connection: Connection, reason: Error): Promise<void> {
    this.#open.delete(connection);
    const index = this.#idle.indexOf(connection);
    if (index !== -1) this.#idle.splice(index, 1);
    return connection.destroy(reason);
  }

  async giveUpAll(reason: Error): Promise<void> {
    await Promise.all([...this.#open].map((one) => this.giveUp(one, reason)));
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
