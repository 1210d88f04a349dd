/** The last beats of a stop: who waits for them, how long, and who was not reached. */
import { describe, expect, test } from 'vitest';
import { FinalBeat, finalBeatMs } from '../../../../src/heartbeat/driver/first-and-last.ts';

/** A time limit that passes when it is told to. */
function limit() {
  const set: number[] = [];
  let fire: () => void = () => {};
  let cancelled = 0;
  const setTimer = (ms: number, fn: () => void) => {
    set.push(ms);
    fire = fn;
    return () => void (cancelled += 1);
  };
  return { setTimer, set, pass: () => fire(), cancelled: () => cancelled };
}

describe('last beats of several deployments', () => {
  test('end when each was reached, or never will be', async () => {
    const { setTimer, set, cancelled } = limit();
    const last = new FinalBeat([1, 2, 3]);
    let missed: number[] | undefined;
    const ended = last.missed(500, setTimer).then((ids) => (missed = ids));
    last.end(1, 'reached');
    last.end(2, 'missed');
    await Promise.resolve();
    expect(missed).toBeUndefined();
    last.end(3, 'reached');
    expect(await ended).toEqual([2]);
    expect([set, cancelled()]).toEqual([[500], 1]);
  });

  test('end at their limit', async () => {
    const { setTimer, pass, cancelled } = limit();
    const last = new FinalBeat([1, 2]);
    const ended = last.missed(500, setTimer);
    last.end(2, 'reached');
    pass();
    expect(await ended).toEqual([1]);
    expect(cancelled()).toBe(1);
  });

  test('of none have ended at once', async () => {
    expect(await new FinalBeat([]).missed(500, limit().setTimer)).toEqual([]);
  });
});

test('last beats take the longest of them, as often as so many at once need, and the gaps between', () => {
  const of = (attemptTimeout: number) =>
    ({ beat: { timing: { attemptTimeout } } }) as Parameters<typeof finalBeatMs>[0][number];
  // A second lies between two attempts of one deployment.
  expect(finalBeatMs([of(1_000), of(1_200), of(300)], 10, 2)).toBe(2 * 2_200 + 30);
  expect(finalBeatMs([of(1_000)], 0, 5)).toBe(2_000);
  expect(finalBeatMs([], 10, 5)).toBe(0);
});
