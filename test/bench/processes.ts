/**
 * The bundled program and the emulator as processes of their own. The program, heart and daemon, is run by a copy of
 * Node that nothing else runs; the emulator by the Node of the benchmark.
 */
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, existsSync, realpathSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Seed } from '../../src/emulator/seed/seed.ts';
import type { LogRecord } from '../../src/logs/record.ts';
import { root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { IMAGE_ENV, IMAGE_FLAGS } from './image.ts';
import { cpuSecondsOf, memoryOf, processTree, type Memory } from './process-tree.ts';

export const BUNDLE = join(root, 'dist/pilotlight.js');

/** A process with all that it has started. */
export interface Measured extends AsyncDisposable {
  readonly child: ChildProcess;
  /** Of those that run at present, the process itself first. */
  pids(): readonly number[];
  memory(): Memory;
  /** User and system time so far, seconds, with the children that ended. */
  cpuSeconds(): number;
}

export interface EmulatorProcess extends Measured {
  readonly url: string;
  readonly apiKey: string;
  /** How the program reaches it. */
  readonly settings: { readonly API_KEY: string; readonly BASE_URL: string };
}

/** `pilotlight run`: the process itself is the heart. */
export interface BenchProgram extends Measured {
  readonly url: string;
  heartMemory(): Memory;
}

/** Whoever ends by an error in a callback disposes of nothing, and what goes on would run beside all that is measured next. */
const started = new Set<ChildProcess>();
process.on('exit', () => {
  for (const child of started) child.kill('SIGKILL');
});

export function measured(child: ChildProcess): Measured {
  const { pid } = child;
  if (pid === undefined) throw new Error('the process did not start');
  started.add(child);
  // A full pipe would stop it.
  child.stderr?.resume();
  child.once('exit', () => started.delete(child));
  return {
    child,
    pids: () => processTree(pid),
    memory: () => memoryOf(processTree(pid)),
    cpuSeconds: () => cpuSecondsOf(processTree(pid)),
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGTERM');
      const killer = setTimeout(() => child.kill('SIGKILL'), 15_000);
      await exited;
      clearTimeout(killer);
    },
  };
}

export async function startEmulatorProcess(
  seed: Seed,
  dialect: 'spec' | 'public' = 'spec',
  traits: Readonly<Record<string, unknown>> = {},
): Promise<EmulatorProcess> {
  using folder = temporaryFolder();
  const files = Object.entries({ seed, traits }).flatMap(([name, content]) => {
    const file = join(folder.path, `${name}.json`);
    writeFileSync(file, JSON.stringify(content));
    return [`--${name}`, file];
  });
  const args = [BUNDLE, 'emulator', '--port', '0', '--dialect', dialect, ...files];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  for await (const line of createInterface(child.stdout)) {
    const match = /listening on (\S+) \(API key: ([^;)]+)/.exec(line);
    if (!match) continue;
    const [, url = '', apiKey = ''] = match;
    return Object.assign(measured(child), { url, apiKey, settings: { API_KEY: apiKey, BASE_URL: url } });
  }
  throw new Error('the emulator ended before it listened');
}

/** Resolves once heart and daemon have started. */
export async function startProgram(
  node: ProgramCopy,
  settings: Record<string, string>,
  environment: Record<string, string> = {},
): Promise<BenchProgram> {
  const child = spawnProgram(node, settings, environment);
  for await (const line of createInterface(child.stderr!)) {
    if (!line.includes('"pilotlight started"')) continue;
    const { url } = JSON.parse(line) as { url: string };
    const program = measured(child);
    return Object.assign(program, {
      url,
      memory() {
        const pids = program.pids();
        if (pids.length < 2) throw new Error('no daemon runs at present; half of the program was measured');
        return memoryOf(pids);
      },
      heartMemory: () => memoryOf(program.pids().slice(0, 1)),
    });
  }
  throw new Error('the program ended before it started; run it by hand with the same environment');
}

/** `settings` without the PILOTLIGHT_ prefix, `environment` as it is. Worker-group lines go nowhere, unless to a pipe. */
export function spawnProgram(
  node: ProgramCopy,
  settings: Record<string, string>,
  environment: Record<string, string> = {},
  stdout: 'ignore' | 'pipe' | number = 'ignore',
): ChildProcess {
  if (!existsSync(BUNDLE)) throw new Error(`there is no ${BUNDLE} yet: node .config/build.ts`);
  const all = { LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', ...settings };
  const prefixed = Object.entries(all).map(([name, value]) => [`PILOTLIGHT_${name}`, value]);
  return spawn(node.path, [...IMAGE_FLAGS, BUNDLE, 'run'], {
    stdio: ['ignore', stdout, 'pipe'],
    env: {
      PATH: process.env['PATH'],
      ...node.env,
      ...IMAGE_ENV,
      ...environment,
      ...Object.fromEntries(prefixed),
    },
  });
}

/** A program that follows worker groups; `take` gets each of their lines from its standard output. */
export function startFollower(
  node: ProgramCopy,
  settings: Record<string, string>,
  take: (line: string, group: number | undefined) => void,
): Measured {
  const child = spawnProgram(node, { LOG_START: 'end', ...settings }, {}, 'pipe');
  createInterface(child.stdout!).on('line', (text) => {
    const record = JSON.parse(text) as LogRecord;
    if ('line' in record) take(record.line, record.workergroup_id);
  });
  return measured(child);
}

/** CPU of a program while `during` runs, in percent of a core. */
export async function cpuPercent(program: Measured, during: () => Promise<unknown>): Promise<number> {
  const [before, from] = [program.cpuSeconds(), performance.now()];
  await during();
  return ((program.cpuSeconds() - before) / (performance.now() - from)) * 100_000;
}

export function spawnBareNode(node: ProgramCopy, script: string): ChildProcess {
  return spawn(node.path, ['-e', script], {
    stdio: 'ignore',
    env: { PATH: process.env['PATH'], ...node.env },
  });
}

/** Seconds from the command line: `node test/bench/x.ts 300`. */
export function secondsArgument(fallback: number): number {
  const given = Number(process.argv[2]);
  return given > 0 ? given : fallback;
}

export interface ProgramCopy extends Disposable {
  readonly path: string;
  /** With it in the environment the copy loads the copies of its libraries, and so do its children. */
  readonly env: { readonly LD_LIBRARY_PATH: string };
}

/** No other process maps the pages of the copy, so they count whole in the proportional set size. */
export function copyProgram(program: string): ProgramCopy {
  const folder = temporaryFolder();
  const binary = realpathSync(program);
  const path = join(folder.path, basename(binary));
  copyFileSync(binary, path);
  // By the names that the loader looks for, which may be links to files with longer ones.
  for (const library of libraries(binary)) copyFileSync(library, join(folder.path, basename(library)));
  return { ...folder, path, env: { LD_LIBRARY_PATH: folder.path } };
}

/** Shared libraries of a binary, by their paths; none where it has none, or where nobody can tell. */
function libraries(binary: string): string[] {
  const { stdout, status } = spawnSync('ldd', [binary], { encoding: 'utf8' });
  return status === 0 ? [...stdout.matchAll(/=> (\/\S+) \(/g)].map(([, library = '']) => library) : [];
}
