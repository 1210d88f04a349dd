/** The bundled daemon and the emulator as processes of their own, and what the kernel's books say of them. */
import { spawn, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import type { Seed } from '../../src/emulator/seed/schema.ts';
import { root } from '../support/optional.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** V8's flags and malloc's settings as the image has them: the daemon is measured as it runs there. */
const IMAGE = readFileSync(join(root, 'Dockerfile'), 'utf8');
const IMAGE_FLAGS = [...IMAGE.matchAll(/"(--[a-z-]+=\d+)"(?=.*pilotlight\.js)/g)].map(
  ([, flag = '']) => flag,
);
const IMAGE_ENV = Object.fromEntries(
  [...IMAGE.matchAll(/^ENV (MALLOC_\w+)=(\d+)$/gm)].map(([, name = '', value = '']) => [name, value]),
);
export const BUNDLE = join(root, 'dist/pilotlight.js');
/** Linux counts a process' CPU time in these; 100 on every architecture that Node runs on. */
const TICKS_PER_SECOND = 100;

export interface Measured extends AsyncDisposable {
  readonly child: ChildProcess;
  memory(): { readonly rssMb: number; readonly anonymousMb: number };
  /** User and system time so far, seconds, all threads. */
  cpuSeconds(): number;
}

export interface EmulatorProcess extends Measured {
  readonly url: string;
  readonly apiKey: string;
}

export interface BenchDaemon extends Measured {
  readonly url: string;
}

export function measured(child: ChildProcess): Measured {
  const { pid } = child;
  if (pid === undefined) throw new Error('the process did not start');
  return {
    child,
    memory() {
      const status = readFileSync(`/proc/${pid}/status`, 'utf8');
      const kib = (name: string) => Number(new RegExp(`^${name}:\\s+(\\d+) kB`, 'm').exec(status)?.[1]);
      return { rssMb: (kib('VmRSS') * 1024) / 1e6, anonymousMb: (kib('RssAnon') * 1024) / 1e6 };
    },
    cpuSeconds() {
      // The name, in parentheses, may hold spaces; user and system time are fields 14 and 15.
      const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? [];
      return (Number(fields[11]) + Number(fields[12])) / TICKS_PER_SECOND;
    },
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

export async function startEmulatorProcess(seed: Seed): Promise<EmulatorProcess> {
  using folder = temporaryFolder();
  const file = join(folder.path, 'seed.json');
  writeFileSync(file, JSON.stringify(seed));
  const child = spawn(process.execPath, [BUNDLE, 'emulator', '--port', '0', '--seed', file], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const line of createInterface(child.stdout)) {
    const match = /listening on (\S+) \(API key: ([^;)]+)/.exec(line);
    if (match) return Object.assign(measured(child), { url: match[1] ?? '', apiKey: match[2] ?? '' });
  }
  throw new Error('the emulator ended before it listened');
}

/** `env` without the PILOTLIGHT_ prefix. Worker-group lines go nowhere. Resolves once it has started. */
export async function startBenchDaemon(env: Record<string, string>): Promise<BenchDaemon> {
  const child = spawnDaemon(env);
  for await (const line of createInterface(child.stderr!)) {
    if (!line.includes('"pilotlight started"')) continue;
    const { url } = JSON.parse(line) as { url: string };
    child.stderr!.resume();
    return Object.assign(measured(child), { url });
  }
  throw new Error('the daemon ended before it started; run it by hand with the same environment');
}

export function spawnDaemon(env: Record<string, string>): ChildProcess {
  const all = { LISTEN: '127.0.0.1:0', ADMIN_LISTEN: '127.0.0.1:0', ...env };
  const prefixed = Object.entries(all).map(([name, value]) => [`PILOTLIGHT_${name}`, value]);
  return spawn(process.execPath, [...IMAGE_FLAGS, BUNDLE, 'run'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { PATH: process.env['PATH'], ...IMAGE_ENV, ...Object.fromEntries(prefixed) },
  });
}

/** Seconds from the command line: `node test/bench/x.ts 300`. */
export function secondsArgument(fallback: number): number {
  const given = Number(process.argv[2]);
  return given > 0 ? given : fallback;
}
