import type { Socket } from 'node:net';
import { LONG_MS, type AddressBook, type Candidate, type Subject } from './address-book.ts';
import { transportReason } from '../errors.ts';

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
