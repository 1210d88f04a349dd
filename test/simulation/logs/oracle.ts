/**
 * Knows what was written, and compares it with what was delivered: the cheapest way to explain the records, in which a
 * line may be missing for free only where a gap record stands.
 */
import type { LogRecord } from '../../../src/logs/record.ts';

export interface Truth {
  readonly text: string;
  /** It was being written when its log ended, or no answer could show it: any beginning of it may be delivered, or nothing. */
  readonly isUnended?: boolean | undefined;
  /** It stood in no answer. In front of all that did, nothing says that it is missing. */
  readonly isUnseen?: boolean | undefined;
}

export interface Findings {
  /** Lines that are missing, and no gap record stands where they were. */
  readonly silent: readonly string[];
  /** Lines that were delivered more often than they were written. */
  readonly twice: readonly string[];
  /** Lines that were never written so. */
  readonly torn: readonly string[];
  /** Lines delivered out of their order. */
  readonly moved: number;
  /** Lines missing, gap or not. */
  readonly lost: number;
}

interface Delivered {
  readonly text: string | undefined;
  /** The first line after an overrun, which may be cut. */
  readonly isTop: boolean;
  /** The last line before a gap: its log may have ended before it was written to its end. */
  readonly isLast: boolean;
}

export function examine(records: readonly LogRecord[], truth: readonly Truth[]): Findings {
  const all = entriesOf(records);
  // What is as it should be needs no search, however long it is.
  let top = 0;
  while (top < all.length && top < truth.length && all[top]?.text === truth[top]?.text) top += 1;
  let [end, last] = [all.length, truth.length];
  while (end > top && last > top && all[end - 1]?.text === truth[last - 1]?.text)
    [end, last] = [end - 1, last - 1];
  const [delivered, rest] = [all.slice(top, end), truth.slice(top, last)];
  const { unmatchedTruth, unmatchedDelivered, free } = align(delivered, rest, top === 0);
  const extra = new Map<string, number>();
  for (const text of unmatchedDelivered) extra.set(text, (extra.get(text) ?? 0) + 1);
  let moved = 0;
  const silent: string[] = [];
  for (const line of unmatchedTruth) {
    const count = extra.get(line.text) ?? 0;
    if (count > 0) {
      extra.set(line.text, count - 1);
      moved += 1;
    } else if (line.isUnended !== true) silent.push(line.text);
  }
  // A late line may come behind the gap that counts its log's last lines.
  const beyond = free.filter((text) => {
    const count = extra.get(text) ?? 0;
    extra.set(text, count - 1);
    return count > 0;
  }).length;
  const written = new Set(truth.map(({ text }) => text));
  const left = [...extra].flatMap(([text, count]) => Array.from({ length: Math.max(0, count) }, () => text));
  return {
    silent,
    twice: left.filter(
      (text) => written.has(text) && !all.some((entry, index) => isInBoth(text, entry, all[index + 2])),
    ),
    // What was seen of a line when its file ended; all of it may be the first line of the next one.
    torn: left.filter(
      (text) =>
        !written.has(text) &&
        !all.some(
          (entry) => entry.isLast && entry.text === text && truth.some((line) => line.text.startsWith(text)),
        ),
    ),
    moved: moved + beyond,
    lost: silent.length + free.length - beyond,
  };
}

/** A line that was seen without its end in a file, and begins the next one: nobody knows that it is the same. */
function isInBoth(text: string, last: Delivered, first: Delivered | undefined): boolean {
  return last.isLast && last.text === text && first?.text === text;
}

/** The lines, with those that were delivered in parts put together; a gap has no text. */
function entriesOf(records: readonly LogRecord[]): readonly Delivered[] {
  const entries: Delivered[] = [];
  let isTop = true;
  for (const record of records) {
    if ('gap' in record) {
      const last = entries.pop();
      if (last !== undefined) entries.push({ ...last, isLast: true });
      entries.push({ text: undefined, isTop: false, isLast: false });
      isTop = record.gap.reason === 'overrun';
      continue;
    }
    const before = entries.at(-1);
    if (record.continues === true && before?.text !== undefined)
      entries[entries.length - 1] = { ...before, text: before.text + record.line };
    else entries.push({ text: record.line, isTop, isLast: false });
    isTop = false;
  }
  return entries;
}

function isSame(delivered: Delivered, line: Truth): boolean {
  const { text = '', isTop, isLast } = delivered;
  if (line.text === text) return true;
  const isBeginning = (line.isUnended === true || isLast) && line.text.startsWith(text);
  return isBeginning || (isTop && line.text.endsWith(text));
}

/** What a screen shows of a line that was redrawn. */
export function shown(line: string): string {
  return line.slice(line.lastIndexOf('\r') + 1);
}

/** @param isTop Nothing was delivered before. */
function align(delivered: readonly Delivered[], truth: readonly Truth[], isTop: boolean) {
  const width = delivered.length + 1;
  const costs = new Uint16Array((truth.length + 1) * width);
  const at = (row: number, column: number) => row * width + column;
  const skipTruth = (column: number, line: Truth) =>
    (column === 0 ? isTop && line.isUnseen : delivered[column - 1]?.text === undefined) || line.isUnended
      ? 0
      : 1;
  for (let row = 0; row <= truth.length; row++)
    for (let column = 0; column < width; column++) {
      if (row === 0 && column === 0) continue;
      let least = 65_535;
      const [line, entry] = [truth[row - 1], delivered[column - 1]];
      if (line !== undefined) least = (costs[at(row - 1, column)] ?? 0) + skipTruth(column, line);
      if (entry !== undefined)
        least = Math.min(least, (costs[at(row, column - 1)] ?? 0) + (entry.text === undefined ? 0 : 1));
      if (line !== undefined && entry?.text !== undefined && isSame(entry, line))
        least = Math.min(least, costs[at(row - 1, column - 1)] ?? 0);
      costs[at(row, column)] = least;
    }
  const unmatchedTruth: Truth[] = [];
  const unmatchedDelivered: string[] = [];
  /** Lines missing where a gap stands. */
  const free: string[] = [];
  for (let [row, column] = [truth.length, delivered.length]; row > 0 || column > 0;) {
    const [line, entry] = [truth[row - 1], delivered[column - 1]];
    const cost = costs[at(row, column)] ?? 0;
    if (line && entry?.text !== undefined && isSame(entry, line) && cost === costs[at(row - 1, column - 1)]) {
      row -= 1;
      column -= 1;
    } else if (line && cost === (costs[at(row - 1, column)] ?? 0) + skipTruth(column, line)) {
      if (skipTruth(column, line) === 1) unmatchedTruth.push(line);
      else if (line.isUnended !== true) free.push(line.text);
      row -= 1;
    } else {
      if (entry?.text !== undefined) unmatchedDelivered.push(entry.text);
      column -= 1;
    }
  }
  return { unmatchedTruth: unmatchedTruth.reverse(), unmatchedDelivered: unmatchedDelivered.reverse(), free };
}
