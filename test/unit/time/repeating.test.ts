import { expect, test } from 'vitest';
import { Repeating, Turns } from '../../../src/time/repeating.ts';
import { settled, VirtualClock } from '../../support/log-time.ts';

/** Begins and ends of what is repeated, in seconds from the beginning; each takes 2 s, and 10 s of pause follow. */
async function started(firstInMs = 0) {
  const clock = new VirtualClock();
  const from = clock.now();
  const begun: number[] = [];
  const ended: number[] = [];
  const now = () => (clock.now() - from) / 1_000;
  const repeating = new Repeating({
    async run(signal) {
      begun.push(now());
      await clock.sleep(2_000, signal).catch(() => {});
      ended.push(now());
      return 10_000;
    },
    firstInMs,
    clock,
  });
  await settled();
  return { clock, begun, ended, repeating };
}

test('begins at once or after a while, and again when the pause is over', async () => {
  const { clock, begun, repeating } = await started();
  await clock.advance(25_000);
  expect(begun).toEqual([0, 12, 24]);
  await repeating.stop();
  const later = await started(5_000);
  await later.clock.advance(18_000);
  expect(later.begun).toEqual([5, 17]);
  await later.repeating.stop();
});

test('is woken from its pause; woken meanwhile, it has none, and is never under way twice', async () => {
  const { clock, begun, ended, repeating } = await started();
  await clock.advance(5_000);
  repeating.wake();
  await clock.advance(1_000);
  expect(begun).toEqual([0, 5]);
  repeating.wake();
  await clock.advance(1_000);
  expect(ended).toEqual([2, 7]);
  expect(begun).toEqual([0, 5, 7]);
  await clock.advance(11_000);
  expect(begun).toEqual([0, 5, 7]);
  await repeating.stop();
});

test('is stopped in its pause, and in its work, for which it waits', async () => {
  const { clock, begun, repeating } = await started();
  await clock.advance(5_000);
  await repeating.stop();
  await clock.advance(60_000);
  expect(begun).toEqual([0]);
  const other = await started();
  await other.repeating.stop();
  expect(other.ended).toEqual([0]);
});

test('of turns, another kind waits for its own, and a failure keeps none from it', async () => {
  const turns = new Turns();
  const order: string[] = [];
  const failing = turns.take('reload', () => Promise.reject(new Error('no')));
  const other = turns.take('secrets', () => Promise.resolve(order.push('secrets')));
  const again = turns.take('reload', () => Promise.resolve(order.push('reload')));
  await expect(failing).rejects.toThrow('no');
  await other;
  await expect(again).rejects.toThrow('no');
  expect(order).toEqual(['secrets']);
});
