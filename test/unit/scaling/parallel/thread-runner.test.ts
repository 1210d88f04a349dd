import type { Worker } from 'node:worker_threads';
import { describe, expect, onTestFinished, test } from 'vitest';
import { openThreads } from '../../../../src/scaling/parallel/thread-runner.ts';
import { generateLoad, RecordedLoad } from '../../../../src/scaling/planner/load.ts';
import type { OpenRunner } from '../../../../src/scaling/planner/search/trial.ts';
import { searchParameters, type SearchRequest } from '../../../../src/scaling/planner/search/search.ts';
import { requests, scenarioOf } from '../../../support/plans.ts';

const { parameters: base, settings } = scenarioOf({ max_workers: 8, cold_workers: 2 });
const made = { unitsPerSecond: 30, unitsPerRequest: 20, seconds: 150 };
const loads = [
  RecordedLoad.of(generateLoad({ ...made, shape: 'bursts' })),
  RecordedLoad.of(generateLoad({ ...made, shape: 'diurnal', sizes: 'fixed', seed: 3 })),
];
const request: SearchRequest = { base, settings, loads, p99LimitSeconds: 60 };
const on =
  (threads: number): OpenRunner =>
  (ground) =>
    openThreads(ground, threads);

describe('a search on several threads', () => {
  test('has the same result to the byte with one thread, with three, and without any', async () => {
    const alone = JSON.stringify(await searchParameters(request));
    for (const threads of [1, 3]) {
      expect(JSON.stringify(await searchParameters(request, { openRunner: on(threads) }))).toBe(alone);
    }
    expect(JSON.parse(alone)).toHaveProperty('best.cost');
  });

  test('ends with the reason of its signal, and its threads with it', async () => {
    const controller = new AbortController();
    const reason = new Error('enough');
    const progress = () => controller.abort(reason);
    const running = searchParameters(request, { openRunner: on(2), signal: controller.signal, progress });
    await expect(running).rejects.toBe(reason);
  });

  test('leaves no thread behind', async () => {
    const threads: Worker[] = [];
    const add = (thread: Worker): void => void threads.push(thread);
    process.on('worker', add);
    onTestFinished(() => void process.off('worker', add));
    const runner = openThreads({ settings, loads }, 2);
    await expect.poll(() => threads.length, { interval: 1 }).toBe(2);
    await runner[Symbol.asyncDispose]();
    // A thread that has ended has no number any more.
    expect(threads.map(({ threadId }) => threadId)).toEqual([-1, -1]);
  });

  test('fails where a thread does, and does not wait for ever', async () => {
    // Here it is in order, and there it is not.
    const shared = RecordedLoad.of(requests([7, 1], [3, 1])).share();
    const broken = Object.assign(RecordedLoad.of(requests([3, 1], [7, 1])), { share: () => shared });
    const message = 'request at 3 s: not in order of time';
    await using runner = openThreads({ settings, loads: [broken] }, 2);
    const trial = { parameters: base, limitSeconds: 1, mostCost: 1, sampled: false };
    await expect(runner.run([trial, trial])).rejects.toThrow(message);
    // Its error comes by itself, and its end after it; what is asked after both fails as well.
    await using single = openThreads({ settings, loads: [broken] }, 1);
    for (let run = 0; run < 3; run += 1) await expect(single.run([trial, trial])).rejects.toThrow(message);
  });
});
