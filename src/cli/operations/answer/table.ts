/** Rows of cells → lines that fit the terminal. Pure. */

const GAP = '  ';
/** A column is not cut below this many characters, except by its own content. */
const LEAST_WIDTH = 12;

export interface Frame {
  /** Width of the terminal; undefined: no limit. */
  readonly columns: number | undefined;
  /** Fields that have no column. */
  readonly left?: number;
}

/**
 * What does not fit is cut with an ellipsis, the widest column first; when that is not enough the last columns go. A
 * line says how many fields are not shown.
 */
export function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, left: leftOut = 0 }: Frame,
): string[] {
  const natural = names.map((name, index) =>
    Math.max(widthOf(name), ...rows.map((row) => widthOf(row[index] ?? ''))),
  );
  const { widths, left: cut } = fit(natural, columns);
  const left = cut + leftOut;
  const line = (cells: readonly string[]): string =>
    widths
      .map((width, index) => pad(cells[index] ?? '', width))
      .join(GAP)
      .trimEnd();
  const rest = left === 0 ? [] : [`(${left} more ${left === 1 ? 'field' : 'fields'}: --json shows all)`];
  return [line(names.map((name) => name.toUpperCase())), ...rows.map(line), ...rest];
}

function fit(
  natural: readonly number[],
  columns: number | undefined,
): { readonly widths: readonly number[]; readonly left: number } {
  const widths = [...natural];
  if (columns === undefined) return { widths, left: 0 };
  for (;;) {
    const over = total(widths) - columns;
    if (over <= 0 || widths.length === 1) {
      if (over > 0) widths[0] = columns;
      return { widths, left: natural.length - widths.length };
    }
    const widest = widths.indexOf(Math.max(...widths));
    const width = widths[widest] ?? 0;
    if (width > LEAST_WIDTH) {
      const second = Math.max(LEAST_WIDTH, ...widths.filter((each) => each < width));
      widths[widest] = Math.max(second, width - over);
    } else widths.pop();
  }
}

function total(widths: readonly number[]): number {
  return widths.reduce((sum, width) => sum + width, 0) + GAP.length * (widths.length - 1);
}

function pad(text: string, width: number): string {
  const space = width - widthOf(text);
  if (space >= 0) return text + ' '.repeat(space);
  let cut = '';
  let left = width - 1;
  for (const character of charactersOf(text)) {
    left -= cellsOf(character);
    if (left < 0) return `${cut}…${' '.repeat(left + cellsOf(character))}`;
    cut += character;
  }
  return `${cut}…`;
}

function widthOf(text: string): number {
  return charactersOf(text).reduce((sum, character) => sum + cellsOf(character), 0);
}

/** What terminals show two cells wide: East Asian scripts, full-width forms and emoji (Unicode, UAX #11). Node has no such function. */
const WIDE =
  /(?![\uFF61-\uFFDC])[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\u3000-\u303E\u30FB\u30FC\uFF01-\uFF60\uFFE0-\uFFE6]|\uFE0F/u;

function cellsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

const SEGMENTER = new Intl.Segmenter();

/** As a person counts them. */
function charactersOf(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}
