import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import {
  attemptsAtOnce,
  containerLimit,
  daemonMemory,
  residentMemory,
  Vitals,
} from '../../../../src/heartbeat/process/system.ts';

const MEBIBYTE = 2 ** 20;

test.each([
  ['no limit', undefined, 512, 432],
  ['the limit of the manifests', 192 * MEBIBYTE, 144, 64],
  ['one that is far too low', 64 * MEBIBYTE, 96, 40],
  ['a large one', 4096 * MEBIBYTE, 4048, 3968],
])('with %s the daemon may take what the heart leaves', (_what, limit, mebibytes, heap) => {
  expect(daemonMemory(limit)).toEqual({ bound: mebibytes * MEBIBYTE, heapMebibytes: heap });
});

test('the memory of a process is read, and of one that is not there it is unknown', async () => {
  const own = await residentMemory(process.pid);
  if (process.platform === 'linux') {
    expect(own).toBeGreaterThan(20 * MEBIBYTE);
    expect(own).toBeLessThan(2 ** 40);
  }
  expect(await residentMemory(2 ** 30)).toBeUndefined();
});

const GROUPS = '/proc/self/cgroup';
const NONE_OF_V1 = '9223372036854771712\n';

test.each<[string, Readonly<Record<string, string>>, number | undefined]>([
  ['is that of the root in a container', { [GROUPS]: '0::/\n', '/sys/fs/cgroup/memory.max': '1000\n' }, 1000],
  [
    'is the lowest of the group and those above it',
    {
      [GROUPS]: '0::/user.slice/app.service\n',
      '/sys/fs/cgroup/user.slice/app.service/memory.max': '3000\n',
      '/sys/fs/cgroup/user.slice/memory.max': '2000\n',
      '/sys/fs/cgroup/memory.max': 'max\n',
    },
    2000,
  ],
  [
    'is found among the controllers of version 1',
    {
      [GROUPS]: '12:cpu,cpuacct:/docker/abc\n11:memory:/docker/abc\n',
      '/sys/fs/cgroup/memory/docker/abc/memory.limit_in_bytes': NONE_OF_V1,
      '/sys/fs/cgroup/memory/docker/memory.limit_in_bytes': '4000\n',
      '/sys/fs/cgroup/memory/memory.limit_in_bytes': NONE_OF_V1,
      '/sys/fs/cgroup/docker/abc/memory.max': '7\n',
    },
    4000,
  ],
  ['is none where all say so', { [GROUPS]: '0::/\n', '/sys/fs/cgroup/memory.max': 'max\n' }, undefined],
  [
    'is none where version 1 says so',
    { [GROUPS]: '1:memory:/\n', '/sys/fs/cgroup/memory/memory.limit_in_bytes': NONE_OF_V1 },
    undefined,
  ],
  ['is none of 0 bytes', { [GROUPS]: '0::/\n', '/sys/fs/cgroup/memory.max': '0\n' }, undefined],
  ['is unknown where no group is told', { '/sys/fs/cgroup/memory.max': '1000\n' }, undefined],
  ['is unknown where the files are not there', { [GROUPS]: '0::/a\n1:memory:/a\n' }, undefined],
])('the limit of the container %s', (_what, files, limit) => {
  expect(containerLimit((file) => files[file] ?? '')).toBe(limit);
});

const limits = (
  openFiles: string,
): string => `Limit                     Soft Limit           Hard Limit           Units
Max processes             77                   77                   processes
Max open files            ${openFiles.padEnd(20)} 999999               files
`;

test.each([
  ['64', 32],
  ['192', 32],
  ['195', 33],
  ['384', 128],
  ['1151', 511],
  ['1152', 512],
  ['1048576', 512],
  ['unlimited', 512],
])('with %s open files %i attempts may be under way', (openFiles, attempts) => {
  expect(attemptsAtOnce(() => limits(openFiles))).toBe(attempts);
});

test('where the system does not tell, as many as there may ever be; of this process it tells', () => {
  expect(attemptsAtOnce(() => 'Max processes 77 77 processes\n')).toBe(512);
  if (process.platform === 'linux') expect(attemptsAtOnce()).toBeGreaterThanOrEqual(32);
});

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
  const now = performance.now();
  const clock = vi.spyOn(performance, 'now');
  onTestFinished(() => clock.mockRestore());
  const lags = [60_000, 60_001, 120_001, 120_002].map((later) => {
    clock.mockReturnValue(now + later);
    return vitals.read().lagMs;
  });
  expect(lags.map((lag) => lag > 1_000)).toEqual([true, true, true, false]);
});
