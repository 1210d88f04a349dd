/** How many files this process may have open, and so how many attempts may be under way at once. */
import { readFileSync } from 'node:fs';

/** Idle connections, the log, the daemon, certificates, what Node itself has open. */
const FILES_BESIDE_ATTEMPTS = 128;
const LEAST_ATTEMPTS = 32;
const MOST_ATTEMPTS = 512;

/** Attempts that may be under way, overdue ones included. */
export function attemptsAtOnce(openFiles: number | undefined = openFileLimit()): number {
  const left = (openFiles ?? Infinity) - FILES_BESIDE_ATTEMPTS;
  return Math.min(MOST_ATTEMPTS, Math.max(LEAST_ATTEMPTS, left));
}

/** The soft limit (ulimit -n); undefined where the system does not tell. */
function openFileLimit(): number | undefined {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8');
    const soft = Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1]);
    return Number.isNaN(soft) ? undefined : soft;
  } catch {
    return undefined;
  }
}
