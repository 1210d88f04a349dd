import { expect, test } from 'vitest';
import { Turns } from '../../../src/time/repeating.ts';

test('of forty calls during a run one more run comes of it, with one result for all', async () => {
  const turns = new Turns();
  const first = Promise.withResolvers<number>();
  let runs = 0;
  const take = () => turns.take('reload', () => ((runs += 1) === 1 ? first.promise : Promise.resolve(runs)));
  const begun = take();
  // It begins once the caller has gone on.
  await Promise.resolve();
  const others = Array.from({ length: 40 }, take);
  first.resolve(1);
  expect(await begun).toBe(1);
  expect(new Set(await Promise.all(others))).toEqual(new Set([2]));
  expect(await take()).toBe(3);
});

test('another kind waits for its own turn, and a failure keeps none from it', async () => {
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
