import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { delay } from '../../../src/client/delay.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

/** What of a wait is still there. */
const left = (signal: AbortSignal) => [vi.getTimerCount(), getEventListeners(signal, 'abort').length];

test('a wait that is over leaves no listener on the signal, which may live for days', async () => {
  const { signal } = new AbortController();
  const waiting = delay(1_000, signal);
  expect(left(signal)).toEqual([1, 1]);
  await vi.advanceTimersByTimeAsync(1_000);
  await waiting;
  expect(left(signal)).toEqual([0, 0]);
});

test('a wait that is not wanted any more ends with the reason, and leaves no timer', async () => {
  const controller = new AbortController();
  const reason = new Error('enough');
  const waiting = delay(1_000, controller.signal);
  controller.abort(reason);
  await expect(waiting).rejects.toBe(reason);
  expect(left(controller.signal)).toEqual([0, 0]);
  await expect(delay(1_000, controller.signal)).rejects.toBe(reason);
  expect(left(controller.signal)).toEqual([0, 0]);
});
