import { readFileSync } from 'node:fs';

/**
 * The most memory that this process has had, MiB. What getrusage(2) tells begins with the peak of the process that started
 * this one, since execve(2) keeps it on Linux; VmHWM of proc_pid_status(5) is this program's own.
 */
export function peakMebibytes(): number {
  return (ownPeakKibibytes() ?? process.resourceUsage().maxRSS) / 1024;
}

/** Undefined where the system has no such file. */
function ownPeakKibibytes(): number | undefined {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8')) ?? [];
    return kibibytes === undefined ? undefined : Number(kibibytes);
  } catch {
    return undefined;
  }
}
