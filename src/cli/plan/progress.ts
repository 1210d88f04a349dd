/** A progress bar on stderr: one line drawn over and over on a terminal, a line every fifth of the way elsewhere. */
import type { Console } from '../console.ts';

const CELLS = 20;
const DRAW_MS = 100;

/** `now`: milliseconds, for what is left. */
export class ProgressBar {
  readonly #console: Pick<Console, 'err' | 'errColumns'>;
  readonly #now: () => number;
  readonly #startedAt: number;
  #drawnAt = -Infinity;
  #fifths = 0;

  constructor(console: Pick<Console, 'err' | 'errColumns'>, now = () => performance.now()) {
    this.#console = console;
    this.#now = now;
    this.#startedAt = now();
  }

  /** `share` is of the whole, 0 to 1; `done` and `note` are words about it. */
  update(share: number, done: string, note: string): void {
    const now = this.#now();
    const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
    const rest = [done, note].filter(Boolean).join(', ');
    const { err, errColumns: columns } = this.#console;
    if (columns === undefined) {
      if (Math.floor(share * 5) <= this.#fifths) return;
      this.#fifths = Math.floor(share * 5);
      err(`${percent}  ${rest}\n`);
    } else if (now - this.#drawnAt >= DRAW_MS || share === 1) {
      this.#drawnAt = now;
      const full = Math.round(share * CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
      const line = `${bar} ${percent}${this.#left(now, share)}  ${rest}`;
      // A longer line would go on in the next one, and stay there.
      err(`\r\u001B[K${line.slice(0, Math.max(0, columns - 1))}`);
    }
  }

  /** Nothing until there is enough to judge by. */
  #left(now: number, share: number): string {
    const passed = (now - this.#startedAt) / 1000;
    if (passed < 1 || share === 0) return '';
    return `  about ${Math.ceil((passed * (1 - share)) / share)} s left`;
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#console.errColumns !== undefined) this.#console.err('\r\u001B[K');
  }
}
