import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { RecordQueue } from '../../../../src/logs/spool/record-queue.ts';
import { BATCH_BYTES } from '../../../../src/logs/spool/spool.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { record } from '../../../support/log-records.ts';

/** Few of a size that matters to the chunks, of a mebibyte each; any characters. */
const line = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 40 }),
  fc.integer({ min: 1, max: 2_500_000 }).map((length) => 'ü'.repeat(length / 2)),
);
const turn = fc.oneof(
  line,
  fc.constantFrom('shift' as const, 'clear' as const, 'half' as const).map((verb) => ({ verb })),
);

test('a queue of records has each as it came, at its position, until it is shifted out', () => {
  fc.assert(
    fc.property(fc.array(turn, { maxLength: 40 }), (turns) => {
      const queue = new RecordQueue();
      let [oldest, held]: [number, LogRecord[]] = [1, []];
      for (const [index, one] of turns.entries()) {
        if (typeof one === 'string') {
          held.push(record(index, one));
          queue.push(JSON.stringify(record(index, one)));
        } else if (one.verb === 'clear') {
          queue.clear();
          [oldest, held] = [oldest + held.length, []];
        } else if (one.verb === 'half') {
          const count = held.length >> 1;
          queue.shiftThrough(oldest + count - 1);
          [oldest, held] = [oldest + count, held.slice(count)];
        } else if (held.length > 0) {
          expect(queue.shift()).toBe(oldest);
          held.shift();
          oldest += 1;
        }
        expect([queue.oldest, queue.newest]).toEqual([oldest, oldest + held.length - 1]);
      }
      const sizes = held.map((one) => Buffer.byteLength(JSON.stringify(one)));
      expect(queue.bytes).toBe(sizes.reduce((sum, size) => sum + size, 0));
      for (const [index, one] of held.entries()) {
        expect(queue.textAt(oldest + index)).toBe(JSON.stringify(one));
        expect(queue.sizeAt(oldest + index)).toBe(sizes[index]);
      }
      for (let taken = 0; taken < held.length;) {
        const { bytes, count = 0 } = queue.batchFrom(oldest + taken) ?? {};
        const part = held.slice(taken, taken + count).map((one) => `${JSON.stringify(one)}\n`);
        expect(bytes?.equals(Buffer.from(part.join('')))).toBe(true);
        expect(count === 1 || (bytes?.length ?? 0) <= BATCH_BYTES).toBe(true);
        taken += count;
      }
      expect(queue.batchFrom(oldest - 1)).toBeUndefined();
      expect(queue.batchFrom(oldest + held.length)).toBeUndefined();
      expect(queue.textAt(oldest - 1)).toBeUndefined();
      expect(queue.textAt(oldest + held.length)).toBeUndefined();
    }),
    { numRuns: 50 },
  );
});

test('a batch stays as it is while its records go and others come', () => {
  const queue = new RecordQueue();
  const text = (seq: number) => JSON.stringify(record(seq, 'x'.repeat(100_000)));
  for (let seq = 1; seq <= 5; seq++) queue.push(text(seq));
  const batch = queue.batchFrom(1);
  queue.clear();
  for (let seq = 6; seq <= 10; seq++) queue.push(text(seq));
  expect(batch?.bytes.toString().split('\n').slice(0, -1)).toEqual(
    Array.from({ length: batch?.count ?? 0 }, (_, index) => text(index + 1)),
  );
});

test('a queue that is always full holds no more bytes than it says, and few of them in the heap', () => {
  const queue = new RecordQueue();
  const before = process.memoryUsage();
  for (let seq = 1; seq <= 300_000; seq++) {
    queue.push(JSON.stringify(record(seq, `line ${seq} ${'x'.repeat(100)}`)));
    while (queue.bytes > 8 * 2 ** 20) queue.shift();
  }
  expect(process.memoryUsage().arrayBuffers - before.arrayBuffers).toBeLessThan(11 * 2 ** 20);
  expect(queue.newest).toBe(300_000);
});
