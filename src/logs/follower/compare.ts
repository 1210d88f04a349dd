/**
 * How a view relates to the known lines, weighed in bits. Lines that both have in the same order are evidence for the same
 * log: the rarer they are, the more. Late lines, missing lines and lines gone from the end are evidence against it.
 */
import { overlaps, partnersOf, type Partners } from './diff.ts';
import { numbered, type Numbered } from './numbered.ts';

export interface Comparison {
  readonly partners: Partners;
  /** Places of the view's new lines, ascending. */
  readonly fresh: readonly number[];
  /** How many of them have known lines behind them. */
  readonly late: number;
  /** Places of known lines that the view lacks although it reaches as far up. */
  readonly lacking: readonly number[];
  /** How many of them stand behind the last line that both have. */
  readonly gone: number;
  /** The view's lines above this one are older than the known lines. */
  readonly from: number;
  /** Known lines above the first line that both have. */
  readonly older: number;
  /** The most lines that may be new although they count as known. */
  readonly doubt: number;
  /** For the same log; negative against it. */
  readonly bits: number;
}

interface Extent {
  /** More lines may stand above the view. */
  readonly isFull: boolean;
  /** The known lines begin where the log begins. */
  readonly isWhole: boolean;
  /** Answers had more before: the service hardly gives fewer lines than are there. */
  readonly isSmall?: boolean;
}

/** From so many bits on, both are surely one log. */
export const SURE_BITS = 16;
/** Up to so many, they are two: a log that breaks is rare. */
export const BROKEN_BITS = -8;

const LATE_BITS = 4;
const MISSING_BITS = 4;
/** A view that is only older is a common fault, however many lines are gone. */
const STALE_BITS = 8;
/** A service that gives fewer lines than were asked for, without the oldest; and a service that never did. */
const [CAPPED_BITS, SMALL_BITS] = [24, 64];
/** So many known lines above a view that is not full show that the service caps its answers. */
export const CAPPED_LINES = CAPPED_BITS / MISSING_BITS;
/** A log that begins again repeats more of the one before than chance would. */
const RAREST_BITS = 8;
/** The next line of a short log could be any of so many. */
const LEAST_VOCABULARY = 255;
const SAMPLE = 4_000;
/** Lines by which a late line, or a backend that lags, moves a view. */
const SLACK = 500;

export function compare(known: Float64Array, seen: Float64Array, extent: Extent): Comparison {
  const lines = numbered(known, seen);
  const scale = new Scale(lines, extent);
  const bothFromTop = extent.isWhole && !extent.isFull;
  if (bothFromTop && known.every((hash, index) => index >= seen.length || seen[index] === hash)) {
    // One log is the beginning of the other.
    const both = Math.min(known.length, seen.length);
    const found = scale.weigh(inARow(seen.length, both, 0));
    return { ...found, older: 0, gone: known.length - both, bits: Infinity };
  }
  // Nothing stands above the first line of a log.
  const candidates = overlaps(below(lines, known.length - seen.length - 1)).filter(
    (count) => !extent.isWhole || count <= known.length,
  );
  const largest = candidates.at(-1) ?? 0;
  const exact = scale.weigh(inARow(seen.length, largest, known.length - largest));
  const doubt = exact.bits < SURE_BITS ? 0 : largest - smallestSure(candidates, lines.known, scale);
  const plain = { ...exact, doubt };
  if (plain.bits >= SURE_BITS && doubt === 0) return plain;
  // The end first: equal lines far above it are chance.
  const near = bothFromTop ? 0 : Math.max(0, known.length - seen.length - SLACK);
  const atEnd = scale.weigh(moved(partnersOf(below(lines, near), bothFromTop), near));
  const isPoor = atEnd.gone > 0 || Math.max(atEnd.bits, plain.bits) < SURE_BITS;
  const anywhere = near > 0 && isPoor ? [scale.weigh(partnersOf(lines, bothFromTop))] : [];
  return [atEnd, ...anywhere].reduce((best, one) => (one.bits > best.bits ? one : best), plain);
}

/** Without the known lines above a place. */
function below(lines: Numbered, place: number): Numbered {
  return { ...lines, known: lines.known.subarray(Math.max(0, place)) };
}

/** The known lines after a view: its lines in its order, with those that it lacks where they stood. */
export function merged(known: Float64Array, seen: Float64Array, comparison: Comparison): Float64Array {
  const { partners, lacking, from, older } = comparison;
  const end = partners.findLastIndex((place) => place >= 0);
  const rest: number[] = [];
  let next = 0;
  const insertLacking = (before: number) => {
    for (; (lacking[next] ?? Infinity) < before; next++) rest.push(known[lacking[next] ?? 0] ?? 0);
  };
  for (let index = from; index < seen.length; index++) {
    const place = partners[index] ?? -1;
    if (index === end + 1) insertLacking(known.length);
    else if (place >= 0) insertLacking(place);
    rest.push(seen[index] ?? 0);
  }
  insertLacking(known.length);
  const all = new Float64Array(older + rest.length);
  all.set(known.subarray(0, older));
  all.set(rest, older);
  return all;
}

/** The first lines of the view are the known ones from a place on; a place below 0 is above them. */
function inARow(length: number, lines: number, place: number): Partners {
  return new Int32Array(length).map((_, index) => (index < lines ? Math.max(-1, place + index) : -1));
}

function moved(partners: Partners, by: number): Partners {
  return partners.map((place) => (place < 0 ? place : place + by));
}

/** The smallest overlap that is evidence enough by itself. */
function smallestSure(candidates: readonly number[], known: Int32Array, scale: Scale): number {
  const distinct = new Set<number>();
  let [bits, count] = [0, 0];
  while (bits < SURE_BITS && count < known.length) {
    const line = known[known.length - ++count] ?? 0;
    if (!distinct.has(line)) bits += scale.rarity(line);
    distinct.add(line);
  }
  return candidates.find((lines) => lines >= count) ?? 0;
}

/** Weighs one way to pair a view with the known lines. */
class Scale {
  readonly #lines: Numbered;
  readonly #extent: Extent;
  /** How often each line is among those that tell how rare a line is, and how many these are. */
  readonly #counts: Int32Array;
  readonly #vocabulary: number;

  constructor(lines: Numbered, extent: Extent) {
    this.#lines = lines;
    this.#extent = extent;
    this.#counts = new Int32Array(lines.count);
    const sample = lines.known.subarray(-SAMPLE);
    for (const line of sample) this.#counts[line] = (this.#counts[line] ?? 0) + 1;
    this.#vocabulary = Math.max(sample.length, LEAST_VOCABULARY) + 1;
  }

  /** Bits that a known line adds by standing where it is expected. */
  rarity(line: number): number {
    return Math.min(RAREST_BITS, Math.log2(this.#vocabulary / (this.#counts[line] || 1)));
  }

  weigh(partners: Partners): Comparison {
    const { known, seen } = this.#lines;
    const top = partners.findIndex((place) => place >= 0);
    const end = partners.findLastIndex((place) => place >= 0);
    const [first = known.length, last = known.length - 1] = top < 0 ? [] : [partners[top], partners[end]];
    // Text above the first known line is older; above a later one it came late.
    const from = first > 0 || this.#extent.isWhole ? 0 : Math.max(0, top);
    const unpaired = this.#unpaired(partners, first);
    const fresh: number[] = [];
    for (let index = from; index < seen.length; index++) {
      // A line that is missing elsewhere only moved.
      const isNew = (partners[index] ?? -1) < 0 && unpaired.get(seen[index] ?? 0)?.pop() === undefined;
      if (isNew) fresh.push(index);
    }
    const lacking = [...unpaired.values()].flat().sort((one, other) => one - other);
    const gone = lacking.filter((place) => place >= last).length;
    const late = fresh.filter((index) => index < end).length;
    const found = { partners, fresh, late, lacking, gone, from, older: first, doubt: 0 };
    return { ...found, bits: top < 0 ? -Infinity : this.#bits(found) };
  }

  #bits({ partners, fresh, late, lacking, gone, older }: Omit<Comparison, 'bits'>): number {
    const missing = lacking.length - gone;
    // A log that goes on has all that was known.
    const goneBits = fresh.length > late ? RAREST_BITS * gone : Math.min(STALE_BITS, MISSING_BITS * gone);
    const { isFull, isSmall = false } = this.#extent;
    const aboveBits = isFull ? 0 : Math.min(isSmall ? SMALL_BITS : CAPPED_BITS, MISSING_BITS * older);
    return this.#evidence(partners) - LATE_BITS * late - MISSING_BITS * missing - goneBits - aboveBits;
  }

  /** Known lines without a partner from a place on, by their number. */
  #unpaired(partners: Partners, first: number): Map<number, number[]> {
    const { known } = this.#lines;
    const paired = new Uint8Array(known.length);
    for (const place of partners) if (place >= 0) paired[place] = 1;
    const places: number[] = [];
    for (let place = first; place < paired.length; place++) if (paired[place] === 0) places.push(place);
    return Map.groupBy(places, (place) => known[place] ?? 0);
  }

  /** Of the distinct lines that have a partner. */
  #evidence(partners: Partners): number {
    const { seen, count } = this.#lines;
    const counted = new Uint8Array(count);
    let bits = 0;
    for (let index = 0; index < partners.length; index++) {
      const line = seen[index] ?? 0;
      if ((partners[index] ?? -1) < 0 || counted[line] === 1) continue;
      counted[line] = 1;
      bits += this.rarity(line);
    }
    return bits;
  }
}
