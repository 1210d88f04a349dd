/** What is measured, and the bounds it is held to (issue 9). One row of the README's table each. */

export interface FigureRow {
  readonly id: string;
  readonly what: string;
  readonly unit: string;
  readonly bound: number;
  readonly aim: number;
  /** Whether more is better, as for rates. */
  readonly atLeast?: true;
}

/** One measured figure, as the scripts of this folder print it: a line of JSON. */
export interface Measurement {
  readonly id: string;
  readonly value: number;
  /** What it was measured against, or under what load, in words. */
  readonly note?: string;
}

export const FIGURES: readonly FigureRow[] = [
  {
    id: 'rss',
    what: 'RSS of `run` with 1 deployment and 1 group, scraped, against bare Node',
    unit: '×',
    bound: 2.3,
    aim: 1.8,
  },
  { id: 'anonymous', what: 'of it anonymous memory', unit: 'MB', bound: 42, aim: 30 },
  {
    id: 'start',
    what: 'start to the first accepted heartbeat, against `node -e 0`',
    unit: '×',
    bound: 3.5,
    aim: 2,
  },
  { id: 'idle-cpu', what: 'CPU at TTL 60 s and a quiet group', unit: '% of a core', bound: 0.5, aim: 0.1 },
  { id: 'many-lapses', what: '10,000 deployments at TTL 60 s: lapses', unit: '', bound: 0, aim: 0 },
  { id: 'many-lag', what: '… scheduling lag, p99', unit: 'ms', bound: 250, aim: 250 },
  { id: 'many-rss', what: '… RSS', unit: 'MB', bound: 350, aim: 200 },
  { id: 'many-cpu', what: '… CPU', unit: '% of a core', bound: 60, aim: 30 },
  { id: 'align', what: 'alignment of 10,000 lines on 10,000, ordinary', unit: 'ms', bound: 3, aim: 1 },
  { id: 'align-identical', what: '… all identical', unit: 'ms', bound: 3, aim: 1 },
  {
    id: 'lines',
    what: 'logs end to end (poll, align, spool on disk, stdout), one core',
    unit: 'lines/s',
    bound: 50_000,
    aim: 200_000,
    atLeast: true,
  },
  { id: 'groups-rss', what: '100 groups at 1,000 lines/s each: RSS', unit: 'MB', bound: 250, aim: 150 },
  {
    id: 'metrics',
    what: '/metrics with 1,000 deployments and 200 groups, p99',
    unit: 'ms',
    bound: 40,
    aim: 10,
  },
  {
    id: 'emulator',
    what: 'emulator: heartbeats a second, one core',
    unit: '/s',
    bound: 5_000,
    aim: 15_000,
    atLeast: true,
  },
  { id: 'planner', what: 'planner: a million requests', unit: 's', bound: 2, aim: 0.5 },
  { id: 'bundle', what: 'bundle: what the daemon loads', unit: 'MB', bound: 2.5, aim: 1 },
];

export function holds({ bound, atLeast }: FigureRow, value: number): boolean {
  return atLeast ? value >= bound : value <= bound;
}

/** Prints a measurement for run.ts to collect, and for a person to read. */
export function report(id: string, value: number, note?: string): void {
  const measurement: Measurement = { id, value: round(value), ...(note !== undefined && { note }) };
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

/** To three significant digits, for no measurement here has more. */
function round(value: number): number {
  return Number(value.toPrecision(3));
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
