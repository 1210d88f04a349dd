/**
 * Keeps the daemon running beside the heart: started again with back-off when it ends, ended when it does not answer or
 * takes too much memory, and never waited for. Nothing that happens to it touches a heartbeat.
 */
import type { DaemonChild, StartDaemon } from './daemon-child.ts';
import type { DaemonMessage } from '../link/link.ts';
import type { HeartLog } from '../log/log.ts';
import type { Reports } from '../link/reports.ts';

export interface SupervisorOptions {
  readonly start: StartDaemon;
  readonly reports: Reports;
  readonly log: HeartLog;
  /** Resident memory of a process, bytes; undefined where nobody tells. */
  readonly memoryOf: (pid: number) => Promise<number | undefined>;
  /** At more than this it is ended, bytes. */
  readonly memoryBound: number;
  /** The daemon asks for these. */
  readonly onReload: () => Promise<{ readonly ok: boolean; readonly problems: readonly string[] }>;
  readonly onReloadRefused: () => void;
  readonly onLogLevel: (level: string) => void;
  readonly onQuit: () => void;
}

export interface Supervisor {
  /** Tells the daemon to load the configuration anew, which asks for the heart's part of it. False: there is none. */
  reload(): boolean;
  /** Resolves when it has ended: true where it did so by itself within `withinMs`. Starts no other. */
  stop(withinMs: number): Promise<boolean>;
}

/** Between two looks at the daemon, ms. They are counted, and not timed: a machine that slept has not looked. */
const LOOK_EVERY_MS = 1_000;
/** So many looks without an answer are too many: while it runs, and while it still starts. */
const PATIENCE = 10;
const PATIENCE_AT_START = 60;
const LOOKS_PER_MEMORY_CHECK = 5;
/** A daemon that lived shorter than this is started again more slowly each time, ms. */
const SHORT_LIFE_MS = 60_000;
const FIRST_WAIT_MS = 100;
const LONGEST_WAIT_MS = 30_000;

export function superviseDaemon(options: SupervisorOptions): Supervisor {
  const { reports, log, memoryBound } = options;
  const { promise: over, resolve: end } = Promise.withResolvers<void>();
  let child: DaemonChild | undefined;
  let started = false;
  let restarts = 0;
  let looks = 0;
  let unanswered = 0;
  let wait = FIRST_WAIT_MS;
  let again: NodeJS.Timeout | undefined;
  let stopping = false;
  let reloadWaits = false;
  /** Why it was ended from here. */
  let cause: string | undefined;
  const looking = setInterval(look, LOOK_EVERY_MS);
  start();

  function start(): void {
    const bornAt = performance.now();
    started = false;
    unanswered = 0;
    cause = undefined;
    let born: DaemonChild;
    try {
      born = options.start(restarts);
    } catch (error) {
      // No memory, or no file descriptor left, for another process.
      return ended((error as Error).message, 0);
    }
    child = born;
    born.listen((message) => {
      if (born === child) hear(message);
    });
    reports.sendTo((report) => born.send({ type: 'report', report }));
    void born.ended.then((how) => ended(how, performance.now() - bornAt));
  }

  function hear(message: DaemonMessage): void {
    switch (message.type) {
      case 'started':
        started = true;
        if (reloadWaits) child?.send({ type: 'reload' });
        reloadWaits = false;
        return;
      case 'taken':
        unanswered = 0;
        return reports.taken(message.number);
      case 'reload':
        return void answerReload();
      case 'reload-refused':
        return options.onReloadRefused();
      case 'log-level':
        return options.onLogLevel(message.level);
      case 'quit':
        return options.onQuit();
    }
  }

  async function answerReload(): Promise<void> {
    const asked = child;
    const result = await options.onReload();
    // Whoever is told that it is done sees what it did.
    await reports.upToDate();
    asked?.send({ type: 'reloaded', ...result });
  }

  function ended(how: string, livedMs: number): void {
    reports.close();
    child = undefined;
    if (stopping) return end();
    wait = livedMs < SHORT_LIFE_MS ? Math.min(LONGEST_WAIT_MS, wait * 2) : FIRST_WAIT_MS;
    restarts += 1;
    const fields = { cause: cause ?? how, livedSeconds: Math.round(livedMs / 1000), againInMs: wait };
    log.error(fields, 'the daemon ended and is started again; heartbeats go on');
    again = setTimeout(start, wait);
  }

  function look(): void {
    if (child === undefined || stopping) return;
    looks += 1;
    if (reports.waits) unanswered += 1;
    reports.signOfLife();
    if (unanswered > (started ? PATIENCE : PATIENCE_AT_START)) kill(`it did not answer for ${unanswered} s`);
    else if (looks % LOOKS_PER_MEMORY_CHECK === 0) void checkMemory(child);
  }

  async function checkMemory({ pid }: DaemonChild): Promise<void> {
    if (pid === undefined) return;
    const bytes = await options.memoryOf(pid);
    if (bytes === undefined || bytes <= memoryBound || child?.pid !== pid) return;
    kill(`it took ${mebibytes(bytes)} MiB of memory, and may take ${mebibytes(memoryBound)}`);
  }

  function kill(why: string): void {
    cause = why;
    child?.kill();
  }

  return {
    reload() {
      // It may have read the old configuration already.
      reloadWaits = child !== undefined && !started;
      if (child === undefined || !started) return false;
      child.send({ type: 'reload' });
      return true;
    },
    async stop(withinMs) {
      stopping = true;
      clearInterval(looking);
      clearTimeout(again);
      if (child === undefined) return true;
      // One that still starts has nothing to bring to an end.
      if (started) child.send({ type: 'stop', withinMs });
      else child.kill();
      let patience: NodeJS.Timeout | undefined;
      const late = new Promise<false>((resolve) => {
        patience = setTimeout(() => resolve(false), withinMs);
      });
      const stopped = await Promise.race([over.then(() => true), late]);
      clearTimeout(patience);
      if (!stopped) child?.kill();
      return stopped;
    },
  };
}

function mebibytes(bytes: number): number {
  return Math.round(bytes / 2 ** 20);
}
