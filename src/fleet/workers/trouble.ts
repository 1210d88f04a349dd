/** Which workers are stuck in a start, and which fail again and again. */
import { isPresent, presentStatus, type Origin, type WorkerLife } from './lives.ts';

/** Seconds that the last starts of an endpoint took. */
export type StartTimes = Readonly<Record<Origin, readonly number[]>>;

export const NO_STARTS: StartTimes = { new: [], cold: [] };

const STARTS_KEPT = 100;
/** Fewer starts have no distribution. */
const STARTS_TO_KNOW = 5;
/** Stuck: so many times what 19 of 20 starts take. */
const FAR = 3;
/** No start is stuck before, ms: a registry or disk may be slow once. */
const FLOOR_MS: Readonly<Record<Origin, number>> = { new: 600_000, cold: 180_000 };
/** While few starts are known, ms: large models take a quarter of an hour. */
const WITHOUT_LIKE_MS: Readonly<Record<Origin, number>> = { new: 1_800_000, cold: 600_000 };

const FAILURES = 3;
const FAILURES_WITHIN_MS = 3_600_000;

export function withStart(times: StartTimes, from: Origin, seconds: number): StartTimes {
  return { ...times, [from]: [...times[from], seconds].slice(-STARTS_KEPT) };
}

/** Ms after its begin. */
export function stuckAfterMs(from: Origin, seconds: readonly number[]): number {
  if (seconds.length < STARTS_TO_KNOW) return WITHOUT_LIKE_MS[from];
  return Math.max(FLOOR_MS[from], FAR * 1000 * quantile(seconds, 0.95));
}

export function isStuck({ start, ...life }: WorkerLife, times: StartTimes, nowMs: number): boolean {
  if (start === undefined || !isPresent({ start, ...life })) return false;
  return nowMs - start.sinceMs > stuckAfterMs(start.from, times[start.from]);
}

export function isFailing(life: WorkerLife, nowMs: number): boolean {
  const failures = life.changes.filter(
    ([status, atMs]) => status === 'error' && nowMs - atMs <= FAILURES_WITHIN_MS,
  );
  return isPresent(life) && presentStatus(life) !== 'destroying' && failures.length >= FAILURES;
}

/** The smallest value that a share of `part` does not exceed. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(part * sorted.length) - 1)] ?? Number.NaN;
}
