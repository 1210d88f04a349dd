import { expect, test } from 'vitest';
import {
  afterStart,
  afterTaken,
  afterThrottle,
  USUAL_PACE,
  type Pace,
  type Throttle,
} from '../../../../src/heartbeat/discovery/pace.ts';

const NOW = 1_000_000;

function throttled(throttle: Partial<Throttle>, pace: Pace = USUAL_PACE, random = 0): Pace {
  return afterThrottle(pace, { waitMs: undefined, thresholdMs: undefined, ...throttle }, NOW, () => random);
}

/** Waits until the next question, then the spacing, then the spacing once the service is content again, ms. */
function described(pace: Pace): number[] {
  let later = pace;
  for (let taken = 0; taken < 10; taken += 1) later = afterTaken(later);
  return [pace.notBefore - NOW, pace.spacing, later.spacing];
}

test.each<[string, Partial<Throttle>, number[]]>([
  ['without a word doubles the spacing, for a while', {}, [6_000, 6_000, 3_000]],
  ['with a threshold spaces by it for good', { waitMs: 5_000, thresholdMs: 5_000 }, [5_000, 5_000, 5_000]],
  ['with a threshold below the usual changes nothing', { thresholdMs: 2_000 }, [3_000, 3_000, 3_000]],
  ['with a Retry-After waits once', { waitMs: 50_000 }, [50_000, 3_000, 3_000]],
  ['with an absurd wait waits a minute', { waitMs: 1e9 }, [60_000, 3_000, 3_000]],
  ['with an absurd threshold spaces by a minute', { thresholdMs: 1e9 }, [60_000, 60_000, 60_000]],
])('a 429 %s', (_, throttle, expected) => {
  expect(described(throttled(throttle))).toEqual(expected);
});

test('429 after 429 without a word stops at a minute', () => {
  let pace = USUAL_PACE;
  for (let times = 0; times < 20; times += 1) pace = throttled({}, pace);
  expect(described(pace)).toEqual([60_000, 60_000, 3_000]);
});

test('jitter makes it later only', () => {
  expect(throttled({ waitMs: 10_000 }, USUAL_PACE, 0.999).notBefore - NOW).toBeCloseTo(10_999, 0);
});

test('questions start at the spacing', () => {
  expect(afterStart(USUAL_PACE, NOW).notBefore).toBe(NOW + 3_000);
});
