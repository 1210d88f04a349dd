import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { StateLines } from '../../../../../src/heartbeat/process/log/state-lines.ts';

let said: { readonly at: number; readonly ids: readonly number[] }[];
let lines: StateLines;
let start: number;
beforeEach(() => {
  vi.useFakeTimers();
  said = [];
  start = performance.now();
  lines = new StateLines((changes) =>
    said.push({ at: performance.now() - start, ids: changes.map(({ id }) => id) }),
  );
});
afterEach(() => void vi.useRealTimers());

function change(id: number): void {
  lines.add({ id, from: 'healthy', remainingMs: undefined });
}

test('the first of a kind is said soon', async () => {
  change(1);
  await vi.advanceTimersByTimeAsync(300);
  expect(said).toEqual([{ at: 250, ids: [1] }]);
});

test('one that flaps waits longer each time, and one that is new to it waits a second at most', async () => {
  for (let second = 0; second < 120; second += 1) {
    change(1);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  const before = said.length;
  expect(before).toBeLessThan(12);
  const now = performance.now() - start;
  change(2);
  await vi.advanceTimersByTimeAsync(1_100);
  expect(said.length).toBe(before + 1);
  expect(said.at(-1)?.ids).toContain(2);
  expect((said.at(-1)?.at ?? Infinity) - now).toBeLessThanOrEqual(1_000);
});

test('what waits is said at the end', () => {
  change(1);
  lines.flush();
  expect(said.map(({ ids }) => ids)).toEqual([[1]]);
  lines.flush();
  expect(said).toHaveLength(1);
});

test('the pause doubles up to a minute, and is short again after a quiet one', async () => {
  const ats: number[] = [];
  for (let tenth = 0; tenth < 4_000; tenth += 1) {
    change(1);
    await vi.advanceTimersByTimeAsync(100);
  }
  ats.push(...said.map(({ at }) => Math.round(at)));
  const gaps = ats.slice(1).map((at, index) => at - (ats[index] ?? 0));
  // What is first in its line waits with the pause of that time.
  expect(gaps.slice(0, 8)).toEqual([500, 1_000, 2_000, 4_000, 8_000, 16_000, 32_000, 60_000]);
  expect(Math.max(...gaps)).toBe(60_000);
  await vi.advanceTimersByTimeAsync(130_000);
  const before = said.length;
  change(1);
  await vi.advanceTimersByTimeAsync(250);
  expect(said).toHaveLength(before + 1);
});

test('of one that changes twice the last change is said', async () => {
  const changes: unknown[] = [];
  const own = new StateLines((gathered) => changes.push(...gathered));
  own.add({ id: 1, from: 'healthy', remainingMs: 9 });
  own.add({ id: 1, from: 'urgent', remainingMs: 5 });
  own.flush();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(changes).toEqual([{ id: 1, from: 'urgent', remainingMs: 5 }]);
});
