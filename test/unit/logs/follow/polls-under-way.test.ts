import { expect, test } from 'vitest';
import { PollsUnderWay } from '../../../../src/logs/follow/polls-under-way.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';

const NEVER = new AbortController().signal;
const [SHORT, LONG] = [20_000, 1_000_000];

/** Enters as many times as it is given lengths; what has room is written down. */
function enterAll(underWay: PollsUnderWay, lengths: readonly number[], signal = NEVER) {
  const leave: (() => void)[] = [];
  const entered: number[] = [];
  const enter = async (length: number, index: number): Promise<void> => {
    leave[index] = await underWay.enter(() => length, signal);
    if (!signal.aborted) entered.push(index);
  };
  for (const [index, length] of lengths.entries()) void enter(length, index);
  return { leave, entered };
}
const times = (count: number, length: number): number[] => Array.from({ length: count }, () => length);

test('eight whole logs at once, in the order they came, each as one before it has gone', async () => {
  const { leave, entered } = enterAll(new PollsUnderWay(new VirtualClock()), times(400, LONG));
  await settled();
  expect(entered).toEqual([0, 1, 2, 3, 4, 5, 6, 7]);
  for (let done = 0; done < 392; done++) {
    leave[done]?.();
    leave[done]?.();
    await Promise.resolve();
    await settled();
    expect(entered).toHaveLength(Math.min(400, 9 + done));
  }
  expect(entered).toEqual(Array.from({ length: 400 }, (_, index) => index));
});

test('a short one never waits, and one that is longer than all there may be waits to be alone', async () => {
  const underWay = new PollsUnderWay(new VirtualClock());
  const first = enterAll(underWay, [LONG, 80 * LONG, ...times(1_000, SHORT)]);
  await settled();
  expect(first.entered).toHaveLength(1_001);
  expect(first.entered).not.toContain(1);
  first.leave[0]?.();
  await settled();
  expect(first.entered).toContain(1);
});

test('those that hang hold up the others for five seconds', async () => {
  const clock = new VirtualClock();
  const { entered } = enterAll(new PollsUnderWay(clock), times(9, LONG));
  await clock.advance(4_999);
  expect(entered).toHaveLength(8);
  await clock.advance(1);
  expect(entered).toHaveLength(9);
});

test('what is stopped while it waits leaves no trace', async () => {
  const underWay = new PollsUnderWay(new VirtualClock());
  const first = enterAll(underWay, times(8, LONG));
  const halt = new AbortController();
  const stopped = enterAll(underWay, times(3, LONG), halt.signal);
  await settled();
  halt.abort();
  await settled();
  for (const leave of stopped.leave) leave();
  const last = enterAll(underWay, times(9, LONG));
  await settled();
  expect(last.entered).toEqual([]);
  for (const leave of first.leave) leave();
  await settled();
  expect(last.entered).toHaveLength(8);
});

test('what has grown while it waited counts as much as it has grown to', async () => {
  const underWay = new PollsUnderWay(new VirtualClock());
  const first = enterAll(underWay, times(8, LONG));
  let length = LONG;
  let entered = 0;
  for (let one = 0; one < 2; one++) void underWay.enter(() => length, NEVER).then(() => (entered += 1));
  await settled();
  length = 5 * LONG;
  for (const leave of first.leave) leave();
  await settled();
  expect(entered).toBe(1);
});
