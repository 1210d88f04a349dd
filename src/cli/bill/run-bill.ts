/** `bill`: asks for the charges of each day, and prints them by day and endpoint. */
import { createClient, type Client } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { listCharges } from '../../client/flows/charges.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { operationOf } from '../../contract/operations.ts';
import {
  billedDay,
  dayOf,
  forecast,
  NOTHING_BILLED,
  sumOf,
  type Billed,
  type BilledDay,
  type Forecast,
} from '../../fleet/bill.ts';
import { CommandError } from '../command-error.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { commandConnection, printConnectionProblems, type ProfileFlag } from '../login/connection.ts';
import { ProgressBar } from '../plan/progress.ts';
import { aligned } from '../text/cell-width.ts';
import { legibleLine } from '../text/legible.ts';
import { money } from '../text/numbers.ts';

export interface BillFlags extends ProfileFlag {
  /** Days back. */
  readonly since: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const DAY_MS = 86_400_000;
const DAY_SECONDS = 86_400;
/** A forecast goes by four weeks, whatever is printed. */
const FORECAST_DAYS = 28;

/** The exit code. @throws CommandError, CallError */
export async function runBill(
  endpoint: string | undefined,
  flags: BillFlags,
  console: Console,
): Promise<number> {
  const { connection, problems } = commandConnection(console, flags);
  if (!connection) {
    printConnectionProblems(problems, console);
    return EXIT.usage;
  }
  await using client = createClient(connection);
  const now = new Date();
  const { days, names } = await console.interruptible(async (signal) => ({
    names: await namesOf(client, signal),
    days: await billedDays(client, daysUntil(now, Math.max(flags.since, FORECAST_DAYS)), console, signal),
  }));
  const wanted = endpoint === undefined ? undefined : idOf(endpoint, names, days);
  const own = days.map((day) => only(day, wanted));
  const bill: Bill = {
    days: own.slice(-flags.since - 1),
    names,
    month: forecast(
      own.map(({ day, endpoints }) => ({ day, total: sumOf([...endpoints.values()]).total })),
      now,
    ),
  };
  if (flags.json) printJson(console, jsonOf(bill));
  else for (const line of flags.csv ? csvOf(bill) : tableOf(bill)) printLine(console, line);
  return EXIT.ok;
}

interface Bill {
  readonly days: readonly BilledDay[];
  readonly names: ReadonlyMap<number, string>;
  readonly month: Forecast | undefined;
}

/** Names of endpoints that exist; without the right to list them, there are ids. */
async function namesOf(client: Client, signal: AbortSignal): Promise<Map<number, string>> {
  try {
    const { results } = await client.endpointGroups.list({}, { signal });
    return new Map(results.flatMap(({ id, endpoint_name: name }) => (name ? [[id, legibleLine(name)]] : [])));
  } catch (error) {
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}

/** Oldest first, today the last one. */
function daysUntil(now: Date, back: number): string[] {
  return Array.from({ length: back + 1 }, (_, index) =>
    dayOf(new Date(now.getTime() - (back - index) * DAY_MS)),
  );
}

async function billedDays(
  client: Client,
  wanted: readonly string[],
  console: Console,
  signal: AbortSignal,
): Promise<BilledDay[]> {
  const bar = new ProgressBar(console);
  const days: BilledDay[] = [];
  try {
    for (const day of wanted) {
      const from = Date.parse(day) / 1000;
      days.push(billedDay(day, await listCharges(client, { from, to: from + DAY_SECONDS - 1 }, { signal })));
      bar.update(days.length / wanted.length, `${day} read`, '');
    }
    return days;
  } catch (error) {
    if (!(error instanceof ApiError) || error.meaning === 'throttled') throw error;
    const { permission } = operationOf('charges.list');
    throw new CommandError(
      `${legibleLine(error.message)}; it needs the permission ${permission}`,
      exitCodeOf(error),
    );
  } finally {
    bar.end();
  }
}

/** @throws CommandError */
function idOf(endpoint: string, names: ReadonlyMap<number, string>, days: readonly BilledDay[]): number {
  const billed = new Set(days.flatMap(({ endpoints }) => [...endpoints.keys()]));
  const known = new Set([...billed, ...names.keys()]);
  const found = [...known].filter(
    (id) => id !== null && (String(id) === endpoint || names.get(id) === endpoint),
  );
  const [id] = found;
  if (id !== undefined && id !== null && found.length === 1) return id;
  const all = [...known].map((each) => nameOf(each, names)).join(', ') || 'none';
  throw new CommandError(
    `${found.length === 0 ? 'no' : 'more than one'} endpoint ${endpoint}; there are: ${all}`,
    EXIT.failed,
  );
}

function only(day: BilledDay, wanted: number | undefined): BilledDay {
  if (wanted === undefined) return day;
  return { ...day, endpoints: new Map([...day.endpoints].filter(([id]) => id === wanted)) };
}

/** `chat`; a deleted endpoint has its id, `#31`. */
function nameOf(id: number | null, names: ReadonlyMap<number, string>): string {
  return id === null ? 'not told' : (names.get(id) ?? `#${id}`);
}

/** Endpoints with a column of their own; the others share one. */
const MOST_COLUMNS = 6;

function tableOf({ days, names, month }: Bill): string[] {
  const totals = endpointTotals(days);
  const shown = totals.slice(0, MOST_COLUMNS).map(([id]) => id);
  const hasOthers = totals.length > shown.length;
  const rest = (endpoints: BilledDay['endpoints']): number =>
    sumOf([...endpoints].flatMap(([id, billed]) => (shown.includes(id) ? [] : [billed]))).total;
  const row = (head: string, endpoints: BilledDay['endpoints']): string[] => [
    head,
    ...shown.map((id) => cents(endpoints.get(id)?.total ?? 0)),
    ...(hasOthers ? [cents(rest(endpoints))] : []),
    cents(sumOf([...endpoints.values()]).total),
  ];
  const all = sumOf(totals.map(([, billed]) => billed));
  return [
    ...aligned(
      [
        ['DAY', ...shown.map((id) => nameOf(id, names)), ...(hasOthers ? ['OTHERS'] : []), 'TOTAL'],
        ...days.map(({ day, endpoints }) => row(day, endpoints)),
        row('in all', new Map(totals)),
      ],
      1,
    ),
    '',
    `Billed: GPU ${cents(all.gpu)}, disk ${cents(all.disk)}, bandwidth ${cents(all.bandwidth)}${all.other === 0 ? '' : `, other ${cents(all.other)}`}.`,
    ...monthLines(month),
    'In dollars, by UTC days, as the service billed it. Today is not over, and its last hours may be billed later.',
  ];
}

function monthLines(month: Forecast | undefined): string[] {
  if (!month) return ['No forecast: no complete day is billed yet.'];
  const { soFar, expected, range, days } = month;
  const about = range
    ? `${cents(expected)} (${cents(range.low)} to ${cents(range.high)}), by weekday from the last ${days} days`
    : `${cents(expected)}; without a range, as fewer than two weeks are known (${days} days)`;
  return [`${month.month}: ${cents(soFar)} so far, ${about} at its end.`];
}

/** Dearest first. */
function endpointTotals(days: readonly BilledDay[]): [number | null, Billed][] {
  const all = new Map<number | null, Billed>();
  for (const { endpoints } of days)
    for (const [id, billed] of endpoints) all.set(id, sumOf([all.get(id) ?? NOTHING_BILLED, billed]));
  return [...all].toSorted(([, a], [, b]) => b.total - a.total);
}

function cents(dollars: number): string {
  return money(Math.round(dollars * 100) / 100);
}

function* rowsOf({ days, names }: Bill) {
  for (const { day, endpoints } of days)
    for (const [id, billed] of endpoints)
      yield {
        day,
        endpoint_id: id,
        endpoint: id === null ? null : (names.get(id) ?? null),
        gpu: rounded(billed.gpu),
        disk: rounded(billed.disk),
        bandwidth: rounded(billed.bandwidth),
        other: rounded(billed.other),
        total: rounded(billed.total),
      };
}

/** To a thousandth, as the service does. */
function rounded(dollars: number): number {
  return Number(dollars.toFixed(3));
}

function csvOf(bill: Bill): string[] {
  const columns = ['day', 'endpoint_id', 'endpoint', 'gpu', 'disk', 'bandwidth', 'other', 'total'] as const;
  const cell = (value: string | number | null): string => {
    if (typeof value === 'number') return String(value);
    return value === null ? '' : /[",]/.test(value) ? `"${value.replaceAll('"', '""')}"` : value;
  };
  return [columns.join(','), ...rowsOf(bill).map((row) => columns.map((name) => cell(row[name])).join(','))];
}

function jsonOf(bill: Bill) {
  const { month } = bill;
  return {
    source: 'billed',
    rows: [...rowsOf(bill)],
    month:
      month === undefined
        ? null
        : {
            month: month.month,
            so_far: rounded(month.soFar),
            forecast: rounded(month.expected),
            forecast_low: month.range ? rounded(month.range.low) : null,
            forecast_high: month.range ? rounded(month.range.high) : null,
            days: month.days,
          },
  };
}
