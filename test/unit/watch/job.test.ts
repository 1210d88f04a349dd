import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startJob, type JobOptions } from '../../../src/watch/job.ts';

/** A job that ends with its test. */
function start(run: JobOptions['run'], more: Partial<JobOptions> = {}) {
  const failures: unknown[] = [];
  const job = startJob({
    name: 'test',
    schedule: '0 0 1 1 *',
    run,
    now: () => 1000,
    onFailure: (error) => failures.push(error),
    ...more,
  });
  onTestFinished(() => job.stop());
  return { job, failures };
}

const NOTHING = async (): Promise<void> => {};

function untilAborted(signal: AbortSignal): Promise<void> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error));
  });
}

function startTime(now: number): void {
  vi.useFakeTimers({ now });
  onTestFinished(() => void vi.useRealTimers());
}

test('a failure is counted and reported, and the next run may succeed', async () => {
  let broken = true;
  const { job, failures } = start(async () => {
    if (broken) throw new Error('service down');
  });
  await job.runNow();
  expect(job.view()).toMatchObject({
    runs: 1,
    failures: 1,
    lastSuccessAt: undefined,
    lastError: 'service down',
  });
  broken = false;
  await job.runNow();
  expect(job.view()).toMatchObject({ runs: 2, failures: 1, lastSuccessAt: 1000, lastError: undefined });
  expect(failures).toHaveLength(1);
});

test('never runs twice at once', async () => {
  const gate = Promise.withResolvers<void>();
  const { job } = start(() => gate.promise);
  const runs = [job.runNow(), job.runNow()];
  gate.resolve();
  await Promise.all(runs);
  expect(job.view().runs).toBe(1);
});

test('stop aborts the run under way, which is no failure, and nothing runs afterwards', async () => {
  const { job, failures } = start(untilAborted);
  await job.stop();
  await job.runNow();
  expect(job.view()).toMatchObject({ runs: 1, failures: 0 });
  expect(failures).toEqual([]);
});

test('stop resolves once the run under way has ended, also one that takes its time', async () => {
  const gate = Promise.withResolvers<void>();
  const { job } = start(() => gate.promise);
  let isStopped = false;
  const stopping = job.stop().then(() => (isStopped = true));
  await new Promise((resolve) => setTimeout(resolve, 0));
  expect(isStopped).toBe(false);
  gate.resolve();
  await stopping;
});

test('a run that takes too long is aborted and counts as failed', async () => {
  startTime(0);
  const { job, failures } = start(untilAborted);
  const run = job.runNow();
  await vi.advanceTimersByTimeAsync(600_000);
  await run;
  expect(String(failures[0])).toContain('took longer than 600000 ms');
});

test('runs on its schedule, and not with the schedule off', async () => {
  startTime(0);
  const jobs = ['* * * * * *', 'off'].map((schedule) => start(NOTHING, { schedule }).job);
  await vi.advanceTimersByTimeAsync(3_000);
  expect(jobs.map((job) => job.view().runs)).toEqual([4, 0]);
  for (const job of jobs) await job.stop();
  await vi.advanceTimersByTimeAsync(3_000);
  expect(jobs.map((job) => job.view().runs)).toEqual([4, 0]);
});

describe('of which the clock is set', () => {
  const every10Minutes = async () => {
    startTime(Date.UTC(2026, 10, 1, 0, 5));
    const { job } = start(NOTHING, { schedule: '*/10 * * * *' });
    await vi.advanceTimersByTimeAsync(2_000);
    return job;
  };

  test.each([
    ['by 200 days, runs once for all that it missed', 200 * 86_400_000, 2, 1],
    ['by an hour', 3_600_000, 2, 1],
    ['by minutes, over a slot', 302_000, 2, 1],
    ['by seconds, over no slot', 100_000, 1, 0],
  ])('forwards %s', async (_what, byMs, runs, missed) => {
    const job = await every10Minutes();
    vi.setSystemTime(Date.now() + byMs);
    await vi.advanceTimersByTimeAsync(5_000);
    expect(job.view()).toMatchObject({ runs, missed });
    await vi.advanceTimersByTimeAsync(600_000);
    expect(job.view().runs).toBe(runs + 1);
  });

  test.each([
    ['seconds', 100_000],
    ['an hour', 3_600_000],
    ['days', 3 * 86_400_000],
  ])('back by %s, goes on at once', async (_what, byMs) => {
    const job = await every10Minutes();
    vi.setSystemTime(Date.now() - byMs);
    await vi.advanceTimersByTimeAsync(602_000);
    expect(job.view()).toMatchObject({ runs: 2, missed: 0 });
  });
});

test('runs in UTC, whatever the time zone of the machine', async () => {
  startTime(Date.UTC(2026, 10, 1, 3, 59, 58));
  const { job } = start(NOTHING, { schedule: '0 4 * * *' });
  await vi.advanceTimersByTimeAsync(3_000);
  expect(job.view().runs).toBe(2);
});

test('of another replica does not run, until it is this one', async () => {
  startTime(0);
  let may = false;
  const { job } = start(NOTHING, { schedule: '* * * * * *', mayRun: () => may });
  await job.runNow();
  await vi.advanceTimersByTimeAsync(2_000);
  expect(job.view().runs).toBe(0);
  may = true;
  await vi.advanceTimersByTimeAsync(2_000);
  expect(job.view().runs).toBe(2);
});
