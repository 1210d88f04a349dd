/**
 * Requests that make up a recorded load: in each of its pieces as much work as was seen, arriving as random as the looks
 * themselves are. The same seed makes the same requests.
 */
import { RecordedLoad } from '../../planner/load/load.ts';
import { createRandom, exponential, type Random } from '../../planner/load/random.ts';
import type { RecordedRate } from './rate.ts';
import type { RequestSize } from './request-size.ts';

/** Below it, arrivals are evenly spaced within a piece. */
const EVEN = 0.5;

/** @param load An empty one, which they are added to. */
export function arrivalsOf(
  { pieces }: RecordedRate,
  size: RequestSize,
  seed: number,
  load = new RecordedLoad(),
): RecordedLoad {
  const random = createRandom(seed);
  const { mean, dispersion } = size;
  // Several at once where chance alone would not make the load vary as much as it did.
  const together = Math.max(1, dispersion / 2);
  /** Work that is due and has not arrived; what a piece has no room for arrives in the next one. */
  let due = 0;
  let next = drawn(random, size);
  for (const { atSeconds, seconds, rate } of pieces) {
    due += rate * seconds;
    const works: number[] = [];
    // Half of a request due is as good as one: then as much arrives too early as too late.
    for (; due >= next / 2; next = drawn(random, size)) {
      works.push(next);
      due -= next;
    }
    const times = timesOf(works.length, { random, seconds, together, isEven: dispersion < EVEN });
    for (const [index, work] of works.entries()) {
      load.add({ atSeconds: atSeconds + (times[index] as number), work: Math.max(work, mean * 1e-6) });
    }
  }
  return load;
}

/** Alike, exponentially distributed, or between the two: part of it alike and the rest by chance. */
function drawn(random: Random, { mean, dispersion }: RequestSize): number {
  const part = Math.sqrt(Math.min(1, Math.max(0, dispersion - 1)));
  return part === 0 ? mean : mean * (1 - part) + exponential(random, mean * part);
}

interface Spacing {
  readonly random: Random;
  readonly seconds: number;
  /** So many arrive at one moment, in the mean. */
  readonly together: number;
  readonly isEven: boolean;
}

/** Rising, within a piece. */
function timesOf(count: number, { random, seconds, together, isEven }: Spacing): Float64Array {
  const times = new Float64Array(count);
  for (const index of times.keys()) {
    if (isEven) times[index] = ((index + 0.5) / count) * seconds;
    else if (index > 0 && random() >= 1 / together) times[index] = times[index - 1] as number;
    else times[index] = random() * seconds;
  }
  return times.sort();
}
