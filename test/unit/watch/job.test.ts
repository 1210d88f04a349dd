import { describe, expect, onTestFinished, test, vi } from 'vitest';
import { startJob, type JobOptions } from '../../../src/watch/job.ts';

function options(run: JobOptions['run'], failures: unknown[] = []): JobOptions {
  return {
    name: 'test',
    schedule: '0 0 1 1 *',
    run,
    now: () => 1000,
    onFailure: (error) => failures.push(error),
  };
}

describe('scheduled job', () => {
  test('runs at once, and counts runs and the time of the last success', async () => {
    const job = startJob(options(async () => {}));
    await job.runNow();
    expect(job.view()).toMatchObject({ runs: 1, failures: 0, lastSuccessAt: 1000, lastError: undefined });
    await job.stop();
  });

  test('a failure is counted and reported, and the next run may succeed', async () => {
    const failures: unknown[] = [];
    let broken = true;
    const job = startJob(
      options(async () => {
        if (broken) throw new Error('service down');
      }, failures),
    );
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
    await job.stop();
  });

  test('never runs twice at once', async () => {
    const gate = Promise.withResolvers<void>();
    const job = startJob(options(() => gate.promise));
    const runs = [job.runNow(), job.runNow()];
    gate.resolve();
    await Promise.all(runs);
    expect(job.view().runs).toBe(1);
    await job.stop();
  });

  test('stop aborts the run under way, which is no failure, and nothing runs afterwards', async () => {
    const failures: unknown[] = [];
    const job = startJob(
      options(
        (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
        failures,
      ),
    );
    await job.stop();
    await job.runNow();
    expect(job.view()).toMatchObject({ runs: 1, failures: 0 });
    expect(failures).toEqual([]);
  });

  test('stop resolves once the run under way has ended, also one that takes its time', async () => {
    const gate = Promise.withResolvers<void>();
    const job = startJob(options(() => gate.promise));
    let isStopped = false;
    const stopping = job.stop().then(() => (isStopped = true));
    await new Promise((resolve) => setTimeout(resolve, 0));
    expect(isStopped).toBe(false);
    gate.resolve();
    await stopping;
  });

  test('a run that takes too long is aborted and counts as failed', async () => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const failures: unknown[] = [];
    const job = startJob(
      options(
        (signal) =>
          new Promise((_, reject) => {
            signal.addEventListener('abort', () => reject(signal.reason as Error));
          }),
        failures,
      ),
    );
    const run = job.runNow();
    await vi.advanceTimersByTimeAsync(600_000);
    await run;
    expect(String(failures[0])).toContain('took longer than 600000 ms');
    await job.stop();
  });

  test('runs on its schedule, and not with the schedule off', async () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    const jobs = ['* * * * * *', 'off'].map((schedule) => startJob({ ...options(async () => {}), schedule }));
    await vi.advanceTimersByTimeAsync(3_000);
    expect(jobs.map((job) => job.view().runs)).toEqual([4, 0]);
    for (const job of jobs) await job.stop();
    await vi.advanceTimersByTimeAsync(3_000);
    expect(jobs.map((job) => job.view().runs)).toEqual([4, 0]);
  });

  describe('of which the clock is set', () => {
    const every10Minutes = async () => {
      vi.useFakeTimers({ now: Date.UTC(2026, 10, 1, 0, 5) });
      onTestFinished(() => void vi.useRealTimers());
      const job = startJob({ ...options(async () => {}), schedule: '*/10 * * * *' });
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
      await vi.advanceTimersByTimeAsync(2_000);
      expect(job.view()).toMatchObject({ runs, missed });
      await vi.advanceTimersByTimeAsync(600_000);
      expect(job.view().runs).toBe(runs + 1);
      await job.stop();
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
      await job.stop();
    });
  });

  test('runs in UTC, whatever the time zone of the machine', async () => {
    vi.useFakeTimers({ now: Date.UTC(2026, 10, 1, 3, 59, 58) });
    onTestFinished(() => void vi.useRealTimers());
    const job = startJob({ ...options(async () => {}), schedule: '0 4 * * *' });
    await vi.advanceTimersByTimeAsync(3_000);
    expect(job.view().runs).toBe(2);
    await job.stop();
  });

  test('of another replica does not run, until it is this one', async () => {
    vi.useFakeTimers({ now: 0 });
    onTestFinished(() => void vi.useRealTimers());
    let may = false;
    const job = startJob({ ...options(async () => {}), schedule: '* * * * * *', mayRun: () => may });
    await job.runNow();
    await vi.advanceTimersByTimeAsync(2_000);
    expect(job.view().runs).toBe(0);
    may = true;
    await vi.advanceTimersByTimeAsync(2_000);
    expect(job.view().runs).toBe(2);
    await job.stop();
  });
});
