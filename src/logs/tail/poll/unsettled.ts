/** Answers that told too little by themselves, beside one that came later. */
import { EVIDENT_LINES } from '../align.ts';
import { hashed } from '../line-hash.ts';
import { compare } from '../view/comparison.ts';
import { endWithin } from '../view/stale.ts';
import type { TextPoll } from './group-state.ts';

/** Whether a poll brought what another one did, whose first lines may be cut. */
export function hasAll({ texts }: TextPoll, other: TextPoll): boolean {
  const later = new Map(texts);
  return other.texts.every(([level, { lines }]) => {
    const text = later.get(level);
    const [, second] = lines;
    // Asked first, since a block is a copy of all of the text.
    if (text === undefined || (second !== undefined && !text.lines.includes(second))) return false;
    return asBlock(text.lines).includes(asBlock(lines.slice(1))) || hasAmongLate(text.lines, lines);
  });
}

/** Late lines have come to stand between the others since. */
function hasAmongLate(later: readonly string[], lines: readonly string[]): boolean {
  const found = compare(wholeLines(later), wholeLines(lines), false);
  return found !== undefined && found.anchors >= EVIDENT_LINES && found.partners.every((place) => place >= 0);
}

/** Whether a poll brought the end of another one, and more behind it. First lines may be cut. */
export function endsIn({ texts }: TextPoll, newer: TextPoll): boolean {
  const later = new Map(newer.texts);
  return texts.every(
    ([level, { lines }]) => endWithin(wholeLines(later.get(level)?.lines), wholeLines(lines)) !== undefined,
  );
}

/** Whether a poll brought what another one begins with, and more in front of it. First lines may be cut. */
export function reachesAbove({ texts }: TextPoll, lower: TextPoll): boolean {
  const others = new Map(lower.texts);
  return texts.some(([level, { lines }]) => {
    const whole = wholeLines(lines);
    return (endWithin(wholeLines(others.get(level)?.lines), whole) ?? Infinity) < whole.length;
  });
}

/** All but the first. */
function wholeLines(lines: readonly string[] = []): Float64Array {
  return hashed(lines.slice(1)).hashes;
}

function asBlock(lines: readonly string[]): string {
  return `\n${lines.map((line) => `${line}\n`).join('')}`;
}

/** A poll whose first lines, where others had lines in front of them, are known not to be cut. */
export function withWholeTop(poll: TextPoll, others: readonly TextPoll[]): TextPoll {
  const texts = poll.texts.map(([level, text]) => {
    const [first, second] = text.lines;
    const isTopWhole = others.some(({ texts: known }) => {
      const { lines = [], isTopWhole: isWhole = false } = new Map(known).get(level) ?? {};
      return lines.some(
        (line, index) => (isWhole || index > 0) && line === first && lines[index + 1] === second,
      );
    });
    return [level, isTopWhole ? { ...text, isTopWhole } : text] as const;
  });
  return { ...poll, texts };
}
