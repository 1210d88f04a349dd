/** A load, so many times over. */
import type { Arrival } from './load.ts';
import { createRandom } from './random.ts';

/**
 * Scales a load up or down by a factor above 0. `requests` repeats or leaves out whole requests (a factor of 2.5
 * repeats each one two or three times, at random), which keeps their sizes but makes the repeated ones
 * arrive together; `work` makes each request larger or smaller instead.
 */
export function scaleArrivals(
  factor: number,
  by: 'requests' | 'work',
  seed: number,
): (arrivals: readonly Arrival[]) => readonly Arrival[] {
  if (!(factor > 0 && factor < Infinity)) throw new RangeError('--scale: a number above 0');
  if (factor === 1) return (arrivals) => arrivals;
  if (by === 'work') {
    return (arrivals) => arrivals.map(({ atSeconds, work }) => ({ atSeconds, work: work * factor }));
  }
  const random = createRandom(seed);
  return (arrivals) =>
    arrivals.flatMap((arrival) => {
      const times = Math.floor(factor) + (random() < factor % 1 ? 1 : 0);
      return Array.from({ length: times }, () => arrival);
    });
}
