/** A progress bar on stderr: one line drawn over and over on a terminal, a line every fifth of the way elsewhere. */
import type { Console } from '../console.ts';

const CELLS = 20;
const DRAW_MS = 100;

export interface ProgressScreen {
  readonly isTTY: boolean;
  readonly write: (text: string) => void;
  /** Milliseconds, for what is left. */
  readonly now: () => number;
  /** Width of the terminal: a longer line would go on in the next one, and stay there. */
  readonly columns: () => number;
}

export function progressScreen(around: Pick<Console, 'err' | 'errColumns'>): ProgressScreen {
  return {
    isTTY: around.errColumns !== undefined,
    write: around.err,
    now: () => performance.now(),
    columns: () => around.errColumns ?? 80,
  };
}

export class ProgressBar {
  readonly #screen: ProgressScreen;
  readonly #startedAt: number;
  #drawnAt = -Infinity;
  #fifths = 0;

  constructor(screen: ProgressScreen) {
    this.#screen = screen;
    this.#startedAt = screen.now();
  }

  /** `share` is of the whole, 0 to 1; `done` and `note` are words about it. */
  update(share: number, done: string, note: string): void {
    const now = this.#screen.now();
    const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
    const rest = [done, note].filter(Boolean).join(', ');
    if (!this.#screen.isTTY) {
      if (Math.floor(share * 5) <= this.#fifths) return;
      this.#fifths = Math.floor(share * 5);
      this.#screen.write(`${percent}  ${rest}\n`);
    } else if (now - this.#drawnAt >= DRAW_MS || share === 1) {
      this.#drawnAt = now;
      const full = Math.round(share * CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
      const line = `${bar} ${percent}${this.#left(now, share)}  ${rest}`;
      this.#screen.write(`\r\u001B[K${line.slice(0, Math.max(0, this.#screen.columns() - 1))}`);
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
    if (this.#screen.isTTY) this.#screen.write('\r\u001B[K');
  }
}
