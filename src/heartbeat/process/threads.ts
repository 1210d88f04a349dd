import { stat } from 'node:fs/promises';

/** One for each of the heart's files that may hang, and some that look up names. */
const THREADS = '16';

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
