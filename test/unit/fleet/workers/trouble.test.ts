import { describe, expect, test } from 'vitest';
import {
  isFailing,
  isStuck,
  NO_STARTS,
  stuckAfterMs,
  withStart,
  type WorkerLife,
} from '../../../../src/fleet/workers/lives.ts';

const MINUTE = 60_000;

function life(changes: WorkerLife['changes'], start?: WorkerLife['start']): WorkerLife {
  const [id, endpoint, firstSeenMs] = [1, 'chat', 0];
  return { id, endpoint, firstSeenMs, changes, start, perf: undefined, missed: 0, missingSinceMs: undefined };
}

describe('a start is stuck', () => {
  test.each([
    ['new', [], 30],
    ['cold', [], 10],
    ['new', [60, 60, 60, 60], 30],
    // Three times as long as nearly all, and never before ten or three minutes.
    ['new', [300, 300, 300, 300, 300], 15],
    ['new', [60, 60, 60, 60, 60], 10],
    ['cold', [100, 100, 100, 100, 100], 5],
    ['cold', [10, 10, 10, 10, 10], 3],
  ] as const)('from %s after starts of %j s, after %d minutes', (from, seconds, minutes) => {
    expect(stuckAfterMs(from, seconds)).toBe(minutes * MINUTE);
  });

  test('when it has lasted longer than that, timed or not, and only while the worker is there', () => {
    const loading = life([['loading', 0]], { from: 'cold', sinceMs: 0, timed: false });
    expect(isStuck(loading, NO_STARTS, 10 * MINUTE)).toBe(false);
    expect(isStuck(loading, NO_STARTS, 10 * MINUTE + 1)).toBe(true);
    expect(isStuck({ ...loading, missed: 2 }, NO_STARTS, 11 * MINUTE)).toBe(false);
    expect(isStuck(life([['idle', 0]]), NO_STARTS, 100 * MINUTE)).toBe(false);
  });
});

test('the last hundred starts are the like of the next', () => {
  let times = NO_STARTS;
  for (let seconds = 1; seconds <= 150; seconds += 1) times = withStart(times, 'cold', seconds);
  expect(times.cold).toHaveLength(100);
  expect(times.cold[0]).toBe(51);
  expect(times.new).toEqual([]);
});

test('a worker fails again and again with three failures within an hour', () => {
  const errors = [0, 20, 50].map((minute) => ['error', minute * MINUTE] as const);
  const changes = errors.flatMap((error) => [['loading', error[1] - 1] as const, error]);
  expect(isFailing(life(changes), 55 * MINUTE)).toBe(true);
  expect(isFailing(life(changes.slice(0, 4)), 55 * MINUTE)).toBe(false);
  // The first of them is over an hour old.
  expect(isFailing(life(changes), 61 * MINUTE)).toBe(false);
  expect(isFailing({ ...life(changes), missed: 2 }, 55 * MINUTE)).toBe(false);
  expect(isFailing(life([...changes, ['destroying', 52 * MINUTE]]), 55 * MINUTE)).toBe(false);
});
