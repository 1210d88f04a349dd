/** Rows of cells → lines that fit the terminal. Pure. */
import { aligned, clip, widthsOf } from '../../text/cell-width.ts';
import { counted } from '../../text/numbers.ts';

/** A column is not cut below this many characters, except by its own content. */
const LEAST_WIDTH = 12;

/**
 * What does not fit is cut with an ellipsis, the widest column first; when that is not enough the last columns go. A
 * line says how many fields are not shown: `left` have no column. Without a width of the terminal there is no limit.
 */
export function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, left: leftOut = 0 }: { readonly columns: number | undefined; readonly left?: number },
): string[] {
  const all = [names.map((name) => name.toUpperCase()), ...rows];
  const { widths, left: cut } = fit(widthsOf(all), columns);
  const left = cut + leftOut;
  const cells = all.map((row) => widths.map((width, column) => clip(row[column] ?? '', width)));
  const rest = left === 0 ? [] : [`(${counted(left, 'more field')}: --json shows all)`];
  return [...aligned(cells, names.length), ...rest];
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
  return widths.reduce((sum, width) => sum + width, 0) + 2 * (widths.length - 1);
}
