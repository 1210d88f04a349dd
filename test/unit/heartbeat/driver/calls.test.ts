import { expect, test } from 'vitest';
import { Calls } from '../../../../src/heartbeat/driver/queue.ts';
import type { BeatRequest, Ports } from '../../../../src/heartbeat/driver/ports.ts';
import type { AttemptOutcome } from '../../../../src/heartbeat/engine/state.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

function calling() {
  const time = new VirtualTime();
  const requests: (BeatRequest & { readonly answer: (outcome: AttemptOutcome) => void })[] = [];
  const calls = new Calls({
    setTimer: time.setTimer,
    beat: (request: BeatRequest) =>
      new Promise<AttemptOutcome>((resolve) => requests.push({ ...request, answer: resolve })),
  } as unknown as Ports);
  const [settled, evicted] = [[] as AttemptOutcome[], [] as number[]];
  const start = (deploymentId: number) =>
    calls.start(
      { deploymentId, key: 'key', timeoutMs: 1_000, fresh: false },
      { ended: (outcome) => settled.push(outcome), evicted: () => evicted.push(deploymentId) },
    );
  return { time, requests, calls, settled, evicted, start };
}

const ACCEPTED: AttemptOutcome = { type: 'accepted' };

test('one that is overdue is open, and counts no more', async () => {
  const { time, requests, calls, settled, start } = calling();
  const call = start(1);
  start(2);
  expect([calls.counted, calls.open]).toEqual([2, 2]);
  call.discount();
  call.discount();
  expect([calls.counted, calls.open]).toEqual([1, 2]);
  requests[0]?.answer(ACCEPTED);
  await time.pass(1);
  expect([calls.counted, calls.open, settled]).toEqual([1, 1, [ACCEPTED]]);
});

test('one that is ended is neither, and its answer is not heard', async () => {
  const { time, requests, calls, settled, start } = calling();
  const call = start(1);
  call.abort();
  call.abort();
  expect([calls.counted, calls.open, requests[0]?.signal.aborted]).toEqual([0, 0, true]);
  requests[0]?.answer(ACCEPTED);
  await time.pass(1);
  expect([calls.counted, calls.open, settled]).toEqual([0, 0, []]);
});

test('the place of the oldest that is overdue and has no connection is free for another, once', () => {
  const { requests, calls, evicted, start } = calling();
  const all = [1, 2, 3, 4].map((id) => start(id));
  expect(calls.evict()).toBe(false);
  requests[0]?.connected();
  for (const call of all) call.discount();
  // Late, and yet on its way.
  requests[1]?.connected();
  all[3]?.abort();
  expect([calls.evict(), calls.evict(), evicted]).toEqual([true, false, [3]]);
});

test('one that is over cannot become overdue', () => {
  const { calls, start } = calling();
  const call = start(1);
  call.abort();
  call.discount();
  expect([calls.evict(), calls.counted]).toEqual([false, 0]);
});

test('the end waits for all of them, and a second at most', async () => {
  const { time, requests, calls, start } = calling();
  await calls.drained();
  const one = start(1);
  start(2);
  one.abort();
  let over = 0;
  void calls.drained().then(() => (over = time.now));
  requests[0]?.answer(ACCEPTED);
  await time.pass(500);
  expect(over).toBe(0);
  await time.pass(501);
  expect(over).toBeCloseTo(1_000, 3);
  const again = calls.drained();
  requests[1]?.answer(ACCEPTED);
  await again;
  await time.pass(1);
  expect(time.timers).toBe(0);
});
