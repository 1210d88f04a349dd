/**
 * Stretches that stand for a long load: those where it rises most, which decide how long requests wait, and of the rest
 * every so many, each for those beside it. Sets are compared on these first, and only the best on all of it.
 */
import type { RecordedLoad } from '../load/load.ts';
import type { PlanSettings } from '../settings.ts';
import { CostFloor, type LoadCourse } from './cost-floor.ts';

export interface Stretch {
  /** Seconds of the load: where requests begin to come, and from where on they count. */
  readonly warmFrom: number;
  readonly from: number;
  readonly to: number;
  /** For so many stretches it stands. */
  readonly weight: number;
  /** What the group goes by where it begins, units/s; undefined at the start of the load, where it has seen nothing. */
  readonly began: { readonly hotLoad: number; readonly totalLoad: number } | undefined;
}

export interface Sample {
  readonly stretches: readonly Stretch[];
  /** That they stand for, about those of the load. */
  readonly requests: number;
}

/** Requests that a sample has, about; a load of twice as many is planned for as it is. */
export const SAMPLE_REQUESTS = 500_000;
const STRETCH_SECONDS = 600;
/** Of the stretches of a sample, those that are there because they are hard. */
const HARDEST_SHARE = 0.5;

export interface SampleWithFloors extends Sample {
  /** By stretch. */
  readonly floors: readonly CostFloor[];
}

/** Undefined where the load is short enough to be taken as it is. */
export function sampleOf(
  settings: PlanSettings,
  load: RecordedLoad,
  course: LoadCourse,
  mostRequests = SAMPLE_REQUESTS,
): SampleWithFloors | undefined {
  const { controlSeconds, loadWindowSeconds, coldStartSeconds, startSeconds } = settings;
  const share = mostRequests / load.length;
  const length = Math.max(1, Math.round(STRETCH_SECONDS / controlSeconds));
  // A window of the load's estimate, and what has begun to start meanwhile.
  const warm = Math.ceil((2 * loadWindowSeconds + coldStartSeconds) / controlSeconds);
  const starts = startsOf(course, length);
  const count = Math.round(starts.length * share);
  if (share > 0.5 || count < 8) return undefined;
  // A load that begins in the middle of the day begins with a queue, which takes a few starts to clear.
  const beginning =
    length * Math.ceil((3 * startSeconds + 2 * loadWindowSeconds) / (length * controlSeconds));
  const others = starts.filter((start) => start >= beginning);
  const byRise = others.toSorted((one, other) => riseIn(course, other, length) - riseIn(course, one, length));
  const hardest = Math.round(count * HARDEST_SHARE);
  const rest = byRise.slice(hardest);
  const every = rest.length / (count - hardest - 1);
  const drawn = Array.from(
    { length: count - hardest - 1 },
    (_, index) => rest[Math.floor((index + 0.5) * every)] as number,
  );
  const chosen = [
    { start: 0, end: beginning, weight: 1 },
    ...byRise.slice(0, hardest).map((start) => ({ start, end: start + length, weight: 1 })),
    ...drawn.map((start) => ({ start, end: start + length, weight: every })),
  ];
  const stretches = chosen.map(({ start, end, weight }): Stretch => {
    const to = (end + 1) * controlSeconds;
    if (start === 0) return { warmFrom: 0, from: 0, to, weight, began: undefined };
    const warmStart = Math.max(0, start - warm);
    return {
      warmFrom: warmStart * controlSeconds,
      // What is decided at an index lasts from one interval later on.
      from: (start + 1) * controlSeconds,
      to,
      weight,
      began: { hotLoad: course.hot[warmStart] as number, totalLoad: course.total[warmStart] as number },
    };
  });
  const floors = chosen.map(({ start, end }) => {
    const part = (values: Float64Array) => values.subarray(start, end);
    return new CostFloor(settings, {
      seen: part(course.seen),
      hot: part(course.hot),
      total: part(course.total),
      paid: part(course.paid),
    });
  });
  let requests = 0;
  for (const { from, to, weight } of stretches) load.replay(() => void (requests += weight), from, to);
  return { stretches, requests, floors };
}

/** Decisions at which a stretch may begin; what is left over at the end is like the one before it. */
function startsOf({ seen }: LoadCourse, length: number): number[] {
  return Array.from({ length: Math.floor(seen.length / length) }, (_, index) => index * length);
}

/** How much the load grows within a stretch at most, beyond what was kept hot for it, units/s. */
function riseIn({ seen, hot }: LoadCourse, start: number, length: number): number {
  let most = 0;
  for (let at = Math.max(1, start); at < start + length; at += 1) {
    most = Math.max(most, (seen[at] as number) - (hot[Math.max(0, at - 12)] as number));
  }
  return most;
}
