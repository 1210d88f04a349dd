/** The days of a bill as CSV (RFC 4180): a line for each day and endpoint. An empty field is what is not known. */
import { textField } from '../fleet/csv.ts';
import type { BillAnswer } from './answer.ts';

const COLUMNS =
  'day endpoint_group endpoint_id amount source seen_hours gpu disk bandwidth other working idle starting stopped'.split(
    ' ',
  );

export function billCsv({ days }: Pick<BillAnswer, 'days'>): string {
  const lines = days.map(({ billed, uses, ...row }) => [
    row.day,
    textField(row.endpoint_group),
    row.endpoint_id ?? '',
    row.amount,
    row.source,
    row.seen_hours,
    ...[billed?.gpu, billed?.disk, billed?.bandwidth, billed?.other].map((part) => part ?? ''),
    ...[uses?.working, uses?.idle, uses?.starting, uses?.stopped].map((part) => part ?? ''),
  ]);
  return [COLUMNS, ...lines].map((fields) => `${fields.join(',')}\r\n`).join('');
}
