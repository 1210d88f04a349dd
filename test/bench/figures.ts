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
memory | at-rest | ≤ 3.2 | 2.2 | × | memory of \`run\`, heart and daemon, with 1 deployment, 1 group, 1 endpoint, scraped, against bare Node
anonymous | at-rest | ≤ 66 | 54 | MB | … of it anonymous
heart-anonymous | at-rest | ≤ 23 | 18 | MB | … the heart alone, anonymous
start | start | ≤ 3.5 | 2.5 | × | start to the first accepted heartbeat, against \`node -e 0\`
idle-cpu | at-rest | ≤ 0.5 | 0.2 | % of a core | CPU at TTL 60 s, a group with a line in 10 s, one endpoint
silent-tls-files | silent-tls | ≤ 600 | 300 | | open files while the service answers no TLS handshake for 33 s, 1,000 deployments
silent-tls-lapses | silent-tls | ≤ 0 | 0 | | … lapses
many-lapses | many-deployments | ≤ 0 | 0 | | 10,000 deployments, TTL 60 s, TTLs from the service's list: lapses
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
lines-bytes | log-lines | ≥ 0.7 | 1 | × | … where \`tail\` counts bytes, against lines
late-lines | log-lines | ≥ 40000 | 120000 | lines/s | … with a lagging backend and late lines
line-delay-lines | line-delay | ≤ 1.2 | 0.8 | × | delay of a line at 100 lines/s, from appearing to stdout, median, against the poll interval
line-delay-bytes | line-delay | ≤ 1.2 | 0.8 | × | … where \`tail\` counts bytes
fetched-lines | line-delay | ≤ 5 | 3 | × | bytes fetched for a byte of the log, at 100 lines/s
fetched-bytes | line-delay | ≤ 5 | 3 | × | … where \`tail\` counts bytes
fetched-slow-lines | line-delay | ≤ 30 | 10 | × | … at one line a second
fetched-slow-bytes | line-delay | ≤ 30 | 10 | × | … at one line a second, in bytes
groups-memory | log-lines | ≤ 250 | 150 | MB | 100 groups at 1,000 lines/s each: memory
long-lines-memory | log-lines | ≤ 250 | 150 | MB | 100 groups with lines of 8,000 characters, five a second each: memory
metrics | metrics | ≤ 250 | 110 | ms | /metrics with 1,000 deployments and 200 groups, p99
metrics-many | metrics | ≤ 3000 | 1400 | ms | /metrics with 10,000 deployments, p99
emulator | emulator | ≥ 5000 | 15000 | /s | emulator: heartbeats a second, one core
planner | planner | ≤ 2 | 0.5 | s | planner: a million requests
search-excess | search-grid | ≤ 1 | 0.5 | % | cost of the set that \`plan --search\` finds, above the cheapest of all sets
search-faster | search-grid | ≥ 10 | 30 | × | … times faster
fleet-week | fleet-week | ≤ 60 | 15 | s | a week of the emulator's fleet on virtual time
history-disk | fleet-history | ≤ 350 | 200 | MB | history of 20 endpoints for its 40 days, on disk
history-query | fleet-history | ≤ 250 | 100 | ms | … a query of 40 days of one of them, in 500 rows at most
history-wait | fleet-history | ≤ 60 | 20 | ms | … the longest block of the event loop meanwhile
bill-count | fleet-history | ≤ 10 | 3 | s | time to count a month's bill of 20 endpoints, once after a start
bill-query | fleet-history | ≤ 250 | 50 | ms | … to answer \`/api/bill\`
bundle | bundle | ≤ 2.5 | 1 | MB | bundle: what heart and daemon load for deployments alone
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
