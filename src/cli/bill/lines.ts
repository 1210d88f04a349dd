/** A bill as lines of text. Pure. */
import type { BillAnswer, BillDay } from '../../daemon/http/bill.ts';
import { aligned } from '../text/table.ts';
import { counted, money, number } from '../text/legible.ts';

const MOST_COLUMNS = 6;
const USES = { working: 'at work', idle: 'ready without requests', starting: 'starting', stopped: 'stopped' };
const BILLED = ['gpu', 'disk', 'bandwidth', 'other'] as const;

/** @param isSeen A daemon made it, which knows more than the service's bill. */
export function billLines(bill: BillAnswer, isSeen: boolean): string[] {
  return [
    ...dayTable(bill.days),
    '',
    ...billedLine(bill.days),
    ...(bill.today && isSeen ? [`Today so far: ${figure(bill.today)}.`] : []),
    ...monthLines(bill.month),
    ...(isSeen ? seenLines(bill) : []),
    ...bill.unanswered.map(({ permission, is_missing: isMissing, error }) =>
      isMissing ? `The key lacks the permission ${permission}.` : `Not told (${permission}): ${error}.`,
    ),
    `In dollars, by UTC days. ${isSeen ? 'Estimated: by the prices of instances, without bandwidth.' : 'Today is not over, and its last hours may be billed later.'}`,
  ];
}

function dayTable(rows: readonly BillDay[]): string[] {
  const names = [...Map.groupBy(rows, ({ endpoint_group: name }) => name)]
    .toSorted(([, a], [, b]) => total(b) - total(a))
    .map(([name]) => name);
  const shown = names.slice(0, MOST_COLUMNS);
  const hasOthers = names.length > shown.length;
  const row = (head: string, own: readonly BillDay[], source: string): string[] => [
    head,
    ...shown.map((name) => cell(own.filter((one) => one.endpoint_group === name))),
    ...(hasOthers ? [cell(own.filter((one) => !shown.includes(one.endpoint_group)))] : []),
    cell(own),
    source,
  ];
  const days = [...Map.groupBy(rows, ({ day }) => day)];
  return aligned(
    [
      ['DAY', ...shown, ...(hasOthers ? ['OTHERS'] : []), 'TOTAL', 'SOURCE'],
      ...days.map(([day, own]) => row(day, own, sourcesOf(own))),
      row('in all', rows, sourcesOf(rows)),
    ],
    1,
  ).map((line) => line.trimEnd());
}

/** Without a row there was no charge, or it is unknown. */
function cell(rows: readonly BillDay[]): string {
  return rows.length === 0 ? '-' : cents(total(rows));
}

function total(rows: readonly BillDay[]): number {
  return rows.reduce((sum, { amount }) => sum + amount, 0);
}

function sourcesOf(rows: readonly BillDay[]): string {
  return [...new Set(rows.map(({ source }) => source))].join(', ');
}

function billedLine(rows: readonly BillDay[]): string[] {
  const billed = rows.flatMap((row) => row.billed ?? []);
  if (billed.length === 0) return [];
  const parts = BILLED.flatMap((kind) => {
    const sum = billed.reduce((all, one) => all + one[kind], 0);
    return kind === 'other' && sum === 0 ? [] : [`${kind === 'gpu' ? 'GPU' : kind} ${cents(sum)}`];
  });
  return [`Billed: ${parts.join(', ')}.`];
}

function monthLines(month: BillAnswer['month']): string[] {
  if (!month) return ['No forecast: nothing of this month is known.'];
  const { forecast, forecast_low: low, forecast_high: high, days } = month;
  const atEnd =
    forecast === null
      ? 'no forecast yet, as no whole day is known'
      : low === null || high === null
        ? `${cents(forecast)}; without a range, as fewer than two weeks are known (${counted(days, 'day')}), at its end`
        : `${cents(forecast)} (${cents(low)} to ${cents(high)}), by weekday from the last ${days} days, at its end`;
  const unknown =
    month.unknown_days > 0 ? `, without ${counted(month.unknown_days, 'day')} that nobody saw` : '';
  return [`${month.month}: ${figure(month.so_far)} so far${unknown}, ${atEnd}.`];
}

function seenLines(bill: BillAnswer): string[] {
  const { uses, per_1000_units: perUnits, dearest_hours: hours, yesterday, waste } = bill;
  return [
    uses
      ? `Workers (estimated): ${usesText(uses)}.`
      : 'By kind of use: not known, as no instance has a known price.',
    perUnits === null
      ? 'For 1,000 units of work: not known, as only workers that report a rate tell how much they did.'
      : `For 1,000 units of work: ${money(perUnits)}.`,
    ...(hours.length > 0 ? ['Dearest hours:'] : []),
    ...hours.map(
      (hour) =>
        `  ${new Date(hour.from * 1000).toISOString().slice(0, 16).replace('T', ' ')}  ${figure(hour)}, usual ${cents(hour.usual)}: ` +
        `${number(hour.ready_workers)} workers ready, ${number(hour.starting_workers)} starting, most of ${hour.endpoint_group}; ${usesText(hour.uses)}`,
    ),
    yesterday
      ? differenceText(yesterday)
      : 'Yesterday and the same weekday before: not compared, as both must have been seen.',
    ...(waste ? [wasteText(waste)] : []),
  ];
}

function usesText(uses: NonNullable<BillAnswer['uses']>): string {
  return Object.entries(USES)
    .map(([use, words]) => `${words} ${cents(uses[use as keyof typeof USES])}`)
    .join(', ');
}

function differenceText(yesterday: NonNullable<BillAnswer['yesterday']>): string {
  const { day, before, amount, load, price, parameters, starts, other } = yesterday;
  const parts = { load, price, parameters, starts, other };
  const words = Object.entries(parts).map(([name, part]) => `${name} ${signed(part)}`);
  return `${day} cost ${signed(amount)} (${yesterday.source}) against ${before}: ${words.join(', ')} (estimated).`;
}

function wasteText(waste: NonNullable<BillAnswer['waste']>): string {
  const { idle, starting, orphans, orphan_instances: count } = waste;
  const rate = (dollars: number | null): string => (dollars === null ? 'not known' : cents(dollars));
  return `Wasted now, an hour (estimated): ready without requests ${rate(idle)}, starting ${rate(starting)}, instances without a worker ${rate(orphans)} (${count ?? 'not known'}).`;
}

function figure({ amount, source }: { readonly amount: number; readonly source: string }): string {
  return `${cents(amount)} (${source})`;
}

function signed(dollars: number): string {
  const text = cents(Math.abs(dollars));
  return dollars < 0 && text !== '0.00' ? `-${text}` : `+${text}`;
}

function cents(dollars: number): string {
  return dollars.toLocaleString('en', { minimumFractionDigits: 2, maximumFractionDigits: 2 });
}
