/** What the system or Node writes when a process dies has its memory or its environment in it, and so the key. */
import { writeFileSync } from 'node:fs';

/**
 * Leaves memory out of core dumps, of this process and of those that it starts (core(5)), and the environment out of
 * Node's diagnostic reports. Whoever hunts a bug of Node writes 0x33 to /proc/PID/coredump_filter, and takes care.
 */
export function keepSecretsOutOfDumps(): void {
  process.report.excludeEnv = true;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {
    // Not Linux, or no /proc: core dumps are as the system makes them.
  }
}
