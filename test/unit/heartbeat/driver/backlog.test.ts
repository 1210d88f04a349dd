import { expect, it } from 'vitest';
import { Backlog } from '../../../../src/heartbeat/driver/backlog.ts';
import type { Heartbeat } from '../../../../src/heartbeat/engine/state.ts';
import { due, hedging, NOW, type Item } from './due.ts';

/** The order in which they may send. */
function order(items: readonly Item[]): number[] {
  const backlog = new Backlog<Item>();
  for (const item of items) backlog.place(item, NOW);
  return items.map(() => {
    const first = backlog.sender()!;
    backlog.defer(first, Infinity);
    return first.beat.id;
  });
}

it('who expires first sends first, and who is lost sends last', () => {
  expect(order([due(1, 70_000), due(2, 20_000), due(3, 50_000), due(4, 90_000)])).toEqual([3, 2, 4, 1]);
});

it('one that the service says is gone keeps its place until its time is up', () => {
  expect(order([due(1, 70_000, { gone: true }), due(2, 50_000, { gone: true }), due(3, 20_000)])).toEqual([
    2, 3, 1,
  ]);
});

it('one that only a clock that was set makes look lost is in a hurry', () => {
  const hidden = { offset: 0, hidden: 3_600_000 };
  expect(order([due(1, 20_000), due(2, 10_000, { drift: hidden })])).toEqual([2, 1]);
});

it('one is lost from the moment on at which its life is over, and not before; without a TTL it never is', () => {
  expect(order([due(1, 59_400), due(2, 20_000)])).toEqual([2, 1]);
  expect(order([due(1, 59_399), due(2, 20_000)])).toEqual([1, 2]);
  expect(order([due(1, 200_000, {}, { ttl: undefined }), due(2, 20_000)])).toEqual([1, 2]);
  expect(order([due(1, 100_000, { gone: true }, { ttl: undefined }), due(2, 20_000)])).toEqual([2, 1]);
  expect(order([due(1, 98_999, { gone: true }, { ttl: undefined }), due(2, 20_000)])).toEqual([1, 2]);
});

it('a second attempt comes after all first ones, also those of what is lost, and is never the ripest', () => {
  expect(order([hedging(1, 58_000), due(2, 20_000), due(3, 90_000)])).toEqual([2, 3, 1]);
  const backlog = new Backlog<Item>();
  const second = hedging(1, 58_000);
  backlog.place(second, NOW);
  expect([backlog.sender(), backlog.ripest(), backlog.latestAt]).toEqual([second, undefined, Infinity]);
  expect(backlog.senders).toBe(1);
});

it('one that may send by now is no deadline', () => {
  const backlog = new Backlog<Item>();
  const item = due(1, 10_000, { dueAt: NOW + 100 });
  backlog.place(item, NOW);
  expect([backlog.nextAt, backlog.sender()]).toEqual([NOW + 100, undefined]);
  expect(backlog.due(NOW + 99)).toBeUndefined();
  expect(backlog.sender()).toBeUndefined();
  expect(backlog.due(NOW + 100)).toBeUndefined();
  expect([backlog.sender(), backlog.ripest()]).toEqual([item, item]);
  expect(backlog.due(NOW + 49_400)).toBe(item);
});

it('one that has nothing to do any more is in no list', () => {
  const backlog = new Backlog<{ beat: Heartbeat }>();
  const item = { ...due(1, 10_000) };
  backlog.place(item, NOW);
  expect(backlog.senders).toBe(1);
  item.beat = { ...item.beat, state: 'stopped' };
  backlog.place(item, NOW);
  expect([backlog.nextAt, backlog.latestAt, backlog.senders, backlog.sender()]).toEqual([
    Infinity,
    Infinity,
    0,
    undefined,
  ]);
});

it('knows when one in trouble tries again, as long as there is something to be saved', () => {
  const backlog = new Backlog<Item>();
  const trouble = { trouble: 'throttled', state: 'throttled' } as const;
  const item = due(1, 30_000, { ...trouble, dueAt: NOW + 900 });
  backlog.place(due(2, 10_000, { dueAt: NOW + 300 }), NOW);
  backlog.place(due(3, 10_000, trouble), NOW);
  backlog.place(due(4, 70_000, { ...trouble, state: 'lapsed', dueAt: NOW + 500 }), NOW);
  backlog.place(due(5, 30_000, { ...trouble, state: 'gone', dueAt: NOW + 500 }), NOW);
  expect(backlog.retryAt).toBe(Infinity);
  backlog.place(item, NOW);
  expect(backlog.retryAt).toBe(NOW + 900);
  backlog.place(item, NOW + 900);
  expect(backlog.retryAt).toBe(Infinity);
});
