/** Since when parameters are what they are, where processes begin, end, and cannot read what was stored. */
import { expect, test } from 'vitest';
import { inForceAfter, inForceOnward } from '../../../../src/fleet/history/parameters-in-force.ts';

const OLD = { target_util: 0.9, min_load: 0 };
const NEW = { target_util: 0.7, min_load: 0 };

test('the first are of nobody knows when; others are of the look that saw them', () => {
  const first = inForceAfter(undefined, OLD, 10);
  expect(first).toEqual({ parameters: OLD, sinceMs: undefined });
  expect(inForceAfter(first, { ...OLD }, 20)).toBe(first);
  expect(inForceAfter(first, NEW, 20)).toEqual({ parameters: NEW, sinceMs: 20 });
  // One more is a change too.
  expect(inForceAfter(first, { ...OLD, cold_mult: 3 }, 20)?.sinceMs).toBe(20);
});

test('what was not said is no change, and a moment that is still to come is now', () => {
  const changed = { parameters: NEW, sinceMs: 20 };
  expect(inForceAfter(changed, undefined, 30)).toBe(changed);
  expect(inForceAfter(undefined, undefined, 30)).toBeUndefined();
  expect(inForceAfter(changed, NEW, 5)?.sinceMs).toBe(5);
});

test('what was stored, read late, is gone on from', () => {
  const stored = { parameters: OLD, sinceMs: 20 };
  const seen = (parameters: typeof OLD, sinceMs?: number) => ({ parameters, sinceMs });
  expect(inForceOnward(stored, seen(OLD), 100)).toBe(stored);
  expect(inForceOnward(stored, seen(NEW), 100)).toEqual(seen(NEW, 100));
  expect(inForceOnward(stored, seen(NEW, 150), 100)).toEqual(seen(NEW, 150));
  expect(inForceOnward(stored, undefined, 100)).toBe(stored);
  expect(inForceOnward(undefined, seen(NEW), 100)).toEqual(seen(NEW));
});
