/**
 * Workers that differ as those differ that were measured. A group keeps the quick ones hot, and few of them carry what the
 * parameters ask for where as many of the mean would not: so workers that are all alike are off, and others that are drawn
 * by chance are off by chance.
 */
import type { Performance } from '../../planner/settings.ts';

/** Strides of it fill a circle evenly, however many there are. */
const GOLDEN = (Math.sqrt(5) - 1) / 2;
/** Quicker ones stay hot, so the mean of those that are hot is found by trying. */
const ROUNDS = 2;

/**
 * @param performances What single workers were measured to do, units/s
 * @param performance Its mean is that of the capacity that was there
 * @param hotMean What a hot worker then does in the mean, where workers are so
 */
export function workersLike(
  performances: readonly number[],
  performance: Performance,
  hotMean: (performance: Performance) => number | undefined,
): Performance {
  const alike = workersAlike(performance);
  if (performance.least === performance.most || performances.length === 0) return alike;
  const each = mixed(performances);
  let scale = 1;
  for (let round = 0; round < ROUNDS; round += 1) {
    const found = hotMean(scaled(each, scale));
    if (found === undefined) return alike;
    scale *= alike.least / found;
  }
  return scaled(each, scale);
}

/** All with the mean. */
function workersAlike({ least, most }: Performance): Performance {
  const mean = (least + most) / 2;
  return { least: mean, most: mean };
}

function scaled(values: readonly number[], factor: number): Performance {
  const each = values.map((value) => value * factor);
  return { least: Math.min(...each), most: Math.max(...each), each };
}

/** In an order of which any piece is much like the whole. */
function mixed(values: readonly number[]): number[] {
  const sorted = values.toSorted((one, other) => one - other);
  const places = sorted.map((_, index) => (0.5 + index * GOLDEN) % 1);
  const order = places.toSorted((one, other) => one - other);
  return places.map((place) => sorted[order.indexOf(place)] as number);
}
