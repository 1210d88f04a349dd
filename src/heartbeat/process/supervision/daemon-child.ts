import { fork, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import type { DaemonMessage, HeartMessage, Link } from '../link/link.ts';

export interface DaemonChild extends Link<HeartMessage, DaemonMessage> {
  readonly pid: number | undefined;
  /** Resolves with the reason in words when it has ended, or could not start. */
  readonly ended: Promise<string>;
  /** SIGKILL: a stuck process reacts to nothing else. */
  kill(): void;
}

export type StartDaemon = (restarts: number) => DaemonChild;

/** One flat folder in the bundle. */
const ENTRY = new URL(
  import.meta.url.endsWith('.ts') ? '../../../daemon/process/main.ts' : './daemon.js',
  import.meta.url,
);

export interface DaemonChildOptions {
  readonly restarts: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly heapMebibytes: number;
  /** The daemon's own when absent. */
  readonly program?: URL;
  readonly environment?: NodeJS.ProcessEnv;
}

/** V8's default is 48 MiB. 1 MiB would save 2 MB at rest, and cost a sixth of the log lines per second. */
const V8_FLAGS = ['--max-semi-space-size=2'];

const OOM_SCORE = '500';

export function startDaemonChild(options: DaemonChildOptions): DaemonChild {
  const { restarts, stdout, stderr, heapMebibytes, program = ENTRY, environment } = options;
  const child = fork(program, [String(restarts)], {
    execArgv: [...V8_FLAGS, `--max-old-space-size=${heapMebibytes}`],
    // 4 and 5 are those of link.ts. Node's words about a crash come through 2.
    stdio: ['ignore', 'ignore', 'pipe', 'ipc', stdout, stderr],
    serialization: 'json',
    ...(environment && { env: environment }),
  });
  if (child.pid !== undefined) letKernelChoose(child.pid);
  return {
    pid: child.pid,
    ended: ending(child),
    kill: () => void child.kill('SIGKILL'),
    send(message) {
      // The end of the child is handled, so a closed channel is fine.
      if (child.connected) child.send(message, () => {});
    },
    listen(hear) {
      child.on('message', (message) => hear(message as DaemonMessage));
    },
  };
}

/**
 * When memory runs out, the kernel must not end this process. Set at once: while the daemon loads, this
 * process is the larger.
 */
function letKernelChoose(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, OOM_SCORE);
  } catch {
    // Not Linux: the kernel chooses by size, and a running daemon is the larger one.
  }
}

function ending(child: ChildProcess): Promise<string> {
  const output = new CrashOutput();
  child.stderr?.setEncoding('utf8').on('data', (text: string) => output.add(text));
  return new Promise((resolve) => {
    child.on('error', ({ message }) => resolve(message));
    child.on('close', (code, signal) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      resolve(output.words === '' ? how : `${how}: ${output.words}`);
    });
  });
}

const KEPT = 500;
/** Node's own words, before a long native stack: `FATAL ERROR: … heap out of memory`. */
const FATAL = /^FATAL ERROR: .+(?=\n)/m;

/** What a crashing child prints, as far as it says why. Memory does not grow with it. */
export class CrashOutput {
  #fatal: string | undefined;
  #last = '';

  add(text: string): void {
    const known = this.#last + text;
    this.#fatal ??= FATAL.exec(known)?.[0].slice(0, KEPT);
    this.#last = known.slice(-KEPT);
  }

  get words(): string {
    return this.#fatal ?? this.#last.trim();
  }
}
