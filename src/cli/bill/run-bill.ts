/** `bill`: asks a running daemon what endpoints cost, else the service for the charges of each day. */
import { createClient, type Client } from '../../client/client.ts';
import { ApiError } from '../../client/errors.ts';
import { listCharges } from '../../client/flows/lists.ts';
import { EXIT } from '../../config/exit-codes.ts';
import { operationOf } from '../../contract/operations.ts';
import { billAnswer, billCsv, billSchema, type BillAnswer } from '../../daemon/http/bill.ts';
import { billedDay, daysUntil, NOTHING_BILLED, type BilledDay } from '../../spend/bill.ts';
import { BILL_DAYS, endpointSpend, type EndpointSpend } from '../../spend/hours.ts';
import { CommandError } from '../command-error.ts';
import { printError, printJson, printLine, type Console } from '../console.ts';
import { exitCodeOf } from '../exit-code.ts';
import { DaemonAway, fetchJson, fetchStatus, fleetSchema, type DaemonAddress } from '../fleet/daemon.ts';
import { usableConnection, type ProfileFlag } from '../logins.ts';
import { progressBar } from '../progress.ts';
import { legibleLine, counted } from '../text/legible.ts';
import { billLines } from './lines.ts';

export interface BillFlags extends ProfileFlag {
  /** Days back. */
  readonly since: number;
  readonly json?: boolean;
  readonly csv?: boolean;
}

const DAY_SECONDS = 86_400;
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
  if (lost > 0) printError(console, `${counted(lost, 'charge')} could not be read: their days are left out.`);
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
