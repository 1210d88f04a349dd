/**
 * Every benchmark, one after the other: builds the bundle, prints the table of figures against their bounds, and
 * writes results.json, from which the README has its table. Run: npm run bench [-- --quick] [-- --only rss,start]
 * Exit code 1: a bound is broken, or a figure is missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { root } from '../support/optional.ts';
import { FIGURES, holds, type Measurement } from './figures.ts';
import type { GrowthPoint } from './growth-rows.ts';
import type { PeerMeasurement } from './peer-rows.ts';
import { benchTable, RESULTS, type Results } from './results.ts';

interface Script {
  readonly name: string;
  /** What it measures: ids of FIGURES; none where it fills a table of its own. */
  readonly figures: readonly string[];
  /** How long it runs, seconds, where it takes an argument; and with --quick. */
  readonly seconds?: readonly [full: number, quick: number];
}

const SCRIPTS: readonly Script[] = [
  { name: 'bundle', figures: ['bundle'] },
  { name: 'start', figures: ['start'] },
  { name: 'daemon', figures: ['rss', 'anonymous', 'idle-cpu'], seconds: [300, 30] },
  {
    name: 'many-deployments',
    figures: ['many-lapses', 'many-lag', 'many-rss', 'many-cpu'],
    seconds: [300, 75],
  },
  { name: 'logs', figures: ['align', 'align-identical'] },
  { name: 'log-lines', figures: ['lines', 'groups-rss'], seconds: [30, 10] },
  { name: 'metrics', figures: ['metrics'] },
  { name: 'emulator', figures: ['emulator'] },
  { name: 'planner', figures: ['planner'] },
  { name: 'growth', figures: [], seconds: [20, 5] },
  { name: 'peers', figures: [], seconds: [30, 10] },
];

const { values } = parseArgs({
  options: { quick: { type: 'boolean', default: false }, only: { type: 'string' } },
});
const wanted = values.only?.split(',') ?? FIGURES.map(({ id }) => id);
const unknown = wanted.filter((id) => !FIGURES.some((figure) => figure.id === id));
if (unknown.length > 0) {
  process.stderr.write(
    `no figure ${unknown.join(', ')}; there are ${FIGURES.map(({ id }) => id).join(', ')}\n`,
  );
  process.exit(2);
}

const measurements = new Map<string, Measurement>();
const growth: GrowthPoint[] = [];
const peers: PeerMeasurement[] = [];
run('.config/build.ts');
for (const script of SCRIPTS) {
  const asked = script.figures.some((id) => wanted.includes(id));
  if (asked || (script.figures.length === 0 && values.only === undefined)) await measure(script);
}
const results: Results = {
  date: new Date().toISOString(),
  revision: git('describe', '--always', '--dirty'),
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.versions.node,
  quick: values.quick,
  loadAverage: loadavg()[2] ?? 0,
  figures: FIGURES.flatMap(({ id }) => measurements.get(id) ?? []),
  growth,
  peers,
};
if (values.only === undefined) writeFileSync(RESULTS, `${JSON.stringify(results, null, 2)}\n`);
process.stdout.write(`\n${benchTable(results)}\n`);
const failed = FIGURES.filter((figure) => {
  const value = measurements.get(figure.id)?.value;
  return wanted.includes(figure.id) && (value === undefined || !holds(figure, value));
});
if (failed.length > 0) {
  process.stderr.write(`\nmissing or out of bounds: ${failed.map(({ id }) => id).join(', ')}\n`);
  process.exitCode = 1;
}

/** Lines of JSON are measurements; a script may print others, for people. */
async function measure({ name, seconds }: Script): Promise<void> {
  process.stderr.write(`${name} …\n`);
  const path = join(root, `test/bench/${name}.ts`);
  const duration = seconds?.[values.quick ? 1 : 0];
  const child = spawn(process.execPath, [path, ...(duration === undefined ? [] : [String(duration)])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  for await (const line of createInterface(child.stdout)) {
    process.stderr.write(`  ${line}\n`);
    if (!line.startsWith('{')) continue;
    const said = JSON.parse(line) as Measurement | GrowthPoint | PeerMeasurement;
    if ('growth' in said) growth.push(said);
    else if ('peer' in said) peers.push(said);
    else measurements.set(said.id, said);
  }
  const [code] = await exited;
  if (code !== 0) process.stderr.write(`${name} ended with code ${String(code)}\n`);
}

function run(script: string): void {
  const { status } = spawnSync(process.execPath, [join(root, script)], { stdio: ['ignore', 2, 2] });
  if (status !== 0) throw new Error(`${script} failed; nothing was measured`);
}

function git(...args: readonly string[]): string {
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}
