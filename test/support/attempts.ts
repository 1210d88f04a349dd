/** Attempts in a process of their own, whose files, connections and heap are counted. */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import type { Count, Order } from './attempts-child.ts';

const CHILD = new URL('attempts-child.ts', import.meta.url);
const PROXIES = /^(https?|no)_proxy$/i;

export interface Attempts extends AsyncDisposable {
  make(order: Order): Promise<Count>;
  /** Lets go of the process, and resolves with its exit code. */
  end(): Promise<number>;
}

export async function startAttempts(
  environment: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
): Promise<Attempts> {
  const own = Object.entries(process.env).filter(([name]) => !PROXIES.test(name));
  const child = fork(CHILD, {
    execArgv: ['--expose-gc', ...nodeOptions],
    env: { ...Object.fromEntries(own), ...environment },
  });
  await once(child, 'message');
  return {
    async make(order) {
      const answered = once(child, 'message', { signal: AbortSignal.timeout(50_000) });
      child.send(order);
      return (await answered)[0] as Count;
    },
    async end() {
      const exited = once(child, 'exit');
      child.disconnect();
      return (await exited)[0] as number;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}
