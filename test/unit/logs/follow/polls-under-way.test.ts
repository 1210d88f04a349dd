import { expect, test } from 'vitest';
import { startLogPipeline } from '../../../../src/logs/follow/pipeline.ts';
import { PollsUnderWay } from '../../../../src/logs/follow/group-follower.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { memorySpool } from '../../../support/memory-spool.ts';

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

test('of many groups that wake together, no more is under way than of many that are new', async () => {
  const [groups, linesPerSecond, most] = [20, 30, 8 * 2 ** 20];
  const clock = new VirtualClock();
  const begun = clock.now();
  const lineOf = (index: number) => `${index} `.padEnd(299, 'x');
  let [underWay, peak, widest] = [0, 0, 0];
  const follower = startLogPipeline({
    sources: [],
    sinks: [],
    async fetchTail({ tail }) {
      const written = Math.floor(((clock.now() - begun) * linesPerSecond) / 1_000);
      const from = Math.max(0, written - tail);
      const text = Array.from({ length: written - from }, (_, index) => `${lineOf(from + index)}\n`).join('');
      underWay += text.length;
      peak = Math.max(peak, underWay);
      widest = Math.max(widest, tail);
      await clock.sleep(20, new AbortController().signal);
      underWay -= text.length;
      return { kind: 'text', text };
    },
    spool: memorySpool(['stdout']),
    start: 'end',
    clock,
    random: () => 0.5,
    observe() {},
  });
  for (let group = 1; group <= groups; group++) follower.add({ kind: 'workergroup', id: group });
  await clock.advance(20_000);
  [peak, widest] = [0, 0];
  clock.standStill(120_000);
  await clock.advance(3_000);
  expect(widest).toBeGreaterThan(120 * linesPerSecond);
  // One more may be as long as it is.
  expect(peak).toBeLessThan(most + widest * 300);
  await follower.rest();
});
