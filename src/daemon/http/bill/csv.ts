import { csvOf } from '../csv.ts';
import { billed, dayRow, uses, type BillAnswer } from './answer.ts';

const { billed: _billed, uses: _uses, ...ofDay } = dayRow.shape;
const COLUMNS = Object.keys({ ...ofDay, ...billed.shape, ...uses.shape }) as (keyof typeof ofDay)[];

export function billCsv({ days }: Pick<BillAnswer, 'days'>): string {
  const rows = days.map((day) => ({ ...day, ...day.billed, ...day.uses }));
  return csvOf(
    COLUMNS,
    rows.map((row) => COLUMNS.map((name) => row[name])),
  );
}
