/** The same as CSV: a line for each endpoint and row, always the same columns. A status that had no workers is 0. */
import { WORKER_STATUSES } from '../../../contract/operations/serverless/workers.ts';
import { MEASURES, type Measure } from '../../../fleet/workers/measure.ts';
import { csvOf } from '../csv.ts';
import type { FleetHistory } from './answer.ts';

const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];
const STATUSES = [...WORKER_STATUSES, 'unknown'];

const COLUMNS = [
  'endpoint_group',
  'endpoint_id',
  'from',
  'length_seconds',
  'samples',
  ...MEASURE_NAMES.flatMap((name) => [name, `${name}_peak`]),
  ...STATUSES.flatMap((status) => [`workers_${status}`, `workers_${status}_peak`]),
];

export function fleetCsv({ endpoints }: FleetHistory): string {
  const lines = endpoints.flatMap(({ endpoint_group, endpoint_id, rows }) =>
    rows.map((row) => [
      endpoint_group,
      endpoint_id,
      new Date(row.from * 1000).toISOString(),
      row.length_seconds,
      row.samples,
      ...MEASURE_NAMES.flatMap((name) => [row[name]?.mean, row[name]?.peak]),
      ...STATUSES.flatMap((status) => [row.workers[status]?.mean ?? 0, row.workers[status]?.peak ?? 0]),
    ]),
  );
  return csvOf(COLUMNS, lines);
}
