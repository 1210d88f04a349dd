/** How many files this process may have open, and so how many attempts may be under way at once. */
// oxlint-disable-next-line no-restricted-imports -- once, before the first heartbeat, and the kernel's own
import { readFileSync } from 'node:fs';

/** Idle connections, the log, the daemon, certificates, what Node itself has open. */
const FILES_BESIDE_ATTEMPTS = 128;
const LEAST_ATTEMPTS = 32;
const MOST_ATTEMPTS = 512;

/** Attempts that may be under way, overdue ones included. `readLimits` is proc_pid_limits(5) of this process. */
export function attemptsAtOnce(
  readLimits: () => string = () => readFileSync('/proc/self/limits', 'utf8'),
): number {
  // An attempt that connects has two sockets, to two addresses of the service.
  const left = Math.floor((openFileLimit(readLimits) - FILES_BESIDE_ATTEMPTS) / 2);
  return Math.min(MOST_ATTEMPTS, Math.max(LEAST_ATTEMPTS, left));
}

/** The soft limit (ulimit -n); Infinity where there is none, or where the system does not tell. */
function openFileLimit(readLimits: () => string): number {
  try {
    return Number(/^Max open files\s+(\d+)/m.exec(readLimits())?.[1] ?? Infinity);
  } catch {
    return Infinity;
  }
}
