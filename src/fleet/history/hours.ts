/** Hours of an endpoint, folded by SQL: each sample stands until the next one, and no longer than a hole begins. */
import { WORKER_STATUSES } from '../../contract/operations/serverless/workers.ts';
import { HOUR_MS, type Hour } from '../../spend/hours.ts';
import { STEPS } from '../workers/measure.ts';
import { phaseOf, type Phase } from '../workers/status.ts';

const DOLLARS = STEPS.spend_per_hour * HOUR_MS;
const UNITS = STEPS.load * 1_000;

function workersIn(phase: Phase): string {
  const statuses = WORKER_STATUSES.filter((status) => phaseOf(status) === phase);
  return `(${statuses.map((status) => `ifnull(workers_${status}, 0)`).join(' + ')})`;
}

/** What a sample has, while `isKnown` holds, over the time for which it stands. */
const sum = (isKnown: string, value: string, name: string): string =>
  `total(CASE WHEN ${isKnown} THEN ${value} * ms END) AS ${name}`;
const IS_TOLD = 'spend_told_per_hour IS NOT NULL';
const IS_ESTIMATED = 'spend_told_per_hour IS NULL';
const IS_SPLIT = 'spend_per_hour IS NOT NULL AND spend_idle_per_hour IS NOT NULL';

/**
 * A sample whose cost is not known stands for nothing: the one before it goes on.
 * @param ofRange The samples of an endpoint. SQL's parameters: the longest time that one stands, the end, and theirs.
 */
export function hoursSql(ofRange: string): string {
  const columns = [
    sum(IS_TOLD, 'spend_told_per_hour', 'told'),
    sum(IS_TOLD, '1', 'told_ms'),
    sum(IS_ESTIMATED, 'spend_per_hour', 'estimated'),
    sum(IS_SPLIT, 'spend_per_hour', 'split'),
    sum(IS_SPLIT, '1', 'split_ms'),
    ...['idle', 'starting', 'stopped'].map((use) => sum(IS_SPLIT, `spend_${use}_per_hour`, use)),
    sum(IS_SPLIT, workersIn('ready'), 'ready_ms'),
    sum(IS_SPLIT, workersIn('starting'), 'starting_ms'),
    sum('load IS NOT NULL', 'load', 'load'),
    sum('load IS NOT NULL', '1', 'load_ms'),
  ];
  return `SELECT at / ${HOUR_MS} * ${HOUR_MS} AS hour, sum(ms) AS seen_ms, ${columns.join(', ')}
    FROM (SELECT *, min(?, lead(at, 1, ?) OVER (ORDER BY at) - at) AS ms ${ofRange}
      AND coalesce(spend_told_per_hour, spend_per_hour) IS NOT NULL) GROUP BY 1`;
}

export function hourFrom(row: Readonly<Record<string, unknown>>): Hour {
  const of = (name: string): number => Number(row[name]);
  const dollars = (name: string): number => of(name) / DOLLARS;
  const [idle, starting, stopped] = [dollars('idle'), dollars('starting'), dollars('stopped')];
  return {
    atMs: of('hour'),
    seenMs: of('seen_ms'),
    toldMs: of('told_ms'),
    told: dollars('told'),
    estimated: dollars('estimated'),
    uses: { working: dollars('split') - idle - starting - stopped, idle, starting, stopped },
    usesMs: of('split_ms'),
    readyMs: of('ready_ms'),
    startingMs: of('starting_ms'),
    load: of('load') / UNITS,
    loadMs: of('load_ms'),
  };
}
