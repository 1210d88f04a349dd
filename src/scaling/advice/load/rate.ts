/**
 * The recorded load as a rate over time. Holes are cut out: what nobody saw is no evidence for anything. Where one was,
 * the load goes in ten minutes from what it was before to what it is after, lest a jump that never was makes a queue.
 */
import type { RecordedStretch } from '../recorded.ts';

/** A time of constant rate. */
export interface Piece {
  /** Since the begin of the load, without holes. */
  readonly atSeconds: number;
  readonly seconds: number;
  /** Units/s. */
  readonly rate: number;
  /** Place of its stretch among those recorded; undefined in a bridge over a hole, which nobody saw. */
  readonly stretch: number | undefined;
}

export interface Hole {
  /** Unix ms. */
  readonly fromMs: number;
  readonly toMs: number;
}

export interface RecordedRate {
  readonly pieces: readonly Piece[];
  /** Without holes, with the bridges over them. */
  readonly seconds: number;
  /** What of that was seen. */
  readonly seenSeconds: number;
  /** Units. */
  readonly work: number;
  readonly holes: readonly Hole[];
}

/** Looks that are missing for no longer leave no hole: it went on as it was. */
const MOST_GAP_MS = 180_000;
const BRIDGE_SECONDS = 600;
const BRIDGE_PIECES = 40;

export function rateOf(stretches: readonly RecordedStretch[]): RecordedRate {
  const pieces: Piece[] = [];
  const holes: Hole[] = [];
  let atSeconds = 0;
  let seenSeconds = 0;
  let work = 0;
  const add = (seconds: number, rate: number, stretch: number | undefined) => {
    pieces.push({ atSeconds, seconds, rate, stretch });
    atSeconds += seconds;
    work += rate * seconds;
    if (stretch !== undefined) seenSeconds += seconds;
  };
  let endMs = 0;
  for (const [index, { fromMs, toMs, ...stretch }] of stretches.entries()) {
    const rate = likelyRate(stretch);
    if (rate === null || toMs <= fromMs) continue;
    const last = pieces.at(-1);
    const gapMs = fromMs - endMs;
    if (last && gapMs > MOST_GAP_MS) {
      holes.push({ fromMs: endMs, toMs: fromMs });
      for (let step = 0; step < BRIDGE_PIECES; step += 1) {
        const share = (step + 0.5) / BRIDGE_PIECES;
        add(BRIDGE_SECONDS / BRIDGE_PIECES, last.rate + (rate - last.rate) * share, undefined);
      }
    } else if (last && gapMs > 0) add(gapMs / 1000, last.rate, last.stretch);
    add((toMs - fromMs) / 1000, rate, index);
    endMs = toMs;
  }
  return { pieces, seconds: atSeconds, seenSeconds, work, holes };
}

/**
 * The average is what is sure, and a minute's or more: it has lost how the load varies within, and a load that is made
 * of it twice more. With this part of the single look there is as much of that again as there was.
 */
const PART_OF_LOOK = 0.4;

function likelyRate({ load, loadAverage }: Pick<RecordedStretch, 'load' | 'loadAverage'>): number | null {
  if (load === null || loadAverage === null) return loadAverage ?? load;
  return loadAverage + PART_OF_LOOK * (load - loadAverage);
}
