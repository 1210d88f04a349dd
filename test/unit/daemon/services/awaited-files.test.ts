import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { configError, type ConfigProblem } from '../../../../src/config/problem.ts';
import { awaitFiles } from '../../../../src/daemon/services/reloading.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const OTHER = configError('PILOTLIGHT_A', 'x', 'a number', '');
const awaited = (file: string): ConfigProblem => ({
  ...configError('PILOTLIGHT_B_FILE', file, 'a file', ''),
  awaitedFile: file,
});

function awaiting(before: readonly ConfigProblem[]) {
  const found = { now: before, loads: 0, times: 0 };
  const end = awaitFiles(
    before,
    async () => {
      found.loads += 1;
      return found.now;
    },
    () => (found.times += 1),
  );
  return { found, end };
}

test('without a file that is missing nothing is looked for', () => {
  const { found, end } = awaiting([OTHER]);
  expect([vi.getTimerCount(), found.loads]).toEqual([0, 0]);
  end();
});

test('a file that is there by now is told once, within five seconds', async () => {
  const { found } = awaiting([awaited('/a'), awaited('/b'), OTHER]);
  await vi.advanceTimersByTimeAsync(20_000);
  expect([found.loads, found.times]).toEqual([4, 0]);
  found.now = [awaited('/b'), OTHER];
  await vi.advanceTimersByTimeAsync(4_999);
  expect(found.times).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect(found.times).toBe(1);
  await vi.advanceTimersByTimeAsync(60_000);
  expect([found.times, found.loads]).toEqual([1, 5]);
});

test('the end of the waiting ends the looks', async () => {
  const { found, end } = awaiting([awaited('/a')]);
  end();
  found.now = [];
  await vi.advanceTimersByTimeAsync(60_000);
  expect([found.loads, found.times]).toEqual([0, 0]);
});
