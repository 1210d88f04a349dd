/** `bill`: asks a running daemon what endpoints cost, else the service for the charges of each day. */
import { CommandError, printError, printJson, printLine, type Console, progressBar } from './console.ts';
import { exitCodeOf } from './exit-code.ts';
import { DaemonAway, fetchJson, fetchStatus, fleetSchema, type DaemonAddress } from './fleet/daemon.ts';
import type { ProfileFlag } from './flag-types.ts';
import { usableConnection } from './logins.ts';
import { legibleLine, aligned, money, number } from './text.ts';
import { createClient, type Client } from '../client/client.ts';
import { ApiError } from '../client/errors.ts';
import { listCharges } from '../client/flows/lists.ts';
import { EXIT } from '../config/exit-codes.ts';
import { isoTime } from '../contract/schemas.ts';
import { DAY_SECONDS } from '../contract/times.ts';
import { operationOf } from '../contract/operations.ts';
import { plural } from '../daemon/status/page/status-words.js';
import { billAnswer, billCsv, billSchema, type BillAnswer, type BillDay } from '../daemon/http/bill.ts';
import { billedDay, daysUntil, NOTHING_BILLED, sum, type BilledDay } from '../spend/bill.ts';
import { BILL_DAYS, endpointSpend, type EndpointSpend } from '../spend/hours.ts';

export interface BillFlags extends ProfileFlag {
  readonly since: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

/** A forecast goes by four weeks, whatever is printed. */
const FORECAST_DAYS = 28;

/** @param isNamed The user named the daemon. @returns The exit code. @throws CommandError, CallError */
export async function runBill(
  { daemon, isNamed }: { readonly daemon: DaemonAddress; readonly isNamed: boolean },
  endpoint: string | undefined,
  flags: BillFlags,
  console: Console,
): Promise<number> {
  const seen = await console.interruptible((signal) => askDaemon(daemon, endpoint, flags.since, signal));
  if (typeof seen === 'object') return print(seen, true, flags, console);
  if (isNamed) throw new DaemonAway(seen);
  const connection = usableConnection(console, flags);
  if (!connection) return EXIT.usage;
  await using client = createClient(connection);
  const now = new Date();
  const all = await console.interruptible((signal) =>
    askService(client, daysUntil(now, Math.max(flags.since, FORECAST_DAYS)), console, signal),
  );
  const spends = endpoint === undefined ? all : [chosen(all, endpoint)];
  const bill = billAnswer({ spends, now, since: flags.since, view: undefined });
  if (!flags.json && !flags.csv) printError(console, `Billed figures alone: ${seen}.`);
  return print(bill, false, flags, console);
}

function print(bill: BillAnswer, isSeen: boolean, flags: BillFlags, console: Console): number {
  if (flags.json) printJson(console, bill);
  else if (flags.csv) console.out(billCsv(bill));
  else for (const line of billLines(bill, isSeen)) printLine(console, legibleLine(line));
  return EXIT.ok;
}

/** The daemon's bill, or why there is none. @throws CommandError for its token, or an unknown endpoint */
async function askDaemon(
  daemon: DaemonAddress,
  endpoint: string | undefined,
  since: number,
  signal: AbortSignal,
): Promise<BillAnswer | string> {
  if (since >= BILL_DAYS) return `a daemon remembers ${BILL_DAYS - 1} days`;
  try {
    const { fleet, replica } = await fetchStatus(daemon, fleetSchema, signal);
    if (!fleet.configured) return `the daemon at ${daemon.url} watches no endpoint (PILOTLIGHT_ENDPOINTS)`;
    if (!fleet.samples) return `another replica than ${replica.id} watches the endpoints`;
    const query = new URLSearchParams({ since: `${since}d`, ...(endpoint !== undefined && { endpoint }) });
    const read = billSchema.safeParse(await fetchJson(daemon, `/api/bill?${query.toString()}`, signal));
    return read.success ? read.data : `the daemon at ${daemon.url} is of another version`;
  } catch (error) {
    if (error instanceof DaemonAway) return `no daemon tells more (${error.message})`;
    throw error;
  }
}

async function askService(client: Client, wanted: readonly string[], console: Console, signal: AbortSignal) {
  const names = await namesOf(client, signal);
  const days = await billedDays(client, wanted, console, signal);
  const ids = new Set([...names.keys(), ...days.flatMap(({ endpoints }) => [...endpoints.keys()])]);
  return Array.from(ids, (id) => {
    const name = id === null ? 'not told' : (names.get(id) ?? `#${id}`);
    // A charge without an endpoint may belong to any endpoint that has none of its own.
    const billed = days.flatMap(({ day, endpoints }) => {
      const own = endpoints.get(id) ?? (endpoints.has(null) ? undefined : NOTHING_BILLED);
      return own ? [[day, own] as const] : [];
    });
    return endpointSpend(name, id, [], new Map(billed));
  });
}

/** Names of endpoints that exist; without the right to list them, there are ids. */
async function namesOf(client: Client, signal: AbortSignal): Promise<Map<number | null, string>> {
  try {
    const { results } = await client.endpointGroups.list({}, { signal });
    return new Map(results.flatMap(({ id, endpoint_name: name }) => (name ? [[id, name]] : [])));
  } catch (error) {
    if (error instanceof ApiError) return new Map();
    throw error;
  }
}

async function billedDays(client: Client, wanted: readonly string[], console: Console, signal: AbortSignal) {
  const bar = progressBar(console);
  const days: BilledDay[] = [];
  let lost = 0;
  try {
    for (const [index, day] of wanted.entries()) {
      const from = Date.parse(day) / 1000;
      const range = { from, to: from + DAY_SECONDS - 1 };
      const { rows, unreadable } = await listCharges(client, range, { signal });
      if (unreadable === 0) days.push(billedDay(day, rows));
      lost += unreadable;
      bar.update((index + 1) / wanted.length, `${day} read`);
    }
  } catch (error) {
    if (!(error instanceof ApiError) || error.meaning !== 'unauthorized') throw error;
    const { permission } = operationOf('charges.list');
    const why = `${legibleLine(error.message)}; it needs the permission ${permission}`;
    throw new CommandError(why, exitCodeOf(error));
  } finally {
    bar.end();
  }
  if (lost > 0) printError(console, `${plural(lost, 'charge')} could not be read: their days are left out.`);
  return days;
}

function chosen(spends: readonly EndpointSpend[], endpoint: string): EndpointSpend {
  const found = spends.filter((spend) => spend.endpoint === endpoint || String(spend.id) === endpoint);
  const [one] = found;
  if (one && found.length === 1) return one;
  const all = spends.map((spend) => legibleLine(spend.endpoint)).join(', ') || 'none';
  const count = one ? 'more than one' : 'no';
  throw new CommandError(`${count} endpoint ${legibleLine(endpoint)}; there are: ${all}`, EXIT.failed);
}

const MOST_COLUMNS = 6;
const USES = { working: 'at work', idle: 'ready without requests', starting: 'starting', stopped: 'stopped' };
const BILLED = ['gpu', 'disk', 'bandwidth', 'other'] as const;

/** @param isSeen A daemon made it, which knows more than the service's bill. */
function billLines(bill: BillAnswer, isSeen: boolean): string[] {
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
  );
}

/** Without a row there was no charge, or it is unknown. */
function cell(rows: readonly BillDay[]): string {
  return rows.length === 0 ? '-' : cents(total(rows));
}

function total(rows: readonly BillDay[]): number {
  return sum(rows.map(({ amount }) => amount));
}

function sourcesOf(rows: readonly BillDay[]): string {
  return [...new Set(rows.map(({ source }) => source))].join(', ');
}

function billedLine(rows: readonly BillDay[]): string[] {
  const billed = rows.flatMap((row) => row.billed ?? []);
  if (billed.length === 0) return [];
  const parts = BILLED.flatMap((kind) => {
    const amount = sum(billed.map((one) => one[kind]));
    return kind === 'other' && amount === 0 ? [] : [`${kind === 'gpu' ? 'GPU' : kind} ${cents(amount)}`];
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
        ? `${cents(forecast)}; without a range, as fewer than two weeks are known (${plural(days, 'day')}), at its end`
        : `${cents(forecast)} (${cents(low)} to ${cents(high)}), by weekday from the last ${days} days, at its end`;
  const unknown =
    month.unknown_days > 0 ? `, without ${plural(month.unknown_days, 'day')} that were not recorded` : '';
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
        `  ${isoTime(hour.from).slice(0, 16).replace('T', ' ')}  ${figure(hour)}, usual ${cents(hour.usual)}: ` +
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
