/**
 * Reports on their way to another thread: bundled, one bundle under way at a time, bounded. A thread that does
 * not take them, or that is not there, costs neither the heartbeats nor memory; what it misses is counted.
 */
import type { Report } from './protocol.ts';

/** How long reports are gathered, ms: one message for what happens together. */
const GATHER_MS = 50;
/** How many wait at most: at 1,000 heartbeats a second, ten seconds of them. */
const CAPACITY = 20_000;

export type PostReports = (reports: readonly Report[], missed: number) => void;

export class Reports {
  #post: PostReports | undefined;
  #waiting: Report[] = [];
  #missed = 0;
  #timer: NodeJS.Timeout | undefined;
  #underWay = false;

  /** From now on reports go there. What was under way to another is lost. */
  sendTo(post: PostReports): void {
    this.#post = post;
    this.taken();
  }

  /** The oldest half makes room when there is none. */
  add(report: Report): void {
    if (this.#waiting.length >= CAPACITY) {
      this.#waiting = this.#waiting.slice(CAPACITY / 2);
      this.#missed += CAPACITY / 2;
    }
    this.#waiting.push(report);
    this.#gather();
  }

  /** The other side took what it was sent. */
  taken(): void {
    this.#underWay = false;
    if (this.#waiting.length > 0) this.#gather();
  }

  /** Sends no more. */
  close(): void {
    clearTimeout(this.#timer);
    this.#post = undefined;
  }

  #gather(): void {
    if (this.#post === undefined || this.#underWay) return;
    this.#timer ??= setTimeout(() => this.#flush(), GATHER_MS);
  }

  #flush(): void {
    this.#timer = undefined;
    this.#underWay = true;
    this.#post?.(this.#waiting, this.#missed);
    this.#waiting = [];
    this.#missed = 0;
  }
}
