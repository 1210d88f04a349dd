import * as fc from '../../../support/fast-check.ts';
import { describe, expect, it } from 'vitest';
import { DeadlineHeap } from '../../../../src/heartbeat/driver/queue.ts';

describe('the deadline heap', () => {
  it('always has the smallest key on top, through additions, moves and removals', () => {
    const change = fc.record({
      item: fc.nat(20),
      key: fc.option(fc.oneof(fc.nat(100), fc.constant(Infinity))),
    });
    fc.assert(
      fc.property(fc.array(change, { maxLength: 200 }), (changes) => {
        const heap = new DeadlineHeap<number>();
        const model = new Map<number, number>();
        for (const { item, key } of changes) {
          if (key === null) {
            heap.delete(item);
            model.delete(item);
          } else {
            heap.set(item, key);
            model.set(item, key);
          }
          expect(heap.size).toBe(model.size);
          expect(heap.next).toBe(Math.min(Infinity, ...model.values()));
          const top = heap.peek();
          expect(top === undefined ? undefined : model.get(top)).toBe(
            model.size === 0 ? undefined : Math.min(...model.values()),
          );
        }
      }),
    );
  });
});
