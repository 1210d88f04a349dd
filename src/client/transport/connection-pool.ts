/** The connections of one transport, to all its origins: those in use, and the idle ones that wait to be used again. */
import type { SecureContext } from 'node:tls';
import { AddressPatience } from './address-patience.ts';
import { Connection } from './connection.ts';
import { createLookup, type Resolve } from './lookup.ts';

/** More than this many do not wait for another exchange: the one that was used longest ago is given up. */
const MAX_IDLE = 64;

export class ConnectionPool {
  readonly #lookup: ReturnType<typeof createLookup>;
  readonly #patience = new AddressPatience();
  readonly #open = new Set<Connection>();
  /** The one that was used last is the last. */
  readonly #idle: Connection[] = [];
  #secureContext: SecureContext | undefined;

  constructor(resolve?: Resolve) {
    this.#lookup = createLookup(resolve);
  }

  /** Connections that are being made, in use, or idle. */
  get size(): number {
    return this.#open.size;
  }

  /** The idle connection to an origin that was used last; it is in use from here on. */
  take(origin: string): Connection | undefined {
    const index = this.#idle.findLastIndex((one) => one.origin === origin);
    return index === -1 ? undefined : this.#idle.splice(index, 1)[0];
  }

  create(origin: string): Connection {
    const connection = new Connection(origin, {
      lookup: this.#lookup,
      patience: this.#patience,
      // One for all: to make it anew takes half of the processor time of a TLS connection. node:tls is loaded where
      // TLS is spoken, as undici loads it.
      secureContext: () =>
        (this.#secureContext ??= process.getBuiltinModule('node:tls').createSecureContext()),
      onClosed: (closed) => {
        // One in use fails its exchange, which then gives it up.
        if (this.#idle.includes(closed)) void this.giveUp(closed, new Error('closed while idle'));
      },
    });
    this.#open.add(connection);
    return connection;
  }

  /** Keeps a connection whose exchange is over for the next one. */
  keep(connection: Connection): void {
    if (!this.#open.has(connection)) return;
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
}
