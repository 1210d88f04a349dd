/** A child process as a user starts it, with what it printed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { root } from './optional.ts';
import { PROGRAM } from './program.ts';

/** Less than a test has: what was waited for is known then, and not only that a test took too long. */
export const PATIENCE_MS = 280_000;

const running = new Set<ChildProcess>();

process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL');
});
/** A test that takes too long never comes to its end, nor does the process of its file: it gets a SIGTERM. */
process.on('SIGTERM', () => {
  // A test of signals has listeners of its own.
  if (process.listenerCount('SIGTERM') === 1) process.exit(143);
});

export interface Program extends AsyncDisposable {
  readonly child: ChildProcess;
  stdout(): string;
  stderr(): string;
  seen(pattern: RegExp): Promise<RegExpExecArray>;
  /** Resolves with the exit code; a signal that ended it is negative. */
  readonly exit: Promise<number>;
}

/** Runs the program with the Node that runs the tests; nothing of this process' PILOTLIGHT_ environment leaks in. */
export function startPilotlight(
  args: readonly string[],
  env: Record<string, string> = {},
  cwd?: string,
): Program {
  return startProgram(process.execPath, [PROGRAM, ...args], env, cwd);
}

export function startProgram(
  command: string,
  args: readonly string[],
  env: Record<string, string> = {},
  cwd: string = root,
  stdin: 'ignore' | 'pipe' = 'ignore',
): Program {
  const clean = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !name.startsWith('PILOTLIGHT_')),
  );
  const child = spawn(command, [...args], { cwd, env: { ...clean, ...env }, stdio: [stdin, 'pipe', 'pipe'] });
  running.add(child);
  const printed = { stdout: '', stderr: '' };
  const watchers = new Set<() => void>();
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (chunk: string) => {
      printed[name] += chunk;
      for (const watcher of watchers) watcher();
    });
  }
  const exit = new Promise<number>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child);
      resolve(signal === null ? (code ?? -1) : -1);
      for (const watcher of watchers) watcher();
    });
  });
  let ended = false;
  void exit.then(() => (ended = true));

  return {
    child,
    stdout: () => printed.stdout,
    stderr: () => printed.stderr,
    exit,
    seen: (pattern) =>
      new Promise((resolve, reject) => {
        const printedSoFar = (): string => `${pattern}:\n${printed.stderr}${printed.stdout}`;
        const late = setTimeout(
          () => reject(new Error(`has not printed within ${PATIENCE_MS} ms ${printedSoFar()}`)),
          PATIENCE_MS,
        );
        function look(): void {
          const match = pattern.exec(printed.stderr) ?? pattern.exec(printed.stdout);
          if (match) resolve(match);
          else if (!ended) return;
          else reject(new Error(`ended without printing ${printedSoFar()}`));
          clearTimeout(late);
          watchers.delete(look);
        }
        watchers.add(look);
        void exit.then(() => setImmediate(look));
        look();
      }),
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL');
      await exit;
    },
  };
}
