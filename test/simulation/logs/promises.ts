/** What must hold of every schedule, whatever the service did wrong. */
import type { Gap, LogRecord } from '../../../src/logs/record.ts';
import type { Outcome } from './world.ts';

export function brokenPromises(outcome: Outcome): readonly string[] {
  const { records, written, shown, unended, schedule, epochs, unseen, isAlike } = outcome;
  const broken: string[] = [];
  const gaps = records.flatMap((record) => ('gap' in record ? [record.gap] : []));
  const delivered = wholeLines(records);
  const truth = counts(written.map(({ text }) => text));
  const seen = counts([...shown].map(({ text }) => text));
  const taken = counts(delivered);
  // What was seen of a line when its log ended is delivered: nobody saw how it went on.
  const lastWords = [
    ...unended.map(({ text }) => text),
    ...written.filter((line) => !shown.has(line)).map(({ text }) => text),
  ];
  const isAmbiguous = gaps.some(({ reason }) => reason === 'ambiguous');

  for (const [text, count] of taken) {
    const most = truth.get(text) ?? 0;
    if (count <= most) continue;
    // Of a log that is first seen in a full tail, the first line may be cut: it is delivered as it came.
    if (text === delivered[0] && written.some((line) => line.text.endsWith(text))) continue;
    const parting = lastWords.filter((partial) => partial !== text && partial.startsWith(text)).length;
    const whole = unended.filter((partial) => partial.text === text).length;
    if (count <= most + parting + whole) continue;
    if (most > 1 && isAmbiguous) continue;
    broken.push(`${most === 0 ? 'never written' : `${count} times, written ${most}`}: ${text}`);
  }
  for (const [text, count] of seen) {
    if ((taken.get(text) ?? 0) >= count || ((truth.get(text) ?? 0) > 1 && (isAmbiguous || isAlike))) continue;
    broken.push(`missing, shown ${count}, delivered ${taken.get(text) ?? 0}: ${text}`);
  }
  const lost = [...truth].reduce(
    (total, [text, count]) => total + Math.max(0, count - (taken.get(text) ?? 0)),
    0,
  );
  const least = sum(gaps, ({ lost_min }) => lost_min);
  if (least > lost) broken.push(`lost_min ${least}, and ${lost} are lost`);
  const resets = gaps.filter(({ reason }) => reason === 'reset').length;
  // Of the end of a log of which nobody saw more, nobody knows whether it began anew, or more came than was read.
  if (resets > epochs - 1 || (resets < epochs - 1 - unseen && !isAlike))
    broken.push(`${resets} resets, and the log began anew ${epochs - 1} times`);
  const overruns = gaps.filter(({ reason }) => reason === 'overrun').length;
  if (!schedule.faults.includes('byte-limited') && overruns > unseen)
    broken.push('an overrun, and nothing ran over');
  if (!schedule.faults.includes('merged') && !isAmbiguous) {
    // Of two answers of which neither reaches the other, nobody knows which one lagged.
    const pieces = schedule.faults.includes('stale') ? piecesOf(records) : [records];
    for (const piece of pieces) broken.push(...disorder(wholeLines(piece), outcome));
  }
  records.forEach(({ seq, time }, index) => {
    if (seq !== index + 1) broken.push(`record ${index + 1} has the number ${seq}`);
    if (time <= (records[index - 1]?.time ?? ''))
      broken.push(`record ${seq} is no later than the one before it`);
  });
  return broken;
}

/** The lines, those that were delivered in parts put together. */
function wholeLines(records: readonly LogRecord[]): readonly string[] {
  const lines: string[] = [];
  for (const record of records) {
    if (!('line' in record)) continue;
    if (record.continues === true) lines.push((lines.pop() ?? '') + record.line);
    else lines.push(record.line);
  }
  return lines;
}

/** The records between overruns. */
function piecesOf(records: readonly LogRecord[]): readonly (readonly LogRecord[])[] {
  const pieces: LogRecord[][] = [[]];
  for (const record of records) {
    if ('gap' in record && record.gap.reason === 'overrun') pieces.push([]);
    pieces.at(-1)?.push(record);
  }
  return pieces;
}

function counts(texts: readonly string[]): Map<string, number> {
  const found = new Map<string, number>();
  for (const text of texts) found.set(text, (found.get(text) ?? 0) + 1);
  return found;
}

function disorder(delivered: readonly string[], { written, shown, unended }: Outcome): readonly string[] {
  const truth: { readonly text: string; readonly isWhole: boolean }[] = written.map((line) => ({
    text: line.text,
    isWhole: shown.has(line),
  }));
  for (const { text, at } of unended.toReversed()) truth.splice(at, 0, { text, isWhole: false });
  let next = 0;
  for (const line of delivered) {
    const isFirst = next === 0;
    const found = truth
      .slice(next)
      .findIndex(
        ({ text, isWhole }) =>
          text === line || (!isWhole && text.startsWith(line)) || (isFirst && text.endsWith(line)),
      );
    if (found < 0) return [`out of order: ${line}`];
    next += found + 1;
  }
  return [];
}

function sum(gaps: readonly Gap[], of: (gap: Gap) => number): number {
  return gaps.reduce((total, gap) => total + of(gap), 0);
}
