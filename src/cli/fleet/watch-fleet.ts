/** `fleet`: polls a running daemon, and prints its endpoints as a table, lines or JSON. */
import { setTimeout as sleep } from 'node:timers/promises';
import { EXIT } from '../../config/exit-codes.ts';
import { isoTime } from '../../contract/schemas.ts';
import type { EndpointStatus, Status } from '../../daemon/status/schema.ts';
import { printError, printJson, printLine, type Console, InputError } from '../console.ts';
import { clip, table, legibleLine, money, percent } from '../text.ts';
import { DaemonAway, fetchStatus, fleetSchema, type DaemonAddress } from './daemon.ts';
import { endpointInWords } from './words.ts';
import { fleetTroubles, noEndpoints, spendPerHour } from '../../daemon/status/page/status-summary.js';
import { counted, seconds, short } from '../../daemon/status/page/status-words.js';

export interface FleetFlags {
  readonly json?: boolean;
  readonly once?: boolean;
  /** ms */
  readonly every: number;
}

/** An answer of the daemon, with the chosen endpoints alone. */
export type FleetPoll = Pick<Status, 'now' | 'replica' | 'fleet'>;
type Print = (poll: FleetPoll, trouble?: string) => void;

export async function watchFleet(
  daemon: DaemonAddress,
  wanted: string | undefined,
  { json = false, once = false, every }: FleetFlags,
  console: Console,
): Promise<number> {
  const screen = json || console.columns === undefined ? undefined : createLiveScreen();
  const print = screen ? tablePrinter(console, once, screen) : samplePrinter(console, json);
  return await console.interruptible(async (signal) => {
    let last: FleetPoll | undefined;
    try {
      for (;;) {
        try {
          const status = await fetchStatus(daemon, fleetSchema, signal);
          last = { ...status, fleet: { ...status.fleet, endpoints: chosenEndpoints(status, wanted) } };
          print(last);
        } catch (error) {
          // A restarting daemon knows no endpoint yet: the live view goes on.
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

/** By label or id; default: all. @throws InputError if there is no such endpoint */
export function chosenEndpoints(status: FleetPoll, wanted: string | undefined): readonly EndpointStatus[] {
  const { endpoints } = status.fleet;
  if (wanted === undefined) return endpoints;
  const found = endpoints.find(
    ({ endpoint_group: name, endpoint_id: id }) => name === wanted || String(id) === wanted,
  );
  if (found) return [found];
  const names = endpoints.map(({ endpoint_group: name }) => legibleLine(name)).join(', ');
  throw new InputError(`no endpoint ${wanted}; ${names === '' ? noEndpoints(status) : `there is: ${names}`}`);
}

function samplePrinter(console: Console, json: boolean): Print {
  const before = new Map<string, string>();
  let said: string | undefined;
  return (poll, trouble) => {
    const { fleet, now } = poll;
    if (trouble !== undefined) return printError(console, trouble);
    const fresh = fleet.endpoints.filter(
      ({ endpoint_group: name, last_sample_at: at, last_error: error }) => {
        const state = JSON.stringify([at, error]);
        const isNew = before.get(name) !== state;
        before.set(name, state);
        return isNew;
      },
    );
    const notes = notesOf(poll).join('; ');
    // Ages in them change with each poll.
    const kind = notes.replaceAll(/[\d.]+/g, '');
    const [isFirst, hasNotes] = [said === undefined, notes !== '' && kind !== said];
    said = kind;
    if (json) {
      if (fresh.length > 0 || isFirst) printJson(console, { now, ...fleet });
      return;
    }
    const lines = fresh.map((one) => `${one.endpoint_group}: ${endpointInWords(one, now)}`);
    for (const line of hasNotes ? [...lines, notes] : lines)
      printLine(console, legibleLine(`${isoTime(now)} ${line}`));
  };
}

function tablePrinter(console: Console, once: boolean, screen: ReturnType<typeof createLiveScreen>): Print {
  return (poll, trouble) => {
    const { columns = 80, rows = 24 } = console;
    const top = poll.fleet.endpoints.length === 0 ? notesOf(poll) : fleetTable(poll, columns);
    const below = trouble === undefined ? [] : ['', clip(legibleLine(trouble), columns)];
    const lines = [...top, ...below];
    console.out(once ? lines.map((line) => `${line}\n`).join('') : screen.frame(lines, { columns, rows }));
  };
}

/** What matters most first: if there is no room, the last ones go. */
const HEADS = ['endpoint', 'load / ready', 'use', 'spend/h', 'workers', 'state', 'reqs', 'seen'];

export function fleetTable(poll: FleetPoll, columns: number): string[] {
  const rows = poll.fleet.endpoints.map((endpoint) => cellsOf(endpoint, poll.now).map(legibleLine));
  const below = notesOf(poll).map(legibleLine);
  return [...table(HEADS, rows, { columns }), ...below].map((line) => clip(line, columns));
}

function notesOf(poll: FleetPoll): readonly string[] {
  if (poll.fleet.endpoints.length === 0) return [`Endpoints: ${noEndpoints(poll)}`];
  return fleetTroubles(poll, poll.now).map(([, text]) => text);
}

function cellsOf(endpoint: EndpointStatus, now: number): string[] {
  const { capacity_hot: ready, last_sample_at: at, workers, load, load_in_flight: inFlight } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    endpoint.endpoint_group,
    inFlight === null ? `${short(load)} / ${short(ready)}` : `${short(inFlight)} in flight`,
    inFlight === null || !ready ? useOf(load ?? inFlight, ready) : seconds(inFlight / ready),
    spend === null ? '—' : money(spend),
    workers === null ? '—' : counted(workers) || 'none',
    endpoint.state ?? '—',
    short(endpoint.requests_working),
    at === null ? 'never' : seconds(Math.max(0, now - at)),
  ];
}

function useOf(load: number | null, ready: number | null): string {
  if (load === null || ready === null) return '—';
  if (ready === 0) return load > 0 ? 'none ready' : 'no load';
  return percent(load / ready);
}

const HIDE_CURSOR = '\u001B[?25l';
const SHOW_CURSOR = '\u001B[?25h';
const CLEAR_TO_END_OF_LINE = '\u001B[K';
const CLEAR_BELOW = '\u001B[J';
const CLEAR_ALL = '\u001B[2J\u001B[H';

export function createLiveScreen() {
  let before: { readonly columns: number; readonly height: number } | undefined;

  return {
    frame(lines: readonly string[], { columns, rows }: { readonly columns: number; readonly rows: number }) {
      // Lines above the top of the terminal cannot be reached any more.
      const most = Math.max(1, rows - 1);
      const left = lines.length - most + 1;
      const shown = left > 1 ? [...lines.slice(0, most - 1), clip(`… ${left} more lines`, columns)] : lines;
      let start = HIDE_CURSOR;
      // A narrower terminal has broken the old lines: their start is unknown.
      if (before && before.columns !== columns) start = CLEAR_ALL;
      else if (before) start = before.height > 0 ? `\u001B[${before.height}A\r` : '';
      before = { columns, height: shown.length };
      return start + shown.map((line) => `${line}${CLEAR_TO_END_OF_LINE}\n`).join('') + CLEAR_BELOW;
    },
    end: () => (before ? SHOW_CURSOR : ''),
  };
}
