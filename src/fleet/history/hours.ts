/** Hours of an endpoint in SQL: a sample counts until the next one, but no longer than a hole. */
import { WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';
import { HOUR_MS, type Counted } from '../../spend/hours.ts';
import { STEPS } from '../workers/measure.ts';
import { phaseOf, type Phase } from '../workers/status.ts';

const DOLLARS = STEPS.spend_per_hour * HOUR_MS;
const UNITS = STEPS.load * 1_000;

function workersIn(phase: Phase): string {
  const statuses = WORKER_STATUSES.filter((status) => phaseOf(status) === phase);
  return `(${statuses.map((status) => `ifnull(workers_${status}, 0)`).join(' + ')})`;
}

const IS_TOLD = 'spend_told_per_hour IS NOT NULL';
const IS_ESTIMATED = 'spend_told_per_hour IS NULL';
const IS_SPLIT = 'spend_per_hour IS NOT NULL AND spend_idle_per_hour IS NOT NULL';
const WORKING = '(spend_per_hour - spend_idle_per_hour - spend_starting_per_hour - spend_stopped_per_hour)';

/** By name: the condition, the value that counts for the sample's time, and the storage step. */
const SUMS: Readonly<Record<Exclude<keyof Counted, 'seenMs'>, readonly [string, string, number]>> = {
  toldMs: [IS_TOLD, '1', 1],
  told: [IS_TOLD, 'spend_told_per_hour', DOLLARS],
  estimated: [IS_ESTIMATED, 'spend_per_hour', DOLLARS],
  working: [IS_SPLIT, WORKING, DOLLARS],
  idle: [IS_SPLIT, 'spend_idle_per_hour', DOLLARS],
  starting: [IS_SPLIT, 'spend_starting_per_hour', DOLLARS],
  stopped: [IS_SPLIT, 'spend_stopped_per_hour', DOLLARS],
  usesMs: [IS_SPLIT, '1', 1],
  readyMs: [IS_SPLIT, workersIn('ready'), 1],
  startingMs: [IS_SPLIT, workersIn('starting'), 1],
  load: ['load IS NOT NULL', 'load', UNITS],
  loadMs: ['load IS NOT NULL', '1', 1],
};

/**
 * Rows of type Hour. A sample of unknown cost is skipped: the one before goes on. Parameters of the
 * statement: `holeMs`, the end, then those of `ofRange`. `missing`: columns that the table lacks.
 */
export function hoursSql(ofRange: string, missing: readonly string[]): string {
  const nulls = missing.map((name) => `NULL AS ${name}, `).join('');
  const columns = Object.entries(SUMS).map(
    ([name, [isKnown, value, steps]]) =>
      `total(CASE WHEN ${isKnown} THEN ${value} * ms END) / ${steps} AS ${name}`,
  );
  return `SELECT at / ${HOUR_MS} * ${HOUR_MS} AS atMs, sum(ms) AS seenMs, ${columns.join(', ')}
    FROM (SELECT *, ${nulls} min(?, lead(at, 1, ?) OVER (ORDER BY at) - at) AS ms ${ofRange}
      AND coalesce(spend_told_per_hour, spend_per_hour) IS NOT NULL) GROUP BY 1`;
}
