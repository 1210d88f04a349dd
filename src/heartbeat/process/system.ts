/** What this process settles with the system before anything else: its dumps, its threads, its open files. */
// oxlint-disable-next-line no-restricted-imports -- once, before the first heartbeat, and the kernel's own
import { readFileSync, writeFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';

/** One for each of the heart's files that may hang, and some that look up names. */
const THREADS = '16';

/**
 * Leaves memory out of core dumps, of this process and of those that it starts (core(5)), and the environment out of
 * Node's diagnostic reports: both hold the key. Whoever hunts a bug of Node writes 0x33 to /proc/PID/coredump_filter, and
 * takes care.
 */
export function keepSecretsOutOfDumps(): void {
  process.report.excludeEnv = true;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or no /proc: core dumps are as the system makes them.
  }
}

/**
 * Makes libuv's threads now. It would make them with the first file or name, and abort the process if the machine has no
 * thread left by then; and with its usual four, as many files that hang would leave none to look up a name.
 */
export function makeThreads(): void {
  const { UV_THREADPOOL_SIZE: given } = process.env;
  process.env['UV_THREADPOOL_SIZE'] ??= THREADS;
  void stat('/');
  // Not for the daemon.
  if (given === undefined) delete process.env['UV_THREADPOOL_SIZE'];
}

/** Idle connections, the log, the daemon, certificates, what Node itself has open. */
const FILES_BESIDE_ATTEMPTS = 128;
const LEAST_ATTEMPTS = 32;
const MOST_ATTEMPTS = 512;

/** Attempts that may be under way, overdue ones included, by proc_pid_limits(5) of this process. */
export function attemptsAtOnce(read = readIfThere): number {
  // The soft limit (ulimit -n), where there is one and the system tells.
  const limit = Number(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1] ?? Infinity);
  // An attempt that connects has two sockets, to two addresses of the service.
  const left = Math.floor((limit - FILES_BESIDE_ATTEMPTS) / 2);
  return Math.min(MOST_ATTEMPTS, Math.max(LEAST_ATTEMPTS, left));
}

/** The text of one of the kernel's files; empty where it cannot be read. */
export function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
