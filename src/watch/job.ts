/** A job that runs at start and on a cron schedule (UTC), never twice at once. Missed slots run once. */
import { createTask, validate } from 'node-cron';
import { messageOf } from '../contract/pilotlight-error.ts';

export interface JobOptions {
  readonly name: string;
  /** Cron expression, or `off`: then only `runNow` runs it. */
  readonly schedule: string;
  readonly run: (signal: AbortSignal) => Promise<void>;
  readonly onFailure: (error: unknown) => void;
  readonly now: () => number;
  /** Whether this replica may run it now. Default: always. */
  readonly mayRun?: (() => boolean) | undefined;
}

export interface JobView {
  readonly name: string;
  readonly schedule: string;
  readonly runs: number;
  readonly failures: number;
  /** Runs that made up for missed slots. */
  readonly missed: number;
  readonly lastSuccessAt: number | undefined;
  readonly lastError: string | undefined;
}

export type Job = ReturnType<typeof startJob>;

const TIMEOUT_MS = 600_000;
/** How late a step of the clock, or the end of a machine's sleep, is noticed at most. */
const LOOK_EVERY_MS = 5_000;
/** A slot that is seen later was missed. */
const LATE_MS = 2_000;

export function startJob(options: JobOptions) {
  const stopping = new AbortController();
  let running: Promise<void> | undefined;
  const { name, schedule } = options;
  const none = { lastSuccessAt: undefined, lastError: undefined };
  let view: JobView = { name, schedule, runs: 0, failures: 0, missed: 0, ...none };

  async function once(): Promise<void> {
    view = { ...view, runs: view.runs + 1 };
    const timeout = new AbortController();
    const late = new Error(`job ${name} took longer than ${TIMEOUT_MS} ms`);
    const timer = setTimeout(() => timeout.abort(late), TIMEOUT_MS);
    try {
      await options.run(AbortSignal.any([stopping.signal, timeout.signal]));
      view = { ...view, lastSuccessAt: options.now(), lastError: undefined };
    } catch (error) {
      if (stopping.signal.aborted) return;
      view = { ...view, failures: view.failures + 1, lastError: messageOf(error) };
      options.onFailure(error);
    } finally {
      clearTimeout(timer);
    }
  }

  /** Not if a run is under way, or another replica has the job. Never rejects. */
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
 * node-cron tells the next slot. Its own timer waits as long as a step of the clock back, and walks through every slot of
 * a step forward.
 */
function keepSchedule(
  { schedule }: JobOptions,
  onSlot: () => Promise<void>,
  onMissed: () => void,
): { readonly stop: () => void } {
  const task = createTask(schedule, () => {}, { timezone: 'Etc/UTC' });
  const nextSlot = (): number => task.getNextRuns(1)[0]?.getTime() ?? Infinity;
  let next = nextSlot();
  let looked = Date.now();
  let timer = wait();

  function wait(): NodeJS.Timeout {
    return setTimeout(look, Math.min(LOOK_EVERY_MS, next - looked)).unref();
  }

  function look(): void {
    const [now, before, slot] = [Date.now(), looked, next];
    looked = now;
    if (now >= slot || now < before) next = nextSlot();
    timer = wait();
    if (now - slot > LATE_MS) onMissed();
    else if (now >= slot) void onSlot();
  }

  return {
    stop() {
      clearTimeout(timer);
      void task.destroy();
    },
  };
}

/** Characters. node-cron walks through all that its lists have in common. */
const LONGEST_SCHEDULE = 100;
/** node-cron lists all of a range before it checks it: 1-99999999 takes seconds. */
const ITEM =
  /^(?:(?:\*|(?:\d{1,2}|[a-z]{3,9})(?:-(?:\d{1,2}|[a-z]{3,9}))?)(?:\/\d{1,2})?|\?|l(?:-\d{1,2})?|(?:\d{1,2}|l)w|(?:[0-7]|[a-z]{3,9})l|(?:\d|[a-z]{3,9})#\d|@[a-z]+)$/i;

/** Whether a job may have this schedule: node-cron takes it, in no time, and it matches at least one date. */
export function isSchedule(expression: string): boolean {
  const items = expression.trim().split(/[\s,]+/);
  if (expression.length > LONGEST_SCHEDULE || !items.every((item) => ITEM.test(item))) return false;
  return validate(expression) && comesRound(expression);
}

/** The second Monday as "0 0 8-14 * 1#1" never comes, which node-cron says only when it looks for it. */
function comesRound(expression: string): boolean {
  const task = createTask(expression, () => {});
  try {
    return task.getNextRuns(1).length > 0;
  } catch {
    return false;
  } finally {
    void task.destroy();
  }
}
