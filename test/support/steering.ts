/** Steering for tests: advice, minutes and parameters with only what matters spelled out. */
import { ENDPOINT_GROUP_DEFAULTS } from '../../src/contract/operations/serverless/endpoint-groups.ts';
import type { Advice, AdvisedSet, Estimate } from '../../src/scaling/advice/advice.ts';
import type { Bounds } from '../../src/scaling/autotune/bounds.ts';
import type { Seen } from '../../src/scaling/autotune/decide.ts';
import { HOUR_MS, type Minute } from '../../src/scaling/autotune/minutes.ts';
import type { Change, Numbers, Some } from '../../src/scaling/autotune/state.ts';

export const MINUTE_MS = 60_000;
/** A moment long after a start, at the beginning of a minute. */
export const NOON = 1_900_000_800_000;

export const PARAMETERS: Numbers = { ...ENDPOINT_GROUP_DEFAULTS };
export const BOUNDS: Bounds = { target_util: [0.5, 0.95], cold_workers: [1, 10], min_load: [0, 1000] };

export function setOf(some: Some = {}): AdvisedSet {
  const { target_util, cold_mult, cold_workers, min_load, min_cold_load } = ENDPOINT_GROUP_DEFAULTS;
  return { target_util, cold_mult, cold_workers, min_load, min_cold_load, ...some };
}

export function exactly(mean: number): Estimate {
  return { mean, low: mean, high: mean };
}

/** One cold worker fewer, in its first hour, but for what is given. */
export function changeOf(given: Partial<Change> = {}): Change {
  return {
    id: 1,
    atMs: 0,
    endpointId: 31,
    why: 'cheaper',
    from: { cold_workers: 5 },
    to: { cold_workers: 4 },
    limits: {},
    expected: {
      costBefore: exactly(10),
      costAfter: exactly(8),
      p99Before: exactly(2),
      p99After: exactly(3),
      limitSeconds: 5,
      backtestError: 0.04,
    },
    phase: 'watching',
    setMs: 0,
    because: undefined,
    refused: undefined,
    came: undefined,
    outcome: undefined,
    endedMs: undefined,
    ...given,
  };
}

export interface AdvisedChange {
  readonly atMs: number;
  readonly today?: Some;
  readonly best: Some;
  readonly costs?: readonly [today: number, best: number];
  readonly p99?: number;
}

/** To move from the defaults to `best`, a fifth cheaper unless told. */
export function adviceOf({ atMs, today = {}, best, costs = [10, 8], p99 = 3 }: AdvisedChange): Advice {
  const prediction = (some: Some, cost: number, seconds: number) => ({
    parameters: setOf(some),
    costPerHour: exactly(cost),
    p99Seconds: exactly(seconds),
    peakHotWorkers: 4,
    meanHotWorkers: 2,
  });
  return {
    endpoint: 'chat',
    atMs,
    fromMs: atMs - 24 * HOUR_MS,
    toMs: atMs,
    limitSeconds: 5,
    verdict: 'change',
    sentence: 'cheaper',
    backtest: { errorRatio: 0.04, held: true },
    today: prediction(today, costs[0], 2),
    best: prediction({ ...today, ...best }, costs[1], p99),
  };
}

/** From the first moment on, before the second: quiet, and with capacity to spare, but for what is given. */
export function minutesOf(fromMs: number, toMs: number, given: Partial<Minute> = {}): Minute[] {
  const count = Math.max(0, Math.ceil((toMs - fromMs) / MINUTE_MS));
  return Array.from({ length: count }, (_, index) => ({
    load: 100,
    capacity: 200,
    cost: 2,
    ready: 2,
    errors: 0,
    ...given,
    fromMs: fromMs + index * MINUTE_MS,
  }));
}

/** A quiet day before noon, seen by a process that runs for long. */
export function seenOf(given: Partial<Seen> = {}): Seen {
  const { nowMs = NOON } = given;
  return {
    endpointId: 31,
    sinceMs: NOON - 1000 * HOUR_MS,
    bounds: BOUNDS,
    parameters: PARAMETERS,
    isActive: true,
    minutes: minutesOf(nowMs - 25 * HOUR_MS, nowMs),
    advice: adviceOf({ atMs: nowMs, best: { target_util: 0.8, cold_workers: 4 } }),
    workerPerformance: 100,
    ...given,
    nowMs,
  };
}
