/** In which order answers that told too little are taken, once no more is asked for. */
import { EVIDENT_LINES } from '../align.ts';
import type { Insufficient } from '../stream.ts';
import type { TextPoll } from './group-state.ts';
import type { Readings } from './reading.ts';
import { endsIn, reachesAbove } from './unsettled.ts';

type Read = Readings | Insufficient;

/** What to take an answer costs: nothing, certainty, or the lines that it does not reach. */
const [NO_RISK, DOUBT, LOSS] = [0, 1, 2];

export function isCertain(reading: Read): boolean {
  return riskOf(reading) === NO_RISK;
}

/**
 * Whether an answer is more than an older view of what is known, if only perhaps another log. If it is not, it is let go
 * while that can be told: late lines come to stand in what it shows, and all of that slides out of the window.
 */
export function bringsMore(reading: Read): boolean {
  if (reading.kind !== 'read' || reading.taken.length > 0) return true;
  return reading.held.some(([, { held }]) => held?.other !== undefined);
}

/**
 * @param left Oldest first.
 * @param readings What each would bring.
 * @param until Unix milliseconds; what came later and is not clear is kept, since more comes.
 */
export function firstToTake(
  left: readonly TextPoll[],
  readings: readonly Read[],
  until: number,
): TextPoll | undefined {
  const risks = readings.map(riskOf);
  const least = Math.min(...risks);
  if (least > NO_RISK && left.every(({ now }) => now > until)) return undefined;
  const place = risks.indexOf(least);
  const first = left[place];
  if (first === undefined) return undefined;
  // Where all may lose lines, the one that reaches further up loses fewer. And a few lines by which one continues what is
  // known do so by chance, where others that may lose lines reach above it.
  const isByChance = least === NO_RISK && isWeaklyJoined(first, readings[place]);
  const higher = left.find((one, index) => {
    if (one === first || !endsIn(one, first)) return false;
    return least > NO_RISK || (isByChance && risks[index] === LOSS && reachesAbove(one, first));
  });
  return higher ?? first;
}

function riskOf(reading: Read): number {
  if (reading.kind !== 'read' || reading.taken.length === 0) return LOSS;
  const risks = reading.taken.map(([, { gap, isJoined = true }]) => {
    if (gap === undefined) return NO_RISK;
    return gap.reason === 'ambiguous' && isJoined ? DOUBT : LOSS;
  });
  return Math.max(...risks);
}

function isWeaklyJoined({ texts }: TextPoll, reading: Read | undefined): boolean {
  if (reading?.kind !== 'read') return false;
  const seen = texts.reduce((sum, [, { lines }]) => sum + lines.length, 0);
  const taken = reading.taken.reduce((sum, [, { lines }]) => sum + lines.length, 0);
  return seen - taken <= EVIDENT_LINES * texts.length;
}
