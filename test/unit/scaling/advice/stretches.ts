/** What was recorded, for tests: an endpoint under an even load, but for what is named. */
import type { RecordedStretch } from '../../../../src/scaling/advice/recorded.ts';

export const LOOK_MS = 15_000;

export function stretch(fromMs: number, over: Partial<RecordedStretch> = {}): RecordedStretch {
  return {
    fromMs,
    toMs: fromMs + LOOK_MS,
    isSample: true,
    load: 100,
    loadAverage: 100,
    hot: 2,
    cold: 1,
    starting: 0,
    ready: 2,
    readyCapacity: 200,
    costPerHour: 0.85,
    ...over,
  };
}

/** One after the other, without a hole. */
export function stretches(
  count: number,
  over: (index: number) => Partial<RecordedStretch> = () => ({}),
): RecordedStretch[] {
  return Array.from({ length: count }, (_, index) => stretch(index * LOOK_MS, over(index)));
}
