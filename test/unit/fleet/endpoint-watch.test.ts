/** When one endpoint is looked at, on virtual time. */
import { afterEach, expect, test } from 'vitest';
import { watchEndpoint } from '../../../src/fleet/watch.ts';
import { VirtualClock } from '../../support/log-time.ts';

const watches: ReturnType<typeof watchEndpoint>[] = [];
afterEach(async () => {
  for (const watch of watches.splice(0)) await watch.stop();
});

/** Seconds at which it was looked at. */
function watched(look: (turn: number, clock: VirtualClock) => Promise<number> | number, firstInMs = 2_000) {
  const clock = new VirtualClock(0);
  const at: number[] = [];
  const settings = { intervalMs: 10_000 };
  const watch = watchEndpoint({
    look: async () => {
      at.push(clock.now() / 1_000);
      return look(at.length, clock);
    },
    intervalMs: () => settings.intervalMs,
    firstInMs,
    clock,
    random: () => 0.5,
  });
  watches.push(watch);
  return { clock, at, watch, settings };
}

test.each([0, 1])('a look that takes long keeps the beat, also if it fails: %i', async (failures) => {
  const { clock, at } = watched(async (turn, time): Promise<number> => {
    if (turn !== 2) return 0;
    await time.sleep(25_000, new AbortController().signal);
    return failures;
  });
  await clock.advance(70_000);
  expect(at).toEqual([2, 12, 42, 52, 62]);
});

test('failures in a row are asked about less and less, until one has succeeded', async () => {
  const { clock, at } = watched((turn) => (turn < 8 ? turn : 0));
  await clock.advance(300_000);
  const gaps = at.slice(1).map((second, index) => second - (at[index] ?? 0));
  expect(gaps.every((gap) => gap % 10 === 0)).toBe(true);
  expect(Math.max(...gaps.slice(0, 7))).toBeGreaterThan(10);
  expect(new Set(gaps.slice(7))).toEqual(new Set([10]));
});
