/**
 * Every benchmark against its bounds. README.md has the options. Exit code 1: a bound is broken, or a figure is missing.
 */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { parseArgs } from 'node:util';
import { root } from '../support/optional.ts';
import { FIGURES, holds, quantile, type Measurement } from './figures.ts';
import { benchTable, readResults, RESULTS, withRows, type PeerMeasurement, type Results } from './results.ts';

/** In the order in which they run, with their seconds, and those of --quick, if they take an argument. */
const SCRIPTS: Readonly<Record<string, readonly [full: number, quick: number] | undefined>> = {
  'shared-key': [900, 600],
  requests: [960, 60],
  bundle: undefined,
  start: undefined,
  'at-rest': [300, 30],
  'silent-tls': undefined,
  'many-deployments': [300, 75],
  'one-key': [300, 120],
  logs: undefined,
  'log-lines': [30, 10],
  'line-delay': [60, 10],
  metrics: undefined,
  emulator: undefined,
  planner: undefined,
  'search-grid': undefined,
  'fleet-week': undefined,
  'fleet-history': undefined,
  peers: [120, 10],
};
/** They count requests for a quarter of an hour, and need next to no processor: they run side by side, the others alone. */
const COUNTING = new Set(['shared-key', 'requests']);

const { values } = parseArgs({
  options: {
    quick: { type: 'boolean', default: false },
    only: { type: 'string' },
    record: { type: 'boolean', default: false },
  },
});
const asked = values.only?.split(',').map((name) => FIGURES.find(({ id }) => id === name)?.script ?? name);
const unknown = asked?.filter((name) => !Object.hasOwn(SCRIPTS, name)) ?? [];
if (unknown.length > 0) {
  const known = new Set([...Object.keys(SCRIPTS), ...FIGURES.map(({ id }) => id)]);
  process.stderr.write(`no figure or script ${unknown.join(', ')}; there are ${[...known].join(', ')}\n`);
  process.exit(2);
}
/** Who asks for one figure of a script is shown what else it measured, and judged by it. */
const rows = FIGURES.filter(({ script }) => asked?.includes(script) ?? true);

const measurements = new Map<string, Measurement>();
const peers: PeerMeasurement[] = [];
const build = spawnSync(process.execPath, [join(root, '.config/build.ts')], { stdio: ['ignore', 2, 2] });
if (build.status !== 0) throw new Error('the build failed; nothing was measured');
const scripts = Object.keys(SCRIPTS).filter((name) => asked?.includes(name) ?? true);
await Promise.all(scripts.filter((name) => COUNTING.has(name)).map(measure));
for (const name of scripts) if (!COUNTING.has(name)) await measure(name);
const results: Results = {
  date: new Date().toISOString(),
  revision: git('describe', '--always', '--dirty'),
  cpu: `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}`,
  node: process.versions.node,
  quick: values.quick,
  loadAverage: loadavg()[2] ?? 0,
  bareStartMs: bareStartMs(),
  figures: FIGURES.flatMap(({ id }) => measurements.get(id) ?? []),
  peers,
};
const kept = asked === undefined ? results : values.record ? withRows(readResults(), results) : undefined;
if (kept && !values.quick)
  writeFileSync(RESULTS, `${JSON.stringify(kept, null, 2).replaceAll(/(?<!^)\{[^{}]*\}/g, onOneLine)}\n`);
process.stdout.write(`\n${benchTable(results, rows)}\n`);
const failed = rows.filter((figure) => {
  const value = measurements.get(figure.id)?.value;
  return value === undefined || !holds(figure, value);
});
if (failed.length > 0) {
  process.stderr.write(`\nmissing or out of bounds: ${failed.map(({ id }) => id).join(', ')}\n`);
  process.exitCode = 1;
}

function onOneLine(figure: string): string {
  return figure.replaceAll(/\s*\n\s*/g, ' ');
}

/** How fast this machine is just now at what a program does: a loop of sums says nothing of memory and system calls. */
function bareStartMs(): number {
  const times = Array.from({ length: 15 }, () => {
    const from = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    return performance.now() - from;
  });
  return Math.round(quantile(times, 0.5));
}

/** Lines of JSON are measurements; a script may print others, for people. */
async function measure(name: string): Promise<void> {
  process.stderr.write(`${name} …\n`);
  const path = join(root, `test/bench/${name}.ts`);
  const duration = SCRIPTS[name]?.[values.quick ? 1 : 0];
  const child = spawn(process.execPath, [path, ...(duration === undefined ? [] : [String(duration)])], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const exited = once(child, 'exit') as Promise<[number | null]>;
  for await (const line of createInterface(child.stdout)) {
    process.stderr.write(`  ${line}\n`);
    if (!line.startsWith('{')) continue;
    const said = JSON.parse(line) as Measurement | PeerMeasurement;
    if ('peer' in said) peers.push(said);
    else measurements.set(said.id, said);
  }
  const [code] = await exited;
  if (code === 0) return;
  process.stderr.write(`${name} ended with code ${String(code)}\n`);
  process.exitCode = 1;
}

function git(...args: readonly string[]): string {
  const { stdout, status } = spawnSync('git', args, { cwd: root, encoding: 'utf8' });
  return status === 0 ? stdout.trim() : 'unknown';
}
