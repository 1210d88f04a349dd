import { expect, test } from 'vitest';
import { daemonEnvironment } from '../../../src/config/daemon-environment.ts';

test("the daemon has the heart's environment, and where that bounds what malloc keeps, a bound of its own", () => {
  const environment = { PATH: '/bin', MALLOC_ARENA_MAX: '1' };
  expect(daemonEnvironment(environment)).toBe(environment);
  expect(daemonEnvironment({ ...environment, MALLOC_MMAP_THRESHOLD_: '32768' })).toEqual({
    ...environment,
    MALLOC_MMAP_THRESHOLD_: '131072',
  });
});
