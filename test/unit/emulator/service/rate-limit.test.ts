/** The arithmetic of token buckets: what a request finds, leaves and is shown. */
import { describe, expect, test } from 'vitest';
import { count, refilled, tightest, type Counting } from '../../../../src/emulator/rate-limit.ts';
import type { BucketTrait, TokenBucket } from '../../../../src/emulator/state/settings.ts';
import * as fc from '../../../support/fast-check.ts';

const HALF: BucketTrait = { size: 5, refill_per_second: 0.5, penalty: 0 };

/** A bucket that is used at each of these seconds: what it has left after each, and `x` where it refuses. */
function used(rule: BucketTrait, ...seconds: readonly number[]): string[] {
  let bucket: TokenBucket | undefined;
  return seconds.map((second) => {
    const found = { part: 'key', name: 'key', rule, bucket: refilled(bucket, rule, second * 1000) } as const;
    const { isAllowed, after } = count([found]);
    bucket = after[0]?.bucket;
    return `${isAllowed ? '' : 'x '}${bucket?.tokens}`;
  });
}

function counting(tokens: number, rule: BucketTrait, part: Counting['part'] = 'key'): Counting {
  return { part, name: part, rule, bucket: { tokens, atMs: 0 } };
}

describe('a bucket', () => {
  test('is full at first, takes a burst of its size, then one request for each token', () => {
    expect(used(HALF, 0, 0, 0, 0, 0, 0, 1, 2, 3).join(' | ')).toBe(
      '4 | 3 | 2 | 1 | 0 | x 0 | x 0.5 | 0 | x 0.5',
    );
  });

  test('is never fuller than its size, however long it rests', () => {
    expect(used({ ...HALF, size: 2 }, 0, 1_000, 1_000, 1_000)).toEqual(['1', '1', '0', 'x 0']);
  });

  test('refills nothing when the clock goes back, and goes on from there', () => {
    expect(used({ ...HALF, size: 1 }, 100, 40, 42)).toEqual(['0', 'x 0', '0']);
  });

  test.each([
    [{ penalty: 1 }, ['0', 'x -1', 'x -2', 'x -2', 'x -2', 'x -2', '0']],
    [{ penalty: 1, debt_cap: 0 }, ['0', 'x 0', 'x 0', 'x 0', 'x 0', '0', '1']],
    [{ penalty: 1.5, debt_cap: 4 }, ['0', 'x -1.5', 'x -3', 'x -4', 'x -4', 'x -4', 'x -2.5']],
    [{ penalty: 0, debt_cap: 4 }, ['0', 'x 0', 'x 0', 'x 0', 'x 0.5', '0.5', '1']],
  ])('with %j owes what refused requests cost, up to its cap', (refusals, left) => {
    const rule = { size: 2, refill_per_second: 0.5, ...refusals };
    expect(used(rule, 0, 0, 0, 0, 0, 1, 3, 9).slice(1)).toEqual(left);
  });

  test('has its token after exactly the wait that it shows, whatever its numbers', () => {
    const numbers = fc.record({
      size: fc.double({ min: 1, max: 20, noNaN: true }),
      refill_per_second: fc.double({ min: 0.01, max: 20, noNaN: true }),
      penalty: fc.double({ min: 0, max: 5, noNaN: true }),
      debt_cap: fc.double({ min: 0, max: 20, noNaN: true }),
    });
    const visits = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(numbers, visits, (rule, gaps) => {
        let bucket = refilled(undefined, rule, 0);
        for (const gap of gaps) {
          const found = {
            part: 'key',
            name: 'key',
            rule,
            bucket: refilled(bucket, rule, bucket.atMs + gap),
          } as const;
          const [after] = count([found]).after;
          bucket = after?.bucket ?? bucket;
          expect(bucket.tokens).toBeGreaterThanOrEqual(-rule.debt_cap - 1e-6);
          expect(bucket.tokens).toBeLessThanOrEqual(rule.size);
        }
        const waitMs = tightest([{ part: 'key', name: 'key', rule, bucket }])?.waitMs ?? 0;
        const at = (ms: number) => {
          const later = refilled(bucket, rule, bucket.atMs + ms);
          return count([{ part: 'key', name: 'key', rule, bucket: later }]).isAllowed;
        };
        expect(at(waitMs + 0.01)).toBe(true);
        if (waitMs > 0.01) expect(at(waitMs - 0.01)).toBe(false);
      }),
    );
  });
});

describe('several buckets', () => {
  const penal = { ...HALF, penalty: 1 };

  test('take a token each, or none at all; only the empty ones charge for a refusal', () => {
    const left = (...found: readonly Counting[]) => {
      const { isAllowed, after } = count(found);
      return [isAllowed, ...after.map(({ bucket }) => bucket.tokens)];
    };
    expect(left(counting(3, penal), counting(1, penal))).toEqual([true, 2, 0]);
    expect(left(counting(3, penal), counting(0, penal))).toEqual([false, 3, -1]);
    expect(left(counting(-1, penal), counting(0.5, penal))).toEqual([false, -2, -0.5]);
    expect(left()).toEqual([true]);
  });

  test('show the tightest of them: the fewest requests left, else the longest wait', () => {
    const slow = { ...HALF, size: 1, refill_per_second: 0.05 };
    const shown = (...found: readonly Counting[]) => tightest(found);
    expect(shown(counting(3.5, HALF), counting(1, slow, 'operations'))).toMatchObject({
      part: 'operations',
      limit: 1,
      remaining: 1,
      waitMs: 0,
      thresholdSeconds: 20,
    });
    expect(shown(counting(0, HALF), counting(0.5, slow, 'operations'))).toMatchObject({
      limit: 1,
      remaining: 0,
    });
    expect(shown(counting(-3, HALF), counting(0.9, slow, 'operations'))).toMatchObject({
      part: 'key',
      limit: 5,
      remaining: 0,
      waitMs: expect.closeTo(8_000, 3) as number,
      thresholdSeconds: 2,
    });
    expect(shown()).toBeUndefined();
  });
});
