/**
 * The same as CSV (RFC 4180), for spreadsheets and scripts: a line for each endpoint and row, always the same columns.
 * An empty field is what is not known; a status that had no workers is 0.
 */
import { WORKER_STATUSES } from '../../../contract/operations/serverless/workers.ts';
import { MEASURES, type Measure } from '../../../fleet/sample.ts';
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

/** A spreadsheet takes a field that begins so for a formula, which may call out. */
const FORMULA = /^[=+\-@\t\r\n＝＋－＠]/;

export function fleetCsv({ endpoints }: FleetHistory): string {
  const lines = endpoints.flatMap(({ endpoint_group, endpoint_id, rows }) =>
    rows.map((row) => [
      textField(endpoint_group),
      endpoint_id,
      new Date(row.from * 1000).toISOString(),
      row.length_seconds,
      row.samples,
      ...MEASURE_NAMES.flatMap((name) => [row[name]?.mean ?? '', row[name]?.peak ?? '']),
      ...STATUSES.flatMap((status) => [row.workers[status]?.mean ?? 0, row.workers[status]?.peak ?? 0]),
    ]),
  );
  return [COLUMNS, ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}

/** What others have named: never a formula, and one field whatever is in it. */
export function textField(text: string): string {
  const plain = FORMULA.test(text) ? `'${text}` : text;
  return /[",\r\n]/.test(plain) ? `"${plain.replaceAll('"', '""')}"` : plain;
}
