/**
 * A job that runs at start and then on a cron schedule, never twice at once, and whose failures touch nothing
 * but its own counters. node-cron keeps the schedule, in UTC. What it misses runs once: because the event loop was late,
 * the machine slept, or the clock was set. After a clock that was set its tasks are started anew, for by itself it waits
 * as long as a step back, and walks through each slot of a step forward.
 */
import { schedule as scheduleTask, type ScheduledTask } from 'node-cron';

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
  /** Runs of the schedule that were missed; one run makes up for all of them. */
  readonly missed: number;
  /** Unix ms. */
  readonly lastSuccessAt: number | undefined;
  readonly lastError: string | undefined;
}

export interface Job {
  view(): JobView;
  /** Runs once now, unless a run is under way or the job is another replica's; never rejects. */
  runNow(): Promise<void>;
  stop(): Promise<void>;
}

/** Waits for the rate limit included; a call has a limit of its own. */
const DEFAULT_TIMEOUT_MS = 600_000;
/** How often the clock is looked at, and a step of it that is worth a new start, ms. */
const LOOK_EVERY_MS = 1_000;
const STEP_MS = 2_000;

/** One run, whose signal fires at `stopping` and after the job's time limit. */
async function runWithin(
  { name, run, timeoutMs = DEFAULT_TIMEOUT_MS }: JobOptions,
  stopping: AbortSignal,
): Promise<void> {
  const timeout = new AbortController();
  const timer = setTimeout(
    () => timeout.abort(new Error(`job ${name} took longer than ${timeoutMs} ms`)),
    timeoutMs,
  );
  try {
    await run(AbortSignal.any([stopping, timeout.signal]));
  } finally {
    clearTimeout(timer);
  }
}

/** Starts a job: the first run begins at once. */
export function startJob(options: JobOptions): Job {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  let runs = 0;
  let failures = 0;
  let missed = 0;
  let lastSuccessAt: number | undefined;
  let lastError: string | undefined;

  async function once(): Promise<void> {
    runs += 1;
    try {
      await runWithin(options, stopping.signal);
      lastSuccessAt = options.now();
      lastError = undefined;
    } catch (error) {
      if (stopping.signal.aborted) return;
      failures += 1;
      lastError = error instanceof Error ? error.message : String(error);
      options.onFailure(error);
    }
  }

  function runNow(): Promise<void> {
    if (stopping.signal.aborted || options.mayRun?.() === false) return Promise.resolve();
    running ??= once().finally(() => {
      running = undefined;
    });
    return running;
  }

  function makeUp(): void {
    missed += 1;
    void runNow();
  }

  const kept = options.schedule === 'off' ? undefined : keepSchedule(options, runNow, makeUp);
  if (kept) void runNow();

  return {
    view: () => ({
      name: options.name,
      schedule: options.schedule,
      runs,
      failures,
      missed,
      lastSuccessAt,
      lastError,
    }),
    runNow,
    async stop() {
      stopping.abort(new Error('stopping'));
      await kept?.stop();
      await running;
    },
  };
}

/** node-cron's task, started anew whenever the clock was set. `onMissed`: a slot that has passed. */
function keepSchedule(
  { name, schedule }: JobOptions,
  onSlot: () => Promise<void>,
  onMissed: () => void,
): { readonly stop: () => Promise<void> } {
  const task = scheduleTask(schedule, onSlot, {
    name,
    timezone: 'Etc/UTC',
    suppressMissedWarning: true,
    unref: true,
  });
  task.on('execution:missed', onMissed);
  let offset = clockOffset();
  let next = task.getNextRun();
  const looking = setInterval(() => {
    const stepMs = clockOffset() - offset;
    offset += stepMs;
    if (Math.abs(stepMs) > STEP_MS) {
      const isMissed = next !== null && next.getTime() <= Date.now();
      restart(task);
      if (isMissed) onMissed();
    }
    next = task.getNextRun();
  }, LOOK_EVERY_MS).unref();
  return {
    async stop() {
      clearInterval(looking);
      await task.destroy();
    },
  };
}

function restart(task: ScheduledTask): void {
  void task.stop();
  void task.start();
}

/** From the monotonic clock to the wall clock, ms. */
function clockOffset(): number {
  return Date.now() - performance.now();
}
