/** `pilotlight fleet`: asks a running daemon again and again, and prints what it sees in the way that its reader can use. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../config/exit-codes.ts';
import type { EndpointStatus, Status } from '../../daemon/status/schema.ts';
import { printError, printJson, printLine, type Console } from '../console.ts';
import { InputError } from '../command-error.ts';
import { clip } from '../text/cell-width.ts';
import { legibleLine } from '../text/legible.ts';
import { DaemonAway, fetchStatus, fleetSchema, type DaemonAddress } from './daemon.ts';
import { createLiveScreen } from './screen.ts';
import { fleetTable, type Seen } from './table.ts';
import { endpointInWords, fleetNotes, noEndpoints } from './words.ts';

export interface FleetFlags {
  readonly json?: boolean;
  readonly once?: boolean;
  /** Between two looks, ms. */
  readonly every: number;
}

type Print = (seen: Seen, trouble?: string) => void;

/** Prints once, or until it is interrupted; the exit code. */
export async function watchFleet(
  daemon: DaemonAddress,
  wanted: string | undefined,
  { json = false, once = false, every }: FleetFlags,
  console: Console,
): Promise<number> {
  const screen = json || console.columns === undefined ? undefined : createLiveScreen();
  const print = screen ? tablePrinter(console, once, screen) : samplePrinter(console, json);
  return await console.interruptible(async (signal) => {
    let last: Seen | undefined;
    try {
      for (;;) {
        try {
          last = await look(daemon, wanted, signal);
          print(last);
        } catch (error) {
          // It may be restarting, and know no endpoint yet: what is live goes on.
          const isPassing = error instanceof DaemonAway || error instanceof InputError;
          if (!last || once || !isPassing) throw error;
          const isAway = error instanceof DaemonAway;
          print(last, isAway ? `the daemon does not answer: ${error.message}` : error.message);
        }
        if (once) return EXIT.ok;
        await sleep(every, undefined, { signal });
      }
    } finally {
      if (screen) console.out(screen.end());
    }
  });
}

async function look(daemon: DaemonAddress, wanted: string | undefined, signal: AbortSignal): Promise<Seen> {
  const status = await fetchStatus(daemon, fleetSchema, signal);
  const fleet = { ...status.fleet, endpoints: chosenEndpoints(status, wanted) };
  return { fleet, none: noEndpoints(status), now: status.now };
}

/** By label or id; all where none is wanted. @throws InputError where there is none such */
export function chosenEndpoints(
  status: Pick<Status, 'fleet' | 'replica'>,
  wanted: string | undefined,
): readonly EndpointStatus[] {
  const { endpoints } = status.fleet;
  if (wanted === undefined) return endpoints;
  const found = endpoints.find(
    ({ endpoint_group: name, endpoint_id: id }) => name === wanted || String(id) === wanted,
  );
  if (found) return [found];
  const names = endpoints.map(({ endpoint_group: name }) => legibleLine(name)).join(', ');
  throw new InputError(
    names === ''
      ? `no endpoint ${wanted}: ${noEndpoints(status)}`
      : `no endpoint ${wanted}; there is: ${names}`,
  );
}

/** Each sample once: as JSON, or as a line with its time. */
function samplePrinter(console: Console, json: boolean): Print {
  const before = new Map<string, string>();
  let said: string | undefined;
  return ({ fleet, none, now }, trouble) => {
    if (trouble !== undefined) return printError(console, trouble);
    const fresh = fleet.endpoints.filter((endpoint) => {
      const { endpoint_group: name, last_sample_at: at, last_error: error } = endpoint;
      const state = JSON.stringify([at, error]);
      const isNew = before.get(name) !== state;
      before.set(name, state);
      return isNew;
    });
    const notes = (fleet.endpoints.length === 0 ? [none] : fleetNotes(fleet)).join('; ');
    const [isFirst, hasNotes] = [said === undefined, notes !== '' && notes !== said];
    said = notes;
    if (json) {
      if (fresh.length > 0 || isFirst) printJson(console, { now, ...fleet });
      return;
    }
    const lines = fresh.map((one) => `${one.endpoint_group}: ${endpointInWords(one, fleet, now)}`);
    for (const line of hasNotes ? [...lines, notes] : lines)
      printLine(console, legibleLine(`${new Date(now * 1000).toISOString()} ${line}`));
  };
}

function tablePrinter(console: Console, once: boolean, screen: ReturnType<typeof createLiveScreen>): Print {
  return (seen, trouble) => {
    const { columns = 80, rows = 24 } = console;
    const table = seen.fleet.endpoints.length === 0 ? [seen.none] : fleetTable(seen, columns);
    const below = trouble === undefined ? [] : ['', clip(legibleLine(trouble), columns)];
    const lines = [...table, ...below];
    console.out(once ? lines.map((line) => `${line}\n`).join('') : screen.frame(lines, { columns, rows }));
  };
}
