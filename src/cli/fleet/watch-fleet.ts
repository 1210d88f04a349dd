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

/** Prints once, or until it is interrupted; the exit code. */
export async function watchFleet(
  daemon: DaemonAddress,
  wanted: string | undefined,
  flags: FleetFlags,
  console: Console,
): Promise<number> {
  const print = flags.json
    ? jsonPrinter(console)
    : console.columns === undefined
      ? linePrinter(console)
      : tablePrinter(console, flags.once ?? false);
  const { trouble = (message: string) => printError(console, message) } = print;
  return await console.interruptible(async (signal) => {
    let hasAnswered = false;
    try {
      for (;;) {
        try {
          const seen = await look(daemon, wanted, signal);
          hasAnswered = true;
          print.seen(seen);
        } catch (error) {
          // It may be restarting, and know no endpoint yet: what is live goes on.
          if (!hasAnswered || flags.once) throw error;
          if (error instanceof DaemonAway) trouble(`the daemon does not answer: ${error.message}`);
          else if (error instanceof InputError) trouble(error.message);
          else throw error;
        }
        if (flags.once) return EXIT.ok;
        await sleep(flags.every, undefined, { signal });
      }
    } finally {
      print.end?.();
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

interface Printer {
  seen(seen: Seen): void;
  /** Default: on stderr. */
  readonly trouble?: (message: string) => void;
  readonly end?: () => void;
}

/** Each sample once, with its time. */
function linePrinter(console: Console): Printer {
  const news = newSamples();
  let said = '';
  return {
    seen({ fleet, none, now }) {
      const time = new Date(now * 1000).toISOString();
      const lines = news(fleet.endpoints).map(
        (endpoint) => `${time} ${endpoint.endpoint_group}: ${endpointInWords(endpoint, fleet, now)}`,
      );
      for (const line of lines) printLine(console, legibleLine(line));
      const notes = (fleet.endpoints.length === 0 ? [none] : fleetNotes(fleet)).join('; ');
      if (notes !== said && notes !== '') printLine(console, legibleLine(`${time} ${notes}`));
      said = notes;
    },
  };
}

function jsonPrinter(console: Console): Printer {
  const news = newSamples();
  let isFirst = true;
  return {
    seen({ fleet, now }) {
      if (news(fleet.endpoints).length > 0 || isFirst) printJson(console, { now, ...fleet });
      isFirst = false;
    },
  };
}

/** Those whose sample or trouble was not there the last time. */
function newSamples(): (endpoints: readonly EndpointStatus[]) => EndpointStatus[] {
  const before = new Map<string, string>();
  return (endpoints) =>
    endpoints.filter((endpoint) => {
      const { endpoint_group: name, last_sample_at: at, last_error: error } = endpoint;
      const state = JSON.stringify([at, error]);
      const isNew = before.get(name) !== state;
      before.set(name, state);
      return isNew;
    });
}

function tablePrinter(console: Console, once: boolean): Printer {
  const screen = createLiveScreen();
  let last: Seen | undefined;
  function draw(seen: Seen, below: readonly string[]): void {
    const { columns = 80, rows = 24 } = console;
    const table = seen.fleet.endpoints.length === 0 ? [seen.none] : fleetTable(seen, columns);
    const lines = [...table, ...below.map((line) => clip(legibleLine(line), columns))];
    console.out(once ? lines.map((line) => `${line}\n`).join('') : screen.frame(lines, { columns, rows }));
  }
  return {
    seen(seen) {
      last = seen;
      draw(seen, []);
    },
    trouble(message) {
      if (last) draw(last, ['', message]);
    },
    end: () => console.out(screen.end()),
  };
}
