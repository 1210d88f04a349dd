import { expect, test } from 'vitest';
import { decodeLog, encodeLog } from '../../../../src/daemon/replicas/shared-log.ts';
import { EMPTY_STREAM, type Stream } from '../../../../src/logs/follower/stream.ts';
import * as fc from '../../../support/fast-check.ts';
import { progressAt, windowOf } from '../../../support/log-records.ts';

const lines = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);
const stream = (count: number, more: Partial<Stream> = {}): Stream => ({
  ...EMPTY_STREAM,
  window: windowOf(lines(count), 90_000),
  ...more,
});

test('the token of a log is that of its writer, whatever holding the progress is from', () => {
  const progress = Object.assign(progressAt(9), { token: 3 });
  expect(decodeLog(encodeLog({ token: 5, progress }))?.token).toBe(5);
});

test('a log is read as it was written, with the end of its window', () => {
  const full = stream(20_000, {
    came: Array.from({ length: 64 }, (_, at) => [at, 1]),
  });
  const log = {
    token: 1_764_000_000_123,
    progress: { ...progressAt(9), streams: { '': full } },
  };
  const bytes = encodeLog(log);
  expect(bytes.length).toBeLessThanOrEqual(16_384);
  expect(bytes.length).toBeGreaterThan(14_000);
  const { isWhole: _, ...rest } = full;
  expect(decodeLog(bytes)).toEqual({
    ...log,
    progress: {
      ...log.progress,
      streams: {
        '': {
          ...rest,
          isWhole: false,
          came: full.came.slice(0, 8),
          window: { from: 108_000, hashes: full.window.hashes.slice(-2_000) },
        },
      },
    },
  });
});

test('it has 16 KiB at most, whatever is in it, and what fits is whole', () =>
  fc.assert(
    fc.property(
      fc.array(
        fc.record({
          count: fc.nat(20_000),
          text: fc.oneof(fc.string({ unit: 'binary' }), fc.constant('\u001b'.repeat(90_000))),
          taken: fc.constantFrom(0, 3),
        }),
        { maxLength: 6 },
      ),
      (levels) => {
        const streams = levels.map(({ count, text, taken }, index): [string, Stream] => [
          `level ${index}`,
          stream(count, { last: text.slice(-256), pending: { text, taken, since: 5 } }),
        ]);
        const progress = { ...progressAt(9), streams: Object.fromEntries(streams) };
        const bytes = encodeLog({ token: 1, progress });
        expect(bytes.length).toBeLessThanOrEqual(16_384);
        const read = decodeLog(bytes)?.progress.streams ?? {};
        for (const [level, { window, pending }] of streams) {
          const kept = read[level];
          expect(kept?.window.hashes).toEqual(
            window.hashes.slice(window.hashes.length - (kept?.window.hashes.length ?? 0)),
          );
          expect((kept?.window.from ?? 0) + (kept?.window.hashes.length ?? 0)).toBe(
            90_000 + window.hashes.length,
          );
          expect([pending, undefined]).toContainEqual(kept?.pending);
          if ((pending?.text.length ?? 0) < 100) expect(kept?.pending).toEqual(pending);
          if (window.hashes.length <= 100) expect(kept?.window).toEqual(window);
        }
      },
    ),
    { numRuns: 20 },
  ));

test.each([
  ['nothing', Buffer.alloc(0)],
  ['text', Buffer.from('{broken')],
  ['a byte changed', encodeLog({ token: 1, progress: progressAt(1) }).fill('8', 20, 21)],
  ['a part of it', encodeLog({ token: 1, progress: progressAt(1, lines(9)) }).subarray(0, -3)],
])('%s is not read', (_, bytes) => {
  expect(decodeLog(bytes)).toBeUndefined();
});
