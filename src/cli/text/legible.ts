/** What a person reads on a terminal: numbers, and text of others. */
import { stripVTControlCharacters } from 'node:util';
import { CONTROLS, inOneLine } from '../../contract/text/controls.ts';

export function legible(text: string): string {
  return stripVTControlCharacters(text).replaceAll(CONTROLS, '');
}

/** For text in a line of ours. */
export function legibleLine(text: string): string {
  return inOneLine(stripVTControlCharacters(text));
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

/** `1 error`, `3 errors` */
export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`;
}

/** Prices have no currency: they are in that of the price per hour. */
export function money(value: number): string {
  return value >= 1000 ? thousands(value) : value.toFixed(value < 0.1 && value > 0 ? 4 : 2);
}

function thousands(value: number): string {
  return value.toLocaleString('en', { maximumFractionDigits: 0 });
}
