/** What a person reads on a terminal: numbers, text of others, and tables that fit. */
import { stripVTControlCharacters } from 'node:util';
import { CONTROLS, inOneLine } from '../contract/text/controls.ts';
import { plural } from '../daemon/status/page/status-words.js';

export function legible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** For text in a line of ours. */
export function legibleLine(text: string): string {
  return inOneLine(stripVTControlCharacters(text));
}

/** As a terminal shows the line in the end: a progress bar in its last state. */
export function displayed(line: string): string {
  const last = line.split('\r').findLast((part) => part !== '') ?? '';
  return legible(last);
}

/** Three digits, or all before the point: 0.0354, 1.23, 45.6, 19,366. */
export function number(value: number): string {
  if (!Number.isFinite(value)) return value > 0 ? 'never' : '—';
  // 999.6 has four digits too.
  if (Math.abs(value) >= 999.5) return thousands(value);
  return String(Number(value.toPrecision(3)));
}

export function seconds(value: number): string {
  if (!Number.isFinite(value)) return 'never';
  if (value > 0 && value < 0.1) return `${number(value * 1000)} ms`;
  if (value < 120) return `${number(value)} s`;
  if (value < 7200) return `${number(value / 60)} min`;
  return `${number(value / 3600)} h`;
}

export function percent(share: number): string {
  if (share > 0 && share < 0.0001) return '< 0.01%';
  return `${Number((share * 100).toPrecision(3))}%`;
}

/** Prices have no currency: they are in that of the price per hour. */
export function money(value: number): string {
  return value >= 1000 ? thousands(value) : value.toFixed(value < 0.1 && value > 0 ? 4 : 2);
}

function thousands(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 0 });
}

export function clip(text: string, width: number): string {
  if (widthOf(text) <= width) return text;
  // A terminal may say that it has no columns.
  if (width < 1) return '';
  let cut = '';
  let left = width - 1;
  for (const character of charactersOf(text)) {
    left -= cellsOf(character);
    if (left < 0) break;
    cut += character;
  }
  return `${cut}…`;
}

/** The first `left` columns are aligned left, the others right. */
export function aligned(rows: readonly (readonly string[])[], left: number): string[] {
  const widths = widthsOf(rows);
  return rows.map((row) =>
    row
      .map((cell, column) => {
        const space = ' '.repeat((widths[column] ?? 0) - widthOf(cell));
        return column < left ? cell + space : space + cell;
      })
      .join('  ')
      .trimEnd(),
  );
}

function widthsOf(rows: readonly (readonly string[])[]): number[] {
  const widths: number[] = [];
  for (const row of rows)
    for (const [column, cell] of row.entries()) widths[column] = Math.max(widths[column] ?? 0, widthOf(cell));
  return widths;
}

export function widthOf(text: string): number {
  return charactersOf(text).reduce((sum, character) => sum + cellsOf(character), 0);
}

/** Two cells wide: East Asian scripts, full-width forms, emoji (Unicode, UAX #11). */
const WIDE =
  /(?![\uFF61-\uFFDC])[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Bopomofo}\u3000-\u303E\u30FB\u30FC\uFF01-\uFF60\uFFE0-\uFFE6]|\uFE0F/u;

function cellsOf(character: string): number {
  return WIDE.test(character) ? 2 : 1;
}

const SEGMENTER = new Intl.Segmenter();

function charactersOf(text: string): string[] {
  return Array.from(SEGMENTER.segment(text), ({ segment }) => segment);
}

/** Only short content makes a column narrower. */
const LEAST_WIDTH = 12;

/** Cuts the widest column first, then drops the last ones. `left` fields have no column. */
export function table(
  names: readonly string[],
  rows: readonly (readonly string[])[],
  { columns, left: leftOut = 0 }: { readonly columns: number | undefined; readonly left?: number },
): string[] {
  const all = [names.map((name) => name.toUpperCase()), ...rows];
  const { widths, left: cut } = fit(widthsOf(all), columns);
  const left = cut + leftOut;
  const cells = all.map((row) => widths.map((width, column) => clip(row[column] ?? '', width)));
  const rest = left === 0 ? [] : [`(${plural(left, 'more field')}: --json shows all)`];
  return [...aligned(cells, names.length), ...rest];
}

function fit(natural: readonly number[], columns: number | undefined) {
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
