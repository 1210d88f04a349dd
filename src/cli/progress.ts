/** A progress bar on stderr: redrawn on a terminal, a line every fifth elsewhere. */
import type { Console } from './console.ts';

const CELLS = 20;
const DRAW_MS = 100;

export type ProgressBar = ReturnType<typeof progressBar>;

/** `now`: ms. */
export function progressBar(console: Pick<Console, 'err' | 'errColumns'>, now = () => performance.now()) {
  const startedAt = now();
  let drawnAt = -Infinity;
  let fifths = 0;

  /** Empty until it can be judged. */
  function left(at: number, share: number): string {
    const passed = (at - startedAt) / 1000;
    if (passed < 1 || share === 0) return '';
    return `  about ${Math.ceil((passed * (1 - share)) / share)} s left`;
  }

  return {
    /** `share`: 0 to 1; `done` and `note` are words about it. */
    update(share: number, done: string, note = ''): void {
      const at = now();
      const percent = `${String(Math.floor(share * 100)).padStart(3)}%`;
      const rest = [done, note].filter(Boolean).join(', ');
      const { errColumns: columns } = console;
      if (columns === undefined) {
        if (Math.floor(share * 5) <= fifths) return;
        fifths = Math.floor(share * 5);
        console.err(`${percent}  ${rest}\n`);
      } else if (at - drawnAt >= DRAW_MS || share === 1) {
        drawnAt = at;
        const full = Math.round(share * CELLS);
        const bar = '█'.repeat(full) + '░'.repeat(CELLS - full);
        const line = `${bar} ${percent}${left(at, share)}  ${rest}`;
        // A longer line would wrap, and stay.
        console.err(`\r\u001B[K${line.slice(0, Math.max(0, columns - 1))}`);
      }
    },
    end(): void {
      if (console.errColumns !== undefined) console.err('\r\u001B[K');
    },
  };
}
