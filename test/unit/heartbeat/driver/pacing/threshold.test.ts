import { expect, test } from 'vitest';
import { Threshold } from '../../../../../src/heartbeat/driver/pacing/threshold.ts';

const throttled = (said: { thresholdMs?: number; retryAfterMs?: number } = {}) =>
  ({ type: 'throttled', ...said }) as const;

test('where nobody says anything it is 2 s, and a little more is kept', () => {
  const threshold = new Threshold();
  expect([threshold.named, threshold.tooShort, threshold.value]).toEqual([0, 0, 2_000]);
  expect([0, 300, 1_000, 5_000].map((delay) => threshold.gapAfter(delay))).toEqual([
    2_041, 2_341, 3_041, 3_041,
  ]);
});

test('no more is kept than gives every deployment its turn, and no less than it is', () => {
  const threshold = new Threshold();
  threshold.hear(throttled({ thresholdMs: 2_000 }));
  threshold.widest = 2_010;
  expect(threshold.gapAfter(0)).toBe(2_010);
  threshold.widest = 1_000;
  expect(threshold.gapAfter(0)).toBe(2_000);
});

test('a refusal is of another limit where it asks to wait for more than 10 s, unless it names one', () => {
  const threshold = new Threshold();
  expect(threshold.concerns(throttled({ retryAfterMs: 10_000 }))).toBe(true);
  expect(threshold.concerns(throttled({ retryAfterMs: 10_001 }))).toBe(false);
  expect(threshold.concerns(throttled({ retryAfterMs: 10_001, thresholdMs: 1 }))).toBe(true);
  expect(threshold.concerns(throttled())).toBe(true);
});

test('a refusal agrees that names the same within a twentieth', () => {
  const threshold = new Threshold();
  expect([
    threshold.agrees(throttled(), false),
    threshold.agrees(throttled({ thresholdMs: 1 }), true),
  ]).toEqual([true, false]);
  threshold.hear(throttled({ thresholdMs: 3_000 }));
  const named = [2_849, 2_850, 3_150, 3_151];
  expect(named.map((thresholdMs) => threshold.agrees(throttled({ thresholdMs }), false))).toEqual([
    false,
    true,
    true,
    false,
  ]);
  expect([false, true].map((confirmed) => threshold.agrees(throttled(), confirmed))).toEqual([false, true]);
});

test('the longest that was named counts', () => {
  const threshold = new Threshold();
  for (const thresholdMs of [2_900, 3_000, 2_950]) threshold.hear(throttled({ thresholdMs }));
  expect([threshold.named, threshold.value]).toEqual([3_000, 3_000]);
  expect(threshold.wasTooShort(5_000)).toBe(false);
});

test('what did not do is grown by half, as far as 10 s', () => {
  const threshold = new Threshold();
  expect(threshold.wasTooShort(2_500)).toBe(true); // 2,041 were kept
  expect([threshold.tooShort, threshold.value]).toEqual([2_041, 3_061.5]);
  expect(threshold.wasTooShort(1_000)).toBe(true);
  expect(threshold.tooShort).toBe(2_041);
  for (let growth = 0; growth < 9; growth += 1) threshold.wasTooShort(10_000);
  expect(threshold.value).toBe(10_000);
  expect(threshold.wasTooShort(10_001)).toBe(false);
});

test('what is asked to wait first outweighs what was found out, and later it does not', () => {
  const threshold = new Threshold();
  threshold.wasTooShort(2_500);
  threshold.hear(throttled({ retryAfterMs: 1_000 }));
  expect([threshold.tooShort, threshold.value]).toEqual([0, 1_000]);
  threshold.wasTooShort(1_500);
  threshold.hear(throttled({ retryAfterMs: 1_000 }));
  expect(threshold.tooShort).toBe(1_021);
  threshold.hear(throttled());
  expect(threshold.tooShort).toBe(1_021);
});

test('it is no longer than what was enough, and what was too short by then was a fault', () => {
  const threshold = new Threshold();
  threshold.wasTooShort(2_500);
  threshold.wasEnough(2_042);
  expect([threshold.tooShort, threshold.value]).toEqual([2_041, 2_042]);
  threshold.wasEnough(2_041);
  expect([threshold.tooShort, threshold.value]).toEqual([0, 2_000]);
  threshold.wasEnough(3);
  expect(threshold.value).toBe(10);
});

test('it is longer for a while where what was enough did not do', () => {
  const threshold = new Threshold();
  threshold.wasEnough(1_800);
  expect(threshold.value).toBe(1_800);
  threshold.wasTooShort(1_900); // 1,837 were kept
  expect([threshold.tooShort, threshold.value]).toEqual([0, 1.5 * 1_837]);
  threshold.wasEnough(1_800);
  expect(threshold.value).toBe(1_800);
});

test('what gives every deployment its turn is guessed first, unless it was too short', () => {
  const threshold = new Threshold();
  threshold.widest = 500;
  expect(threshold.value).toBe(500);
  threshold.wasTooShort(500);
  expect(threshold.tooShort).toBe(500);
  // Not what gives them their turn any more, but 2 s.
  expect(threshold.value).toBe(2_000);
});

test('forgotten is all that refusals said, but what is known well stays', () => {
  const known = (enough: number) => {
    const threshold = new Threshold();
    threshold.wasTooShort(1_000);
    threshold.hear(throttled({ thresholdMs: 5_000, retryAfterMs: 0 }));
    threshold.wasEnough(enough);
    threshold.forget();
    return [threshold.named, threshold.tooShort];
  };
  expect(known(1_800)).toEqual([0, 1_000]);
  expect(known(1_801)).toEqual([0, 0]);
});
