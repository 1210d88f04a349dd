import { describe, expect, test } from 'vitest';
import { containerLimit, daemonMemory, residentMemory } from '../../../../../src/heartbeat/process/system.ts';

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

describe('the limit of the container', () => {
  const GROUPS = '/proc/self/cgroup';
  const NONE_OF_V1 = '9223372036854771712\n';

  test.each<[string, Readonly<Record<string, string>>, number | undefined]>([
    [
      'is that of the root in a container',
      { [GROUPS]: '0::/\n', '/sys/fs/cgroup/memory.max': '1000\n' },
      1000,
    ],
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
    ['is none of 0 bytes', { [GROUPS]: '0::/\n', '/sys/fs/cgroup/memory.max': '0\n' }, undefined],
    ['is unknown where no group is told', { '/sys/fs/cgroup/memory.max': '1000\n' }, undefined],
    ['is unknown where the files are not there', { [GROUPS]: '0::/a\n1:memory:/a\n' }, undefined],
  ])('%s', (_what, files, limit) => {
    expect(containerLimit((file) => files[file] ?? '')).toBe(limit);
  });
});
