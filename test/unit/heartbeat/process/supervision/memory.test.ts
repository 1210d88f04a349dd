import { expect, test } from 'vitest';
import { daemonMemory, residentMemory } from '../../../../../src/heartbeat/process/supervision/memory.ts';

const MEBIBYTE = 2 ** 20;

test.each([
  ['no limit', undefined, 512],
  ['the limit of the manifests', 192 * MEBIBYTE, 144],
  ['one that is far too low', 64 * MEBIBYTE, 96],
  ['a large one', 4096 * MEBIBYTE, 4048],
])('with %s the daemon may take what the heart leaves', (_what, limit, mebibytes) => {
  const { bound, heapMebibytes } = daemonMemory(limit);
  expect(bound).toBe(mebibytes * MEBIBYTE);
  expect(heapMebibytes).toBeGreaterThanOrEqual(40);
  expect(heapMebibytes).toBeLessThan(mebibytes);
});

test('the memory of a process is read, and of one that is not there it is unknown', async () => {
  const own = await residentMemory(process.pid);
  if (process.platform === 'linux') expect(own).toBeGreaterThan(20 * MEBIBYTE);
  expect(await residentMemory(2 ** 30)).toBeUndefined();
});
