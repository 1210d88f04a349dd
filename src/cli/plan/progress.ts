/** A progress bar on stderr: one line drawn over and over on a terminal, a line every fifth of the way elsewhere. */
const CELLS = 30;
const DRAW_MS = 100;

export interface ProgressScreen {
  readonly isTTY: boolean;
  readonly write: (text: string) => void;
  /** Milliseconds, for what is left. */
  readonly now: () => number;
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

  /** `note` is what there is to say so far. */
  update(done: number, total: number, note: string): void {
    const now = this.#screen.now();
    const share = total === 0 ? 1 : done / total;
    const left = share === 0 ? 0 : ((now - this.#startedAt) * (1 - share)) / share / 1000;
    const text = `${String(Math.floor(share * 100)).padStart(3)}%  ${done} of ${total} sets  ${note}`;
    if (!this.#screen.isTTY) {
      if (Math.floor(share * 5) <= this.#fifths) return;
      this.#fifths = Math.floor(share * 5);
      this.#screen.write(`${text}\n`);
    } else if (now - this.#drawnAt >= DRAW_MS || done === total) {
      this.#drawnAt = now;
      const full = Math.round(share * CELLS);
      const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
      this.#screen.write(`\r\u001B[K${bar} ${text}  ${Math.ceil(left)} s left`);
    }
  }

  /** Takes the bar away. */
  end(): void {
    if (this.#screen.isTTY) this.#screen.write('\r\u001B[K');
  }
}
