/**
 * Reports on their way to another thread: bundled, one bundle under way at a time, bounded. A thread that does
 * not take them costs neither the heartbeats nor memory; what it misses is counted.
 */
import type { Report } from './protocol.ts';

/** How long reports are gathered, ms: one message for what happens together. */
const GATHER_MS = 50;
/** How many wait at most: at 1,000 heartbeats a second, ten seconds of them. */
const CAPACITY = 20_000;

export class Reports {
  readonly #post: (reports: readonly Report[], missed: number) => void;
  #waiting: Report[] = [];
  #missed = 0;
  #timer: NodeJS.Timeout | undefined;
  #underWay = false;

  constructor(post: (reports: readonly Report[], missed: number) => void) {
    this.#post = post;
  }

  /** The oldest half makes room when there is none. */
  add(report: Report): void {
    if (this.#waiting.length >= CAPACITY) {
      this.#waiting = this.#waiting.slice(CAPACITY / 2);
      this.#missed += CAPACITY / 2;
    }
    this.#waiting.push(report);
    if (!this.#underWay) this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** The other side took what it was sent. */
  taken(): void {
    this.#underWay = false;
    if (this.#waiting.length > 0) this.#timer ??= setTimeout(() => this.flush(), GATHER_MS);
  }

  /** Sends what there is now, without waiting for more. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#waiting.length === 0) return;
    this.#underWay = true;
    this.#post(this.#waiting, this.#missed);
    this.#waiting = [];
    this.#missed = 0;
  }
}
