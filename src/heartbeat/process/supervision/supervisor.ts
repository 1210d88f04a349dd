/** Keeps the daemon running beside the heart, and never waits for it. */
import type { Ask, Grants } from '../../../client/request-queue.ts';
import type { DaemonChild, StartDaemon } from './daemon-child.ts';
import type { DaemonMessage } from '../link/link.ts';
import { type HeartLog, MESSAGES } from '../log/log.ts';
import type { Reports } from '../link/reports.ts';

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
const LOOK_EVERY_MS = 1_000;
const PATIENCE = 10;
const PATIENCE_AT_START = 60;
const LOOKS_PER_MEMORY_CHECK = 5;
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
  #looks = 0;
  #unanswered = 0;
  #wait = FIRST_WAIT_MS;
  #again: NodeJS.Timeout | undefined;
  #ending: NodeJS.Timeout | undefined;
  #stopping = false;
  #reloadWaits = false;
  #cause: string | undefined;

  constructor(options: SupervisorOptions) {
    this.#options = options;
    this.#looking = setInterval(() => this.#look(), LOOK_EVERY_MS);
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
    const patience = setTimeout(() => this.#over.resolve(false), withinMs);
    const stopped = await this.#over.promise;
    clearTimeout(patience);
    clearTimeout(this.#ending);
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
        this.#ending = setTimeout(() => this.#over.resolve(true), EXIT_MS);
    }
  }

  async #answerReload(number: number): Promise<void> {
    const { onReload, reports } = this.#options;
    const asked = this.#child;
    const result = await onReload();
    // After the reports, so that the asker sees the effect.
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
    if (this.#child === undefined || this.#stopping) return;
    const { reports } = this.#options;
    this.#looks += 1;
    if (reports.waits) this.#unanswered += 1;
    reports.signOfLife();
    if (this.#unanswered > (this.#started ? PATIENCE : PATIENCE_AT_START))
      this.#kill(`it did not answer for ${this.#unanswered} s`);
    else if (this.#looks % LOOKS_PER_MEMORY_CHECK === 0) void this.#checkMemory(this.#child);
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
