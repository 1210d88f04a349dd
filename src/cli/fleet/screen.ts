/** A few lines of a terminal that are drawn again in place. Pure: text in, text with the terminal's commands out. */
import { clip } from '../text/cell-width.ts';

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const CLEAR_TO_END_OF_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const CLEAR_ALL = '\u001B[2J\u001B[H';

export function createLiveScreen() {
  let before: { readonly columns: number; readonly height: number } | undefined;

  return {
    /** What to write so that these lines stand where the last ones stood. */
    frame(lines: readonly string[], { columns, rows }: { readonly columns: number; readonly rows: number }) {
      // Lines above the top of the terminal cannot be reached any more.
      const most = Math.max(1, rows - 1);
      const left = lines.length - most + 1;
      const shown = left > 1 ? [...lines.slice(0, most - 1), clip(`… ${left} more lines`, columns)] : lines;
      let start = HIDE_CURSOR;
      // A terminal that became narrower has broken the old lines: where they begin is not known.
      if (before && before.columns !== columns) start = CLEAR_ALL;
      else if (before) start = before.height > 0 ? `\u001B[${before.height}A\r` : '';
      before = { columns, height: shown.length };
      return start + shown.map((line) => `${line}${CLEAR_TO_END_OF_LINE}\n`).join('') + CLEAR_BELOW;
    },
    /** What to write at the end: the lines stay, and the cursor is below them. */
    end: () => (before ? SHOW_CURSOR : ''),
  };
}
