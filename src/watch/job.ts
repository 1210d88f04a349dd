/**
 * A job that runs at start and then on a cron schedule, never twice at once, and whose failures touch nothing
 * but its own counters. node-cron reads the schedule, in UTC. What is missed runs once: because the event loop was late,
 * the machine slept, or the clock was set.
 */
import { createTask } from 'node-cron';

export interface JobOptions {
  readonly name: string;
  /** Cron expression, or `off`: then only `runNow` runs it. */
  readonly schedule: string;
  /** One run. The signal fires at stop and after `timeoutMs`. */
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  /** Longest run in ms. */
  readonly timeoutMs?: number;
  /** Unix ms; for the time of the last success. */
  readonly now: () => number;
  /** Whether this replica may run now; it runs in no other. Without it, this one always may. */
  readonly mayRun?: (() => boolean) | undefined;
}

export interface JobView {
  readonly name: string;
  readonly schedule: string;
  readonly runs: number;
  readonly failures: number;
  /** Runs that made up for missed ones of the schedule. */
  readonly missed: number;
  /** Unix ms. */
  readonly lastSuccessAt: number | undefined;
  readonly lastError: string | undefined;
}

export type Job = ReturnType<typeof startJob>;

/** Waits for the rate limit included; a call has a limit of its own. */
const DEFAULT_TIMEOUT_MS = 600_000;
/** How often the clock is looked at, ms. */
const LOOK_EVERY_MS = 1_000;
/** A slot that is seen later was missed; and the longest gap whose seconds are looked through. */
const LATE_SECONDS = 2;
const MOST_LOOKED_THROUGH = 3_600;

/** Starts a job: the first run begins at once. */
export function startJob(options: JobOptions) {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const { name, schedule, timeoutMs = DEFAULT_TIMEOUT_MS } = options;
  const none = { lastSuccessAt: undefined, lastError: undefined };
  let view: JobView = { name, schedule, runs: 0, failures: 0, missed: 0, ...none };

  async function once(): Promise<void> {
    view = { ...view, runs: view.runs + 1 };
    const timeout = new AbortController();
    const late = new Error(`job ${name} took longer than ${timeoutMs} ms`);
    const timer = setTimeout(() => timeout.abort(late), timeoutMs);
    try {
      await options.run(AbortSignal.any([stopping.signal, timeout.signal]));
      view = { ...view, lastSuccessAt: options.now(), lastError: undefined };
    } catch (error) {
      if (stopping.signal.aborted) return;
      const lastError = error instanceof Error ? error.message : String(error);
      view = { ...view, failures: view.failures + 1, lastError };
      options.onFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Runs once now, unless a run is under way or the job is another replica's; never rejects. */
  function runNow(): Promise<void> {
    if (stopping.signal.aborted || options.mayRun?.() === false) return Promise.resolve();
    running ??= once().finally(() => {
      running = undefined;
    });
    return running;
  }

  function makeUp(): void {
    view = { ...view, missed: view.missed + 1 };
    void runNow();
  }

  const kept = schedule === 'off' ? undefined : keepSchedule(options, runNow, makeUp);
  if (kept) void runNow();

  return {
    view: () => view,
    runNow,
    async stop(): Promise<void> {
      stopping.abort(new Error('stopping'));
      kept?.stop();
      await running;
    },
  };
}

/**
 * Looks each second whether a slot of the schedule has come. node-cron tells which seconds are slots, but keeps no timer
 * for them: its own waits as long as a step of the clock back, and walks through every slot of a step forward. `onMissed`: one
 * or more have passed.
 */
function keepSchedule(
  { schedule }: JobOptions,
  onSlot: () => Promise<void>,
  onMissed: () => void,
): { readonly stop: () => void } {
  const task = createTask(schedule, () => {}, { timezone: 'Etc/UTC' });
  const hasSlot = (from: number, to: number): boolean => {
    for (let second = from; second <= to; second += 1) if (task.match(new Date(second * 1_000))) return true;
    return false;
  };
  let looked = seconds();
  const looking = setInterval(() => {
    const now = seconds();
    const gap = now - looked;
    const [from, to] = [looked + 1, now - LATE_SECONDS];
    looked = now;
    // Of a longer gap nobody looks through all seconds: it has a slot.
    if (gap > MOST_LOOKED_THROUGH || hasSlot(from, to - 1)) onMissed();
    else if (hasSlot(Math.max(from, to), now)) void onSlot();
  }, LOOK_EVERY_MS).unref();
  return {
    stop() {
      clearInterval(looking);
      void task.destroy();
    },
  };
}

/** Unix time. */
function seconds(): number {
  return Math.floor(Date.now() / 1_000);
}
