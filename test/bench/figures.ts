/** What is measured, and the bounds it is held to. One row of the table in test/bench/README.md each. */

export interface FigureRow {
  readonly id: string;
  /** Of this folder: it measures the figure. */
  readonly script: string;
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

/** Id, script, bound (≤, or ≥ where more is better), aim, unit, what. */
const TABLE = `
memory | at-rest | ≤ 3.2 | 2.6 | × | memory of \`run\`, heart and daemon, with 1 deployment, 1 group, 1 endpoint, scraped, against bare Node
anonymous | at-rest | ≤ 66 | 54 | MB | … of it anonymous
heart-anonymous | at-rest | ≤ 23 | 18 | MB | … the heart alone, anonymous
start | start | ≤ 3.5 | 2.5 | × | start to the first accepted heartbeat, against \`node -e 0\`
idle-cpu | at-rest | ≤ 0.5 | 0.2 | % of a core | CPU at TTL 60 s, a quiet group, one endpoint
silent-tls-files | silent-tls | ≤ 600 | 300 | | open files of 1,000 deployments through 33 s of silent TLS
silent-tls-lapses | silent-tls | ≤ 0 | 0 | | … lapses
many-lapses | many-deployments | ≤ 0 | 0 | | 10,000 deployments at TTL 60 s, a list for the TTLs: lapses
many-lag | many-deployments | ≤ 250 | 250 | ms | … scheduling lag, p99
many-memory | many-deployments | ≤ 350 | 220 | MB | … memory
many-cpu | many-deployments | ≤ 60 | 30 | % of a core | … CPU
one-key-lapses | one-key | ≤ 0 | 0 | | 1,000 deployments of one key under a shared limit that just fits: lapses
one-key-refused | one-key | ≤ 5 | 1 | % | … requests refused
shared-lapses | shared-key | ≤ 0 | 0 | | one request in 2 s for a whole key, TTL 300 s, with 1, 10 and 50 groups, and with 5 and 20 programs: lapses
shared-delay-1 | shared-key | ≤ 8 | 4 | s | … delay of a line with 1 group, median
shared-delay-10 | shared-key | ≤ 40 | 20 | s | … with 10 groups
shared-delay-50 | shared-key | ≤ 200 | 100 | s | … with 50 groups
shared-refused-1 | shared-key | ≤ 5 | 1 | % | … requests refused, of 1 program
shared-refused-5 | shared-key | ≤ 60 | 30 | % | … of 5 programs that do not know of one another
shared-refused-20 | shared-key | ≤ 90 | 60 | % | … of 20 programs
requests | requests | ≤ 700 | 600 | /h | requests to the service an hour, 1 deployment (TTL 300 s), 1 quiet group, 1 endpoint, default settings
align | logs | ≤ 3 | 1 | ms | alignment of 10,000 lines on 10,000, ordinary
align-identical | logs | ≤ 3 | 1 | ms | … all identical
lines | log-lines | ≥ 60000 | 150000 | lines/s | logs end to end (poll, align, spool on disk, stdout), for a second of CPU
late-lines | log-lines | ≥ 40000 | 120000 | lines/s | … with a lagging backend and late lines
line-delay | line-delay | ≤ 1.2 | 0.8 | × | delay of a line at 100 lines/s, from appearing to stdout, median, against the poll interval
groups-memory | log-lines | ≤ 250 | 150 | MB | 100 groups at 1,000 lines/s each: memory
long-lines-memory | log-lines | ≤ 250 | 150 | MB | 100 groups with lines of 8,000 characters, five a second each: memory
metrics | metrics | ≤ 250 | 110 | ms | /metrics with 1,000 deployments and 200 groups, p99
metrics-many | metrics | ≤ 3000 | 1400 | ms | /metrics with 10,000 deployments, p99
emulator | emulator | ≥ 5000 | 15000 | /s | emulator: heartbeats a second, one core
planner | planner | ≤ 2 | 0.5 | s | planner: a million requests
search-excess | search-grid | ≤ 1 | 0.5 | % | extra cost of the set that the search finds, against an exhaustive search of the same space
search-faster | search-grid | ≥ 10 | 30 | × | … times faster
fleet-week | fleet-week | ≤ 60 | 15 | s | a week of the emulator's fleet on virtual time
history-disk | fleet-history | ≤ 350 | 200 | MB | history of 20 endpoints for its 40 days, on disk
history-query | fleet-history | ≤ 250 | 100 | ms | … a query of 40 days of one of them, in 500 rows at most
history-wait | fleet-history | ≤ 60 | 20 | ms | … how long others wait meanwhile
bill-count | fleet-history | ≤ 10 | 3 | s | the bill of a month for them, counted from the samples, as once after a start
bill-query | fleet-history | ≤ 250 | 50 | ms | … asked for
bundle | bundle | ≤ 2.5 | 1 | MB | bundle: what heart and daemon load
`;

export const FIGURES: readonly FigureRow[] = TABLE.trim().split('\n').map(figureOf);

function figureOf(row: string): FigureRow {
  const cells = row.split('|').map((cell) => cell.trim());
  const [id = '', script = '', limit = '', aim, unit = '', what = ''] = cells;
  const [sign, bound] = limit.split(' ');
  const figure = { id, script, what, unit, bound: Number(bound), aim: Number(aim) };
  return sign === '≥' ? { ...figure, atLeast: true } : figure;
}

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
