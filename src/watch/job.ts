/**
 * A job that runs at start and then on a cron schedule, never twice at once, and whose failures touch nothing
 * but its own counters. node-cron keeps the schedule.
 */
import { schedule as scheduleTask } from 'node-cron';

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

const DEFAULT_TIMEOUT_MS = 60_000;

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

  const task =
    options.schedule === 'off'
      ? undefined
      : scheduleTask(options.schedule, runNow, {
          name: options.name,
          suppressMissedWarning: true,
          unref: true,
        });
  if (task) void runNow();

  return {
    view: () => ({
      name: options.name,
      schedule: options.schedule,
      runs,
      failures,
      lastSuccessAt,
      lastError,
    }),
    runNow,
    async stop() {
      stopping.abort(new Error('stopping'));
      await task?.destroy();
      await running;
    },
  };
}
