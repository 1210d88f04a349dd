/** Whether there is enough to advise upon at all: of the history, and of the load that sets are tried with. In words, pure. */
import type { RecordedLoad } from '../planner/load/load.ts';
import { short } from './assumptions.ts';
import { LEAST_SECONDS } from './backtest/measured-backtest.ts';
import type { RecordedRate } from './load/rate.ts';
import type { RequestSize } from './load/request-size.ts';
import type { Recorded } from './recorded.ts';

/** A hundredth of fewer is no request, so that they have no p99. */
const LEAST_REQUESTS = 100;
/** Of an hour: the first look or request comes a little after its begin, and the last before its end. */
const LEAST_SEEN_SECONDS = 0.95 * LEAST_SECONDS;

/** @returns what is lacking, if anything */
export function lackOfHistory(
  { stretches }: Recorded,
  { seenSeconds, work }: RecordedRate,
): string | undefined {
  if (stretches.length === 0) return 'there is no history of it';
  if (seenSeconds < LEAST_SEEN_SECONDS) {
    return `its load is known for ${lasting(seenSeconds)}; an hour is the least`;
  }
  return work > 0 ? undefined : 'there was no load at all';
}

/** @returns what is lacking, if anything */
export function lackOfTrace({ length, work, seconds }: RecordedLoad): string | undefined {
  if (work === 0) return `the trace has no work in it: each of its ${length} requests is of 0 units`;
  if (seconds < LEAST_SEEN_SECONDS) return `the trace is of ${lasting(seconds)}; an hour is the least`;
  return length < LEAST_REQUESTS ? `the trace has ${requests(length)}; ${LEAST}` : undefined;
}

/** @returns what is lacking, if anything */
export function lackOfRequests(length: number, { mean }: RequestSize): string | undefined {
  if (length >= LEAST_REQUESTS) return undefined;
  return (
    `with ${short(mean)} units a request, its load is of ${requests(length)}; ${LEAST}; ` +
    'where they are smaller, name their size with --request-size'
  );
}

const LEAST = `${LEAST_REQUESTS} are the least that a p99 is told of`;

function requests(count: number): string {
  return `${count} request${count === 1 ? '' : 's'}`;
}

function lasting(seconds: number): string {
  return seconds < 120 ? `${short(seconds)} s` : `${Math.floor(seconds / 60)} minutes`;
}
