/**
 * Connects to one of several addresses. The best one has some time for itself; then the next one starts beside it, and
 * the first to be connected, TLS included, is used. At most two sockets are open at a time, so that open files stay
 * bounded: one that is still not there after two seconds gives way to a third address. (Node's own race gives up an
 * address after a quarter of a second, which is less than a far network takes: node #54359.)
 */
import type { Socket } from 'node:net';
import { LONG_MS, type AddressBook, type Candidate, type Subject } from './address-book.ts';
import { transportReason } from './reason.ts';

export interface RaceOptions {
  readonly book: AddressBook;
  readonly subject: Subject | undefined;
  /** Addresses that other attempts about the same subject use. */
  readonly busy: () => ReadonlySet<string>;
  readonly open: (address: string, settled: Settled) => Socket;
  /** Called once, unless the race is ended before. */
  readonly callback: Settled;
}

export type Settled = (...args: [null, Socket] | [Error, null]) => void;

interface Runner {
  readonly socket: Socket;
  readonly startedAt: number;
}

export class Race {
  readonly #options: RaceOptions;
  /** Connecting; in the end the winner alone. The oldest is the first. */
  readonly #runners = new Map<string, Runner>();
  readonly #tried = new Set<string>();
  #timer: NodeJS.Timeout | undefined;
  #firstError: Error | undefined;
  #isOver = false;

  constructor(options: RaceOptions) {
    this.#options = options;
    this.#startNext();
  }

  /** Those that it connects to, or the one that it has connected to. */
  get addresses(): Iterable<string> {
    return this.#runners.keys();
  }

  /** The caller ends the sockets. */
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

  /** Another one starts beside those that run, or in place of the older of two. */
  #schedule(): void {
    clearTimeout(this.#timer);
    const next = this.#next();
    if (!next) return;
    const isFull = this.#runners.size > 1;
    const waitMs = isFull ? LONG_MS : this.#options.book.patience(next);
    this.#timer = setTimeout(() => {
      if (isFull) this.#giveUpOldest();
      this.#startNext();
    }, waitMs);
  }

  #giveUpOldest(): void {
    const [oldest] = this.#runners;
    if (oldest) this.#giveUp(...oldest);
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

  /** One that started earlier and is not there yet is slow, or dead. One that started later has only lost. */
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

  #finish(...result: Parameters<Settled>): void {
    this.end();
    this.#options.callback(...result);
  }
}
