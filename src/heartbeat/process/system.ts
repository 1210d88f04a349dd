/** This process and its system: dumps, threads, open files, memory, processor time, systemd. */
// oxlint-disable-next-line no-restricted-imports -- once, before the first heartbeat, and the kernel's own
import { readFileSync, writeFileSync } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { execFile } from 'node:child_process';
import type { ServiceManagerSettings } from '../../config/other-variables.ts';

const THREADS = '16';

/** Dumps and reports hold the key (core(5)). To debug Node, write 0x33 to /proc/PID/coredump_filter. */
export function keepSecretsOutOfDumps(): void {
  process.report.excludeEnv = true;
  try {
    writeFileSync('/proc/self/coredump_filter', '0');
  } catch {}
}

/**
 * Makes libuv's threads now: later the machine may have none left, which aborts the process. The usual four
 * could all hang on files, and none would look up names.
 */
export function makeThreads(): void {
  const { UV_THREADPOOL_SIZE: given } = process.env;
  process.env['UV_THREADPOOL_SIZE'] ??= THREADS;
  void stat('/');
  if (given === undefined) delete process.env['UV_THREADPOOL_SIZE'];
}

/** Idle connections, the log, the daemon, certificates, what Node itself has open. */
const FILES_BESIDE_ATTEMPTS = 128;
const LEAST_ATTEMPTS = 32;
const MOST_ATTEMPTS = 512;

/** Attempts that may be under way, overdue ones included, by proc_pid_limits(5). */
export function attemptsAtOnce(read = readIfThere): number {
  // The soft limit (ulimit -n), if there is one and the system tells.
  const limit = Number(/^Max open files\s+(\d+)/m.exec(read('/proc/self/limits'))?.[1] ?? Infinity);
  // An attempt that connects has two sockets, to two addresses of the service.
  const left = Math.floor((limit - FILES_BESIDE_ATTEMPTS) / 2);
  return Math.min(MOST_ATTEMPTS, Math.max(LEAST_ATTEMPTS, left));
}

function readIfThere(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

export interface HeartVitals {
  readonly residentBytes: number;
  readonly cpuSeconds: number;
  readonly lagMs: number;
}

/** Shorter delays may be missed. Each look wakes the process. */
const STEP_MS = 500;
const WINDOW_MS = 60_000;

export class Vitals {
  readonly #delay = monitorEventLoopDelay({ resolution: STEP_MS });
  #windowFrom = performance.now();
  #lagBefore = 0;

  constructor() {
    this.#delay.enable();
  }

  read(): HeartVitals {
    const lagMs = Math.max(0, this.#delay.max / 1e6 - STEP_MS);
    const longest = Math.max(lagMs, this.#lagBefore);
    if (performance.now() - this.#windowFrom >= WINDOW_MS) {
      this.#lagBefore = lagMs;
      this.#windowFrom = performance.now();
      this.#delay.reset();
    }
    const { user, system } = process.cpuUsage();
    return { residentBytes: process.memoryUsage.rss(), cpuSeconds: (user + system) / 1e6, lagMs: longest };
  }
}

const MEBIBYTE = 2 ** 20;
const HEART_BYTES = 48 * MEBIBYTE;
const DEFAULT_DAEMON_BYTES = 512 * MEBIBYTE;
/** With less the daemon cannot start: then the container's limit is wrong. */
const LEAST_DAEMON_BYTES = 96 * MEBIBYTE;
const BESIDE_HEAP_BYTES = 80 * MEBIBYTE;
const LEAST_HEAP_BYTES = 40 * MEBIBYTE;

interface DaemonMemory {
  readonly bound: number;
  readonly heapMebibytes: number;
}

/** An out-of-memory kill of the container may end the heart too. `limit` in bytes; undefined: none. */
export function daemonMemory(limit: number | undefined): DaemonMemory {
  const bound =
    limit === undefined ? DEFAULT_DAEMON_BYTES : Math.max(LEAST_DAEMON_BYTES, limit - HEART_BYTES);
  const heap = Math.max(LEAST_HEAP_BYTES, bound - BESIDE_HEAP_BYTES);
  return { bound, heapMebibytes: Math.floor(heap / MEBIBYTE) };
}

type Read = typeof readIfThere;

/** Of this process' control group and those above it, bytes; undefined: none, or not told. */
export function containerLimit(read: Read = readIfThere): number | undefined {
  const limits = limitFiles(read('/proc/self/cgroup')).flatMap((file) => {
    const limit = Number(read(file));
    // Version 1 writes "no limit" as a number near 2^63, version 2 as "max".
    return limit > 0 && limit < 2 ** 50 ? [limit] : [];
  });
  return limits.length === 0 ? undefined : Math.min(...limits);
}

/** Of version 2 and version 1 of control groups (man 7 cgroups). Inside a container the group is the root. */
function limitFiles(groups: string): string[] {
  return [...groups.matchAll(/^\d+:([^:]*):(.*)$/gm)].flatMap(([, controllers, path = '']) => {
    if (controllers === '') return ancestors(path).map((group) => `/sys/fs/cgroup${group}/memory.max`);
    if (controllers !== 'memory') return [];
    return ancestors(path).map((group) => `/sys/fs/cgroup/memory${group}/memory.limit_in_bytes`);
  });
}

function ancestors(path: string): string[] {
  const parts = path.split('/').filter((part) => part !== '');
  return parts.map((_, index) => `/${parts.slice(0, index + 1).join('/')}`).concat('');
}

export async function residentMemory(pid: number): Promise<number | undefined> {
  const status = await readFile(`/proc/${pid}/status`, 'utf8').catch(() => '');
  const kibibytes = /^VmRSS:\s+(\d+) kB$/m.exec(status)?.[1];
  return kibibytes === undefined ? undefined : Number(kibibytes) * 1024;
}

export type ServiceManager = ReturnType<typeof createServiceManager>;

const TIMEOUT_MS = 5_000;

/**
 * Tells systemd the state of the service (sd_notify(3)). Node has no datagram sockets for local addresses, so
 * `systemd-notify` sends the messages, and the unit needs NotifyAccess=all.
 */
export function createServiceManager(
  { watchdogMs }: ServiceManagerSettings,
  onFailure: (error: Error) => void,
) {
  let queue = Promise.resolve();
  let failed = false;

  /** One after the other: READY must not overtake RELOADING. */
  function send(...assignments: readonly string[]): void {
    queue = queue.then(() => run(assignments)).then(noteFailure);
  }

  function noteFailure(error: Error | null): void {
    if (error && !failed) onFailure(error);
    failed = error !== null;
  }

  return {
    ready: (status: string) => send('READY=1', `STATUS=${status}`),
    // systemd compares this clock with its own: CLOCK_MONOTONIC in microseconds.
    reloading: () => send('RELOADING=1', `MONOTONIC_USEC=${process.hrtime.bigint() / 1000n}`),
    // Not queued: its sender has to start before this process ends, and outlives it.
    stopping: () => void run(['STOPPING=1', 'STATUS=stopping']),
    /** A sign of life at each half of the watchdog's time, as long as `live` says so. */
    watch(live: () => boolean) {
      if (watchdogMs === undefined) return;
      let underway = false;
      const sign = async (): Promise<void> => {
        if (underway || !live()) return;
        underway = true;
        noteFailure(await run(['WATCHDOG=1']));
        underway = false;
      };
      setInterval(() => void sign(), watchdogMs).unref();
    },
  };
}

function run(assignments: readonly string[]): Promise<Error | null> {
  return new Promise((resolve) => {
    execFile('systemd-notify', assignments, { timeout: TIMEOUT_MS }, (error) => resolve(error));
  });
}
