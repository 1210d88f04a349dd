import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { Vitals } from '../../../../src/heartbeat/process/system.ts';

test('an event loop that was held up is seen, and one that was not is not', async () => {
  const vitals = new Vitals();
  // It counts from its first look on.
  await delay(600);
  const before = vitals.read();
  expect(before.lagMs).toBeLessThan(1_000);
  const until = performance.now() + 1_500;
  while (performance.now() < until);
  await delay(300);
  const after = vitals.read();
  expect(after.lagMs).toBeGreaterThan(1_000);
  expect(after.cpuSeconds).toBeGreaterThan(before.cpuSeconds);
});
