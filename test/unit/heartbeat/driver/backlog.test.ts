import { expect, it } from 'vitest';
import { Backlog } from '../../../../src/heartbeat/driver/backlog.ts';
import { timingFor } from '../../../../src/heartbeat/engine/formulas.ts';
import { startHeartbeat, type Heartbeat } from '../../../../src/heartbeat/engine/state.ts';

const NOW = 1_000_000;

/** A heartbeat that is due, whose last acknowledged beat left so long ago, ms. */
function due(id: number, age: number, changes: Partial<Heartbeat> = {}): { readonly beat: Heartbeat } {
  const begun = { mono: NOW - age, wall: NOW - age };
  const timing = timingFor({ ttl: 60_000, interval: 'auto' });
  const beat = startHeartbeat({ id, timing, spread: 1, dueAt: begun.mono, keyGeneration: 1 }, begun);
  return { beat: { ...beat, acknowledged: true, ...changes } };
}

/** The order in which they may send. */
function order(items: readonly { readonly beat: Heartbeat }[]): number[] {
  const backlog = new Backlog<{ readonly beat: Heartbeat }>();
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

it('knows when one in trouble tries again, as long as there is something to be saved', () => {
  const backlog = new Backlog<{ readonly beat: Heartbeat }>();
  const trouble = { trouble: 'throttled', state: 'throttled' } as const;
  const item = due(1, 30_000, { ...trouble, dueAt: NOW + 900 });
  backlog.place(due(2, 10_000, { dueAt: NOW + 300 }), NOW);
  backlog.place(due(3, 10_000, trouble), NOW);
  backlog.place(due(4, 70_000, { ...trouble, state: 'lapsed', dueAt: NOW + 500 }), NOW);
  expect(backlog.retryAt).toBe(Infinity);
  backlog.place(item, NOW);
  expect(backlog.retryAt).toBe(NOW + 900);
  backlog.place(item, NOW + 900);
  expect(backlog.retryAt).toBe(Infinity);
});
