/** What this process settles with the system before anything else: its dumps, and its threads. */
import { writeFileSync } from 'node:fs';
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
