/** The endpoints as a table that fits a terminal, and below it what needs a person. Pure. */
import type { EndpointStatus, FleetStatus } from '../../daemon/status/schema.ts';
import { table } from '../operations/answer/table.ts';
import { clip } from '../text/cell-width.ts';
import { legibleLine } from '../text/legible.ts';
import { money, percent } from '../text/numbers.ts';
import { age, fleetNotes, notesOf, numberOr, countsInWords, spendPerHour, workInWords } from './words.ts';

export interface Seen {
  readonly fleet: FleetStatus;
  /** What to say where there is no endpoint. */
  readonly none: string;
  /** The daemon's clock, Unix seconds. */
  readonly now: number;
}

/** What matters most first: where there is no room, the last ones go. */
const HEADS = ['endpoint', 'load / ready', 'use', 'spend/h', 'workers', 'state', 'reqs', 'seen'];

export function fleetTable({ fleet, now }: Seen, columns: number): string[] {
  const rows = fleet.endpoints.map((endpoint) => cellsOf(endpoint, now).map(legibleLine));
  const notes = fleet.endpoints.flatMap((endpoint) =>
    notesOf(endpoint, fleet, now).map((note) => `${endpoint.endpoint_group}: ${note}`),
  );
  const below = [...notes, ...fleetNotes(fleet)].map(legibleLine);
  return [...table(HEADS, rows, { columns }), ...below].map((line) => clip(line, columns));
}

function cellsOf(endpoint: EndpointStatus, now: number): string[] {
  const { capacity_hot: ready, last_sample_at: at, workers, load, load_in_flight: inFlight } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    endpoint.endpoint_group,
    inFlight === null ? `${numberOr(load)} / ${numberOr(ready)}` : `${numberOr(inFlight)} in flight`,
    inFlight === null || !ready ? useOf(load ?? inFlight, ready) : workInWords(inFlight, ready),
    spend === null ? '?' : money(spend),
    workers === null ? '?' : countsInWords(workers) || 'none',
    endpoint.state ?? '?',
    numberOr(endpoint.requests_working),
    at === null ? 'never' : age(now - at),
  ];
}

function useOf(load: number | null, ready: number | null): string {
  if (load === null || ready === null) return '?';
  if (ready === 0) return load > 0 ? 'none ready' : 'no load';
  return percent(load / ready);
}
