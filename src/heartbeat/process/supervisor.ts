/** Starts the daemon, keeps it running beside the heart, and never waits for it. */
import type { Ask, Grants } from '../../client/gate.ts';
import type { DaemonMessage, HeartMessage, Link } from './link.ts';
import { MESSAGES, type HeartLog } from './log.ts';
import type { Reports } from './reports.ts';
import { fork, type ChildProcess } from 'node:child_process';
import { writeFileSync } from 'node:fs';

export interface SupervisorOptions {
  readonly start: StartDaemon;
  readonly reports: Reports;
  readonly log: HeartLog;
  readonly memoryOf: (pid: number) => Promise<number | undefined>;
  readonly memoryBound: number;
  readonly onReload: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  readonly onReloadRefused: () => void;
  readonly onAsk: (ask: Ask) => Grants;
  readonly onLogLevel: (level: string) => void;
  readonly onQuit: () => void;
}

/** Looks are counted, not timed: a suspended machine does not look. */
const LOOK_EVERY_S = 5;
const PATIENCE = 2;
const PATIENCE_AT_START = 12;
const SHORT_LIFE_MS = 60_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 30_000;
const EXIT_MS = 250;

export class Supervisor {
  readonly #options: SupervisorOptions;
  /** Whether it ended by itself. */
  readonly #over = Promise.withResolvers<boolean>();
  readonly #looking: NodeJS.Timeout;
  #child: DaemonChild | undefined;
  #started = false;
  #restarts = 0;
  #unanswered = 0;
  #wait = FIRST_WAIT_MS;
  #again: NodeJS.Timeout | undefined;
  #stopping = false;
  #reloadWaits = false;
  #cause: string | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_S * 1_000);
    this.#start();
  }

  /** The daemon then asks for the heart's part. False: no daemon runs. */
  reload(): boolean {
    // It may have read the old configuration already.
    this.#reloadWaits = this.#child !== undefined && !this.#started;
    if (this.#child === undefined || !this.#started) return false;
    this.#child.send({ type: 'reload' });
    return true;
  }

  /** True: it ended, or had nothing left to do, within `withinMs`. Starts no other. */
  async stop(withinMs: number): Promise<boolean> {
    this.#stopping = true;
    clearInterval(this.#looking);
    clearTimeout(this.#again);
    if (this.#child === undefined) return true;
    if (this.#started) this.#child.send({ type: 'stop', withinMs });
    else this.#child.kill();
    setTimeout(() => this.#over.resolve(false), withinMs);
    const stopped = await this.#over.promise;
    this.#child?.kill();
    return stopped;
  }

  #start(): void {
    const bornAt = performance.now();
    this.#started = false;
    this.#unanswered = 0;
    this.#cause = undefined;
    let born: DaemonChild;
    try {
      born = this.#options.start(this.#restarts);
    } catch (error) {
      // There may be no memory or file descriptor left for another process.
      return this.#ended((error as Error).message, 0);
    }
    this.#child = born;
    born.listen((message) => {
      if (born === this.#child) this.#hear(message);
    });
    this.#options.reports.sendTo((report) => born.send({ type: 'report', report }));
    void born.ended.then((how) => this.#ended(how, performance.now() - bornAt));
  }

  #hear(message: DaemonMessage): void {
    const { reports, onReloadRefused, onLogLevel, onQuit } = this.#options;
    switch (message.type) {
      case 'started':
        this.#started = true;
        this.#unanswered = 0;
        if (this.#reloadWaits) this.#child?.send({ type: 'reload' });
        this.#reloadWaits = false;
        return;
      case 'taken':
        this.#unanswered = 0;
        return reports.taken(message.number);
      case 'ask':
        return this.#child?.send({ type: 'grants', grants: this.#options.onAsk(message.ask) });
      case 'reload':
        return void this.#answerReload(message.number);
      case 'reload-refused':
        return onReloadRefused();
      case 'log-level':
        return onLogLevel(message.level);
      case 'quit':
        return onQuit();
      case 'stopped':
        // A thread that waits for a hanging file may keep the process from ending.
        setTimeout(() => this.#over.resolve(true), EXIT_MS);
    }
  }

  async #answerReload(number: number): Promise<void> {
    const { onReload, reports } = this.#options;
    const asked = this.#child;
    const result = await onReload();
    // After the reports, so that the asker sees the effect.
    reports.signOfLife();
    await reports.upToDate();
    asked?.send({ type: 'reloaded', number, ...result });
  }

  #ended(how: string, livedMs: number): void {
    const { reports, log } = this.#options;
    reports.close();
    this.#child = undefined;
    if (this.#stopping) return this.#over.resolve(true);
    this.#wait = livedMs < SHORT_LIFE_MS ? Math.min(LONGEST_WAIT_MS, this.#wait * 2) : FIRST_WAIT_MS;
    this.#restarts += 1;
    const livedSeconds = Math.round(livedMs / 1000);
    log(MESSAGES.daemonEnded, { cause: this.#cause ?? how, livedSeconds, restartInMs: this.#wait });
    this.#again = setTimeout(() => this.#start(), this.#wait);
  }

  #look(): void {
    if (this.#child === undefined) return;
    const { reports } = this.#options;
    if (reports.waits) this.#unanswered += 1;
    reports.signOfLife();
    if (this.#unanswered > (this.#started ? PATIENCE : PATIENCE_AT_START))
      this.#kill(`it did not answer for ${(this.#unanswered - 1) * LOOK_EVERY_S} s`);
    else void this.#checkMemory(this.#child);
  }

  async #checkMemory({ pid }: DaemonChild): Promise<void> {
    const { memoryOf, memoryBound } = this.#options;
    if (pid === undefined) return;
    const bytes = await memoryOf(pid);
    if (bytes === undefined || bytes <= memoryBound || this.#child?.pid !== pid) return;
    this.#kill(`it used ${mebibytes(bytes)} MiB of memory; its limit is ${mebibytes(memoryBound)} MiB`);
  }

  #kill(why: string): void {
    this.#cause = why;
    this.#child?.kill();
  }
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}

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
  import.meta.url.endsWith('.ts') ? '../../daemon/process/main.ts' : './daemon.js',
  import.meta.url,
);

interface DaemonChildOptions {
  readonly restarts: number;
  readonly stdout: number;
  readonly stderr: number;
  readonly heapMebibytes: number;
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
class CrashOutput {
  #fatal: string | undefined;
  #last = '';

  add(text: string): void {
    const known = this.#last + text;
    this.#fatal ??= FATAL.exec(known)?.[0];
    this.#last = known.slice(-KEPT);
  }

  get words(): string {
    return this.#fatal ?? this.#last.trim();
  }
}
