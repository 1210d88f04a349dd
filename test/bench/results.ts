/** The figures of one run of all benchmarks, and the tables that show them. */
import { existsSync, readFileSync } from 'node:fs';
import { FIGURES, holds, type FigureRow, type Measurement } from './figures.ts';

export const RESULTS = new URL('results.json', import.meta.url);

export interface Results {
  /** When the run ended, ISO 8601. */
  readonly date: string;
  /** Of the repository, with `-dirty` when it had changes. */
  readonly revision: string;
  readonly cpu: string;
  readonly node: string;
  /** Shorter measurements, of which memory has grown less. */
  readonly quick: boolean;
  /** Of the machine over the last 15 minutes: what else ran beside it shows here. */
  readonly loadAverage: number;
  /** How long `node -e 0` takes, which took 24 ms on the machine where the bounds were set. */
  readonly bareStartMs: number;
  readonly figures: readonly Measurement[];
  readonly peers: readonly PeerMeasurement[];
}

export function readResults(): Results | undefined {
  return existsSync(RESULTS) ? (JSON.parse(readFileSync(RESULTS, 'utf8')) as Results) : undefined;
}

/** The figures of a run of some benchmarks in place of those of a whole one; its peers stay. */
export function withRows(whole: Results | undefined, some: Results): Results {
  if (whole === undefined) throw new Error('there is no whole run yet to record them in: npm run bench');
  const since = `${some.date.slice(0, 10)} at ${some.revision}`;
  const measured = new Map(some.figures.map((figure) => [figure.id, { ...figure, since }]));
  const figures = FIGURES.flatMap(
    ({ id }) => measured.get(id) ?? whole.figures.find((figure) => figure.id === id) ?? [],
  );
  return { ...whole, figures };
}

/** In Markdown: a row for each figure, the peers, and where all of it comes from. */
export function benchTable(results: Results | undefined, figures: readonly FigureRow[] = FIGURES): string {
  if (!results) return 'Not measured yet: `npm run bench`.';
  const { peers } = results;
  const tables = [
    figures.length > 0 && figureTable(results, figures),
    peers.length > 0 && peerTable(peers),
  ].filter((table) => table !== false);
  return [...tables, MEMORY, origin(results)].join('\n\n');
}

const MEMORY =
  'Memory is the proportional set size (`Pss` of `/proc/PID/smaps_rollup`) of all processes of a program, heart and ' +
  'daemon here. Each program runs from a copy of its binary and libraries that nothing else runs, as on a machine of ' +
  'its own. CPU counts all processes too.';

function figureTable({ figures }: Results, rows: readonly FigureRow[]): string {
  const cells = rows.map((figure) => {
    const { what, unit, bound, aim, atLeast } = figure;
    const sign = atLeast ? '≥' : '≤';
    const found = figures.find(({ id }) => id === figure.id);
    const held = found === undefined ? '' : holds(figure, found.value) ? 'yes' : '**no**';
    return [
      what,
      found ? quantity(found.value, unit) : 'not measured',
      `${sign} ${quantity(bound, unit)}`,
      `${sign} ${quantity(aim, unit)}`,
      held,
      noteOf(found),
    ];
  });
  const header = ['figure', 'measured', 'bound', 'aim', 'holds', 'note'];
  return markdown(header, cells);
}

function markdown(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, header.map(() => '---'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}

function noteOf(found: Measurement | undefined): string {
  return [found?.note, found?.since && `measured ${found.since}`].filter((part) => part).join('; ');
}

function origin({ date, revision, cpu, node, quick, loadAverage, bareStartMs }: Results): string {
  return (
    `Measured ${date.slice(0, 10)} at ${revision} on ${cpu}, Node ${node}, ` +
    `load average ${loadAverage.toFixed(1)}${quick ? ', with short durations (`--quick`)' : ''}. ` +
    `\`node -e 0\` took ${bareStartMs} ms, and 24 ms on the machine that the bounds were set on.`
  );
}

function quantity(value: number, unit: string): string {
  const text = value.toLocaleString('en', { maximumSignificantDigits: 3 });
  return unit === '×' ? `${text}×` : `${text} ${unit}`.trimEnd();
}

/** As peers.ts prints it: a line of JSON. */
export interface PeerMeasurement {
  readonly peer: string;
  /** Proportional set size of the peer and all that it has started. */
  readonly memoryMb: number;
  readonly anonymousMb: number;
  /** To the first heartbeat that arrives. */
  readonly startMs: number;
  readonly cpuMsPerBeat: number;
}

const PEERS: Readonly<Record<string, string>> = {
  pilotlight: 'pilotlight, with metrics, status and checks',
  naive: 'a daemon of the same packages, written in an afternoon',
  vendor: "the vendor SDK's loop, in Python",
  curl: 'curl in a shell loop',
};

export function reportPeer(measurement: PeerMeasurement): void {
  const rounded = JSON.stringify(measurement, (_, value: unknown) =>
    typeof value === 'number' ? Number(value.toPrecision(3)) : value,
  );
  process.stdout.write(`${rounded}\n`);
}

function peerTable(measurements: readonly PeerMeasurement[]): string {
  const header = [
    'one deployment',
    'memory, MB',
    'anonymous, MB',
    'first heartbeat, ms',
    'CPU for a heartbeat, ms',
  ];
  const rows = measurements.map(({ peer, memoryMb, anonymousMb, startMs, cpuMsPerBeat }) => [
    PEERS[peer] ?? peer,
    ...[memoryMb, anonymousMb, startMs, cpuMsPerBeat].map((value) => String(value)),
  ]);
  return markdown(header, rows);
}
