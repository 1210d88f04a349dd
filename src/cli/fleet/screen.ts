/** A few lines of a terminal that are drawn again in place. Pure: text in, text with the terminal's commands out. */

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const CLEAR_TO_END_OF_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const CLEAR_ALL = '\u001B[2J\u001B[H';

export interface Size {
  readonly columns: number;
  readonly rows: number;
}

export interface LiveScreen {
  /** What to write so that these lines stand where the last ones stood. */
  frame(lines: readonly string[], size: Size): string;
  /** What to write at the end: the lines stay, and the cursor is below them. */
  end(): string;
}

export function createLiveScreen(): LiveScreen {
  let height = 0;
  let columnsBefore: number | undefined;

  return {
    frame(lines, { columns, rows }) {
      // Lines above the top of the terminal cannot be reached any more.
      const most = Math.max(1, rows - 1);
      const left = lines.length - most + 1;
      const shown =
        lines.length <= most
          ? lines
          : [...lines.slice(0, most - 1), `… ${left} more lines`.slice(0, columns)];
      // A terminal that became narrower has broken the old lines: where they begin is not known.
      const isReflowed = columnsBefore !== undefined && columnsBefore !== columns;
      const start =
        columnsBefore === undefined
          ? HIDE_CURSOR
          : isReflowed
            ? CLEAR_ALL
            : height > 0
              ? `\u001B[${height}A\r`
              : '';
      columnsBefore = columns;
      height = shown.length;
      return start + shown.map((line) => `${line}${CLEAR_TO_END_OF_LINE}\n`).join('') + CLEAR_BELOW;
    },
    end: () => (columnsBefore === undefined ? '' : SHOW_CURSOR),
  };
}
