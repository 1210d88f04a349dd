/** How much memory the daemon may take: an out-of-memory kill of the container may take the heart too. */
// oxlint-disable-next-line no-restricted-imports -- files of the kernel, which do not hang
import { promises as files } from 'node:fs';
import { readIfThere } from '../system.ts';

const MEBIBYTE = 2 ** 20;
/** What the heart itself takes at most, with room to spare. */
const HEART_BYTES = 48 * MEBIBYTE;
/** Of the daemon, where nothing limits the container. */
const DEFAULT_DAEMON_BYTES = 512 * MEBIBYTE;
/** With less than this the daemon cannot start; then the container's limit is what is wrong. */
const LEAST_DAEMON_BYTES = 96 * MEBIBYTE;
/** What the daemon takes beside V8's old generation: the binary, code, buffers, threads. */
const BESIDE_HEAP_BYTES = 80 * MEBIBYTE;
const LEAST_HEAP_BYTES = 40 * MEBIBYTE;

export interface DaemonMemory {
  /** Resident memory at which the daemon is ended, bytes. */
  readonly bound: number;
  /** V8's own limit for its old generation, MiB. */
  readonly heapMebibytes: number;
}

/** `limit` is the container's, bytes; undefined for none. */
export function daemonMemory(limit: number | undefined): DaemonMemory {
  const bound =
    limit === undefined ? DEFAULT_DAEMON_BYTES : Math.max(LEAST_DAEMON_BYTES, limit - HEART_BYTES);
  const heap = Math.max(LEAST_HEAP_BYTES, bound - BESIDE_HEAP_BYTES);
  return { bound, heapMebibytes: Math.floor(heap / MEBIBYTE) };
}

type Read = typeof readIfThere;

/** The lowest limit of this process' control group and those above it, bytes; undefined for none, or not told. */
export function containerLimit(read: Read = readIfThere): number | undefined {
  const limits = limitFiles(read('/proc/self/cgroup')).flatMap((file) => {
    const limit = Number(read(file));
    // Version 1 says "no limit" with a number near 2^63, version 2 with the word "max".
    return limit > 0 && limit < 2 ** 50 ? [limit] : [];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** Of version 2 and version 1 of control groups (man 7 cgroups); inside a container the group is the root. */
function limitFiles(groups: string): string[] {
  return groups.split('\n').flatMap((line) => {
    const [, controllers, path = '/'] = /^\d+:([^:]*):(.*)$/.exec(line) ?? [];
    if (controllers === '') return ancestors(path).map((group) => `/sys/fs/cgroup${group}/memory.max`);
    if (controllers !== 'memory') return [];
    return ancestors(path).map((group) => `/sys/fs/cgroup/memory${group}/memory.limit_in_bytes`);
  });
}

/** `/a/b` → `/a/b`, `/a`, and the root, which is empty. */
function ancestors(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`).concat('');
}

/** Resident memory of a process, bytes; undefined where the system does not tell. */
export async function residentMemory(pid: number): Promise<number | undefined> {
  const status = await files.readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}
