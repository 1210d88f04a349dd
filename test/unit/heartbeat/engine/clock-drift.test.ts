import { expect, test } from 'vitest';
import { driftSince, withDrift } from '../../../../src/heartbeat/engine/schedule.ts';

const START = { mono: 7_000, wall: 5_000_000 };
const NONE = { offset: START.wall - START.mono, hidden: 0 };
const later = (mono: number, wall: number) => ({ mono: START.mono + mono, wall: START.wall + wall });

test('clocks that go together hide nothing, whatever they show', () => {
  expect(driftSince(NONE, later(90_000, 90_000))).toBe(0);
  expect(withDrift(NONE, later(90_000, 90_000))).toBe(NONE);
});

test('each advance of the wall clock alone is added to what is hidden', () => {
  const first = withDrift(NONE, later(1_000, 31_000));
  expect(first.hidden).toBe(30_000);
  expect(driftSince(first, later(2_000, 32_000))).toBe(0);
  expect(withDrift(first, later(3_000, 35_000)).hidden).toBe(32_000);
});

test('what the wall clock slips back shows nothing, and what it makes good again counts unless it was rounding', () => {
  expect(withDrift(NONE, later(1_000, 950))).toBe(NONE);
  const back = withDrift(NONE, later(1_000, 949));
  expect(back.hidden).toBe(0);
  expect(driftSince(back, later(1_000, 949))).toBe(0);
  expect(withDrift(back, later(2_000, 2_000)).hidden).toBe(51);
});
