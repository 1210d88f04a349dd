/** What is measured, and the bounds it is held to. One row of the table in test/bench/README.md each. */

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
  /** Of the repository and the day, where it is from a run of its own (`--record`), and not from that of all others. */
  readonly since?: string;
}

export const FIGURES: readonly FigureRow[] = [
  {
    id: 'memory',
    what: 'memory of `run`, heart and daemon, with 1 deployment, 1 group, 1 endpoint, scraped, against bare Node',
    unit: '×',
    bound: 3.2,
    aim: 2.6,
  },
  { id: 'anonymous', what: '… of it anonymous', unit: 'MB', bound: 66, aim: 54 },
  { id: 'heart-anonymous', what: '… the heart alone, anonymous', unit: 'MB', bound: 23, aim: 18 },
  {
    id: 'start',
    what: 'start to the first accepted heartbeat, against `node -e 0`',
    unit: '×',
    bound: 3.5,
    aim: 2.5,
  },
  {
    id: 'idle-cpu',
    what: 'CPU at TTL 60 s, a quiet group, one endpoint',
    unit: '% of a core',
    bound: 0.5,
    aim: 0.2,
  },
  {
    id: 'silent-tls-files',
    what: 'open files of 1,000 deployments through 33 s of silent TLS',
    unit: '',
    bound: 600,
    aim: 300,
  },
  { id: 'silent-tls-lapses', what: '… lapses', unit: '', bound: 0, aim: 0 },
  {
    id: 'many-lapses',
    what: '10,000 deployments at TTL 60 s, a list for the TTLs: lapses',
    unit: '',
    bound: 0,
    aim: 0,
  },
  { id: 'many-lag', what: '… scheduling lag, p99', unit: 'ms', bound: 250, aim: 250 },
  { id: 'many-memory', what: '… memory', unit: 'MB', bound: 350, aim: 220 },
  { id: 'many-cpu', what: '… CPU', unit: '% of a core', bound: 60, aim: 30 },
  {
    id: 'one-key-lapses',
    what: '1,000 deployments of one key under a shared limit that just fits: lapses',
    unit: '',
    bound: 0,
    aim: 0,
  },
  { id: 'one-key-refused', what: '… requests refused', unit: '%', bound: 5, aim: 1 },
  {
    id: 'requests',
    what: 'requests to the service an hour, 1 deployment (TTL 300 s), 1 quiet group, 1 endpoint, default settings',
    unit: '/h',
    bound: 700,
    aim: 600,
  },
  { id: 'align', what: 'alignment of 10,000 lines on 10,000, ordinary', unit: 'ms', bound: 3, aim: 1 },
  { id: 'align-identical', what: '… all identical', unit: 'ms', bound: 3, aim: 1 },
  {
    id: 'lines',
    what: 'logs end to end (poll, align, spool on disk, stdout), for a second of CPU',
    unit: 'lines/s',
    bound: 60_000,
    aim: 150_000,
    atLeast: true,
  },
  {
    id: 'late-lines',
    what: '… with a lagging backend and late lines',
    unit: 'lines/s',
    bound: 40_000,
    aim: 120_000,
    atLeast: true,
  },
  {
    id: 'line-delay',
    what: 'delay of a line at 100 lines/s, from appearing to stdout, median, against the poll interval',
    unit: '×',
    bound: 1.2,
    aim: 0.8,
  },
  { id: 'groups-memory', what: '100 groups at 1,000 lines/s each: memory', unit: 'MB', bound: 250, aim: 150 },
  {
    id: 'long-lines-memory',
    what: '100 groups with lines of 8,000 characters, five a second each: memory',
    unit: 'MB',
    bound: 250,
    aim: 150,
  },
  {
    id: 'metrics',
    what: '/metrics with 1,000 deployments and 200 groups, p99',
    unit: 'ms',
    bound: 250,
    aim: 110,
  },
  { id: 'metrics-many', what: '/metrics with 10,000 deployments, p99', unit: 'ms', bound: 3_000, aim: 1_400 },
  {
    id: 'emulator',
    what: 'emulator: heartbeats a second, one core',
    unit: '/s',
    bound: 5_000,
    aim: 15_000,
    atLeast: true,
  },
  { id: 'planner', what: 'planner: a million requests', unit: 's', bound: 2, aim: 0.5 },
  {
    id: 'search-excess',
    what: 'search against an exhaustive one of the same space: cost of what it names beyond the cheapest',
    unit: '%',
    bound: 1,
    aim: 0.5,
  },
  { id: 'search-faster', what: '… times faster', unit: '×', bound: 10, aim: 30, atLeast: true },
  { id: 'fleet-week', what: "a week of the emulator's fleet on virtual time", unit: 's', bound: 60, aim: 15 },
  {
    id: 'history-disk',
    what: 'history of 20 endpoints for its 40 days, on disk',
    unit: 'MB',
    bound: 350,
    aim: 200,
  },
  {
    id: 'history-query',
    what: '… a query of 40 days of one of them, in 500 rows at most',
    unit: 'ms',
    bound: 250,
    aim: 100,
  },
  { id: 'history-wait', what: '… how long others wait meanwhile', unit: 'ms', bound: 60, aim: 20 },
  { id: 'bundle', what: 'bundle: what heart and daemon load', unit: 'MB', bound: 2.5, aim: 1 },
];

export function holds({ bound, atLeast }: FigureRow, value: number): boolean {
  return atLeast ? value >= bound : value <= bound;
}

/** Prints a measurement for run.ts to collect, and for a person to read. */
export function report(id: string, value: number, note?: string): void {
  if (!Number.isFinite(value)) throw new Error(`${id} was not measured: ${value}`);
  const measurement: Measurement = { id, value, ...(note !== undefined && { note }) };
  process.stdout.write(`${JSON.stringify(measurement)}\n`);
}

/** @throws Where what was measured is not what the figure is of: a program that does nothing is small and quick. */
export function ensure(holdsTrue: boolean, what: string): void {
  if (!holdsTrue) throw new Error(`nothing was measured; expected: ${what}`);
}

export function quantile(values: readonly number[], part: number): number {
  const sorted = values.toSorted((one, other) => one - other);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
}
