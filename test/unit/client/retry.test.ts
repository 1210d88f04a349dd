import { expect, test, afterEach, beforeEach, vi } from 'vitest';
import { ResponseError, TimeoutError, TransportError, refusalError } from '../../../src/client/errors.ts';
import { DEFAULT_RETRY, retryDelay, delay } from '../../../src/client/retry.ts';
import { operationOf } from '../../../src/contract/operations.ts';
import { decodeResponse } from '../../../src/wire/response.ts';
import { getEventListeners } from 'node:events';

const ID = 'deployments.heartbeat';

function refused(text: string, headers: Record<string, string> = {}, status = 429) {
  const outcome = decodeResponse(operationOf(ID), { status, text, headers });
  if (outcome.kind !== 'refused') throw new Error(outcome.kind);
  return refusalError(ID, outcome);
}

test.each<[headers: Record<string, string>, text: string, waitMs: number | undefined]>([
  [{ 'retry-after': '7' }, 'threshold=3.0', 7000],
  [{ 'retry-after': '15' }, '', 15_000],
  [{}, 'threshold=3.0', 3000],
  [{ 'retry-after': '3600' }, 'threshold=3.0', undefined],
  [{ 'retry-after': '9'.repeat(400) }, '', undefined],
])('%j %s: waits %j ms, Retry-After before the threshold', (headers, text, waitMs) => {
  expect(retryDelay(refused(text, headers), 1, DEFAULT_RETRY, () => 0)).toBe(waitMs);
});

test('is never earlier than asked, and at most a little later', () => {
  for (const random of [0, 0.5, 0.999]) {
    const waitMs = retryDelay(refused('', { 'retry-after': '7' }), 2, DEFAULT_RETRY, () => random);
    expect(waitMs).toBe(7000 + random * 250);
  }
});

test('without either it backs off, twice as long each time, up to its cap', () => {
  const waits = [1, 2, 3, 9, 10].map((attempt) =>
    retryDelay(refused('too frequent'), attempt, { ...DEFAULT_RETRY, attempts: 99 }, () => 1),
  );
  expect(waits).toEqual([250, 500, 1_000, 15_000, 15_000]);
  expect(retryDelay(refused('too frequent'), 2, DEFAULT_RETRY, () => 0.25)).toBe(125);
});

test.each([
  ...[429, 500, 502, 599].map((status) => [`a ${status}`, () => refused('', {}, status), true] as const),
  ...[400, 401, 404, 409, 499].map(
    (status) => [`a ${status}`, () => refused('', {}, status), false] as const,
  ),
  ['no connection', () => new TransportError(ID, 'refused', new Error('x')), true],
  ['no answer in time', () => new TimeoutError(ID, 1_000), true],
  ['an answer that cannot be read', () => new ResponseError(ID, 200, 'not JSON'), true],
] as const)('%s is worth repeating: %s %s', (_name, make, isWorth) => {
  expect(retryDelay(make(), 1, DEFAULT_RETRY, () => 1)).toBe(isWorth ? 250 : undefined);
});

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
