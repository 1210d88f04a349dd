import { expect, test } from 'vitest';
import { isLive } from '../../../../src/daemon/http/routes.ts';

test('a heartbeat scheduler is live until it is more than ten seconds late', () => {
  expect([0, 10_000, 10_001].map((lateMs) => isLive(lateMs))).toEqual([true, true, false]);
});
