import { expect, test } from 'vitest';
import { Turns } from '../../../src/fleet/turns.ts';
import { settled, VirtualClock } from '../../support/log-time.ts';

const NAMES_NOTHING = { waitMs: undefined, thresholdMs: undefined };
const NEVER = new AbortController().signal;

function world() {
  const clock = new VirtualClock(0);
  const turns = new Turns(clock);
  const order: string[] = [];
  const take = (endpoint: string, signal = NEVER) =>
    turns.take(endpoint, signal).then((turn) => {
      order.push(`${endpoint} ${clock.now()}`);
      return turn;
    });
  return { clock, turns, order, take };
}

test('the endpoint that was asked about longest ago is first, and of new ones the one that came first', async () => {
  const { clock, order, take } = world();
  (await take('a')).refused(NAMES_NOTHING);
  // They wait for the gap.
  const all = [take('a'), take('b'), take('c')];
  await clock.advance(10_000);
  await Promise.all(all);
  expect(order.map((line) => line.split(' ')[0])).toEqual(['a', 'b', 'c', 'a']);
  // This one leaves at once, and the others wait again.
  await take('d');
  const again = [take('a'), take('c'), take('b')];
  await clock.advance(20_000);
  await Promise.all(again);
  expect(order.slice(5).map((line) => line.split(' ')[0])).toEqual(['b', 'c', 'a']);
});

test('one that was refused keeps its turn once, and loses it when it is refused again', async () => {
  const { clock, take } = world();
  const first = await take('a');
  expect(first.refused(NAMES_NOTHING)).toBe(true);
  const asking = take('a');
  await clock.advance(1_500);
  expect((await asking).refused(NAMES_NOTHING)).toBe(false);
});

test('one that is refused while others are answered is no reason to go slower', async () => {
  const { clock, order, take } = world();
  const all = [take('a'), take('b')];
  await settled();
  const [a, b] = await Promise.all(all);
  expect(a?.refused(NAMES_NOTHING)).toBe(true);
  b?.answered();
  const again = take('a');
  await clock.advance(1_500);
  expect((await again).refused({ waitMs: 60_000, thresholdMs: undefined })).toBe(false);
  const next = take('b');
  await clock.advance(1_500);
  await next;
  expect(order).toEqual(['a 0', 'b 0', 'a 1500', 'b 3000']);
});

test('who stops waiting is let go at once, and is no turn of anybody', async () => {
  const { clock, order, take } = world();
  (await take('a')).refused({ waitMs: 10_000, thresholdMs: undefined });
  const controller = new AbortController();
  const waiting = take('b', controller.signal);
  const other = take('c');
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await expect(take('d', controller.signal)).rejects.toThrow('enough');
  await clock.advance(10_000);
  await other;
  expect(order).toEqual(['a 0', 'c 10000']);
});

test('nobody waits, nothing sleeps', async () => {
  const { clock, order, take } = world();
  (await take('a')).refused({ waitMs: 10_000, thresholdMs: undefined });
  const controller = new AbortController();
  const waiting = take('b', controller.signal);
  controller.abort(new Error('enough'));
  await expect(waiting).rejects.toThrow('enough');
  await settled();
  // A later one begins the pause anew, and is not held longer for it.
  await clock.advance(4_000);
  const later = take('c');
  await clock.advance(6_000);
  await later;
  expect(order).toEqual(['a 0', 'c 10000']);
});

test('one that is forgotten is as one that was never asked about', async () => {
  const { clock, turns, order, take } = world();
  (await take('a')).answered();
  (await take('b')).refused(NAMES_NOTHING);
  turns.forget('b');
  const all = [take('a'), take('b')];
  await clock.advance(10_000);
  await Promise.all(all);
  expect(order.slice(2).map((line) => line.split(' ')[0])).toEqual(['b', 'a']);
});
