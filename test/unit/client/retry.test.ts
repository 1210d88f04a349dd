import { expect, test } from 'vitest';
import { refusalError } from '../../../src/client/errors.ts';
import { DEFAULT_RETRY, retryDelay } from '../../../src/client/retry.ts';
import { operationOf } from '../../../src/contract/operations.ts';
import { decodeResponse } from '../../../src/wire/response.ts';

function refused(text: string, headers: Record<string, string> = {}) {
  const outcome = decodeResponse(operationOf('deployments.heartbeat'), { status: 429, text, headers });
  if (outcome.kind !== 'refused') throw new Error(outcome.kind);
  return refusalError('deployments.heartbeat', outcome);
}

test.each<[headers: Record<string, string>, text: string, waitMs: number | undefined]>([
  [{ 'retry-after': '7' }, 'threshold=3.0', 7000],
  [{}, 'threshold=3.0', 3000],
  [{ 'retry-after': '3600' }, 'threshold=3.0', undefined],
  [{ 'retry-after': '9'.repeat(400) }, '', undefined],
])('%j %s: waits %j ms, Retry-After before the threshold', (headers, text, waitMs) => {
  expect(retryDelay(refused(text, headers), 1, DEFAULT_RETRY, () => 0)).toBe(waitMs);
});

test('without either it backs off', () => {
  expect(retryDelay(refused('too frequent'), 2, DEFAULT_RETRY, () => 1)).toBe(500);
});
