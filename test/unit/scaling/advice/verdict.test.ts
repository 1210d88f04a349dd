/** What is made of the figures. */
import { describe, expect, test } from 'vitest';
import type { Finalist, Finals } from '../../../../src/scaling/advice/choice.ts';
import { decide } from '../../../../src/scaling/advice/verdict.ts';
import { resolveDefaults } from '../../../../src/scaling/rules/check.ts';

const LIMIT = 5;
/** Two seeds, then half and double the size of a request. */
const KINDS = { likely: [0, 1], otherwise: [2, 3] };

function set(target_util: number, costPerHour: number | number[], p99Seconds: number | number[]): Finalist {
  const four = (value: number | number[]) =>
    typeof value === 'number' ? [value, value, value, value] : value;
  const parameters = { ...resolveDefaults({}), target_util };
  return { parameters, costPerHour: four(costPerHour), p99Seconds: four(p99Seconds) };
}

function decided(today: Finalist, ...finalists: Finalist[]) {
  const finals: Finals = { today, finalists };
  const { verdict, best, because } = decide(finals, LIMIT, KINDS);
  return { verdict, best: best?.parameters.target_util, because };
}

describe('today keeps the limit', () => {
  const today = set(0.5, 10, 2);

  test('a set that is cheaper and keeps it anyway is advised', () => {
    expect(decided(today, set(0.8, 7, 4))).toEqual({ verdict: 'change', best: 0.8, because: undefined });
  });

  test('one that is hardly cheaper is not', () => {
    expect(decided(today, set(0.6, 9.6, 4))).toEqual({ verdict: 'keep', best: 0.5, because: undefined });
    expect(decided(today)).toEqual({ verdict: 'keep', best: 0.5, because: undefined });
  });

  test('where the cheapest misses it with larger requests, one that does not is advised', () => {
    const risky = set(0.9, 6, [4, 4, 3, 9]);
    expect(decided(today, risky, set(0.8, 7, 4))).toEqual({
      verdict: 'change',
      best: 0.8,
      because: undefined,
    });
  });

  test('where all that are cheaper miss it with larger requests, nobody can say', () => {
    expect(decided(today, set(0.9, 6, [4, 4, 3, 9]))).toMatchObject({ verdict: 'declined', because: 'size' });
    expect(decided(today, set(0.9, 6, [4, 4, 3, 9]), set(0.55, 9.9, 3))).toMatchObject({
      verdict: 'declined',
    });
  });

  test('one that is dearer with larger requests is no advice', () => {
    expect(decided(today, set(0.9, [7, 7, 7, 11], 4))).toMatchObject({
      verdict: 'declined',
      because: 'size',
    });
  });

  test('where today misses it with larger requests, and nothing cheaper is safe, nobody can say', () => {
    expect(decided(set(0.5, 10, [2, 2, 2, 8]))).toMatchObject({ verdict: 'declined', because: 'size' });
  });
});

describe('today misses the limit', () => {
  const today = set(0.95, 10, 20);

  test('what keeps it is dearer', () => {
    expect(decided(today, set(0.6, 14, 4))).toEqual({ verdict: 'dearer', best: 0.6, because: undefined });
  });

  test('what keeps it costs no more', () => {
    expect(decided(today, set(0.6, 9.9, 4))).toEqual({ verdict: 'change', best: 0.6, because: undefined });
  });

  test('what keeps it would not with larger requests: nobody can say', () => {
    expect(decided(today, set(0.6, 14, [4, 4, 3, 9]))).toMatchObject({
      verdict: 'declined',
      because: 'size',
    });
  });

  test('nothing keeps it', () => {
    expect(decided(today)).toEqual({ verdict: 'keep', best: 0.95, because: 'none keeps' });
  });

  test('with smaller requests it would keep it: nobody can say', () => {
    expect(decided(set(0.95, 10, [20, 20, 3, 40]), set(0.6, 14, 4))).toMatchObject({ because: 'size' });
  });
});

describe('just so', () => {
  test('a wait of the limit is kept', () => {
    expect(decided(set(0.5, 10, 5), set(0.8, 7, 5))).toMatchObject({ verdict: 'change', best: 0.8 });
    expect(decided(set(0.5, 10, 5))).toEqual({ verdict: 'keep', best: 0.5, because: undefined });
  });

  test('what is cheaper and costs as much with larger requests is advised', () => {
    expect(decided(set(0.5, 10, 2), set(0.8, [7, 7, 7, 10], 4))).toMatchObject({
      verdict: 'change',
      best: 0.8,
    });
  });

  test('what keeps a limit that today misses, at the same cost, is a change', () => {
    expect(decided(set(0.95, 10, 20), set(0.6, 10, 4))).toMatchObject({ verdict: 'change', best: 0.6 });
    expect(decided(set(0.95, 10, 20), set(0.6, [10, 10, 10, 10.1], 4))).toMatchObject({ verdict: 'dearer' });
  });

  test('the mean of the seeds counts, and not each of them', () => {
    expect(
      decided(set(0.5, [9, 11, 10, 10], [4, 6, 2, 2]), set(0.8, [10, 4, 7, 7], [6, 4, 4, 4])),
    ).toMatchObject({
      verdict: 'change',
      best: 0.8,
    });
    expect(decided(set(0.5, 10, 2), set(0.8, 7, [6, 4.1, 4, 4]))).toMatchObject({ verdict: 'keep' });
  });

  test('the first that keeps it anyway is advised, though one before it is cheaper by chance', () => {
    const finals = [set(0.9, 6, [6, 6, 4, 4]), set(0.8, 7, 4), set(0.7, 8, 3)];
    expect(decided(set(0.5, 10, 2), ...finals)).toMatchObject({ verdict: 'change', best: 0.8 });
  });

  test('where what is likely is cheaper, and what is sure is not, nobody can say', () => {
    const finals = [set(0.9, 9, [4, 4, 4, 9]), set(0.6, 9.8, 3)];
    expect(decided(set(0.5, 10, 2), ...finals)).toMatchObject({ verdict: 'declined', because: 'size' });
    expect(decided(set(0.5, 10, 2), set(0.9, 9.7, [4, 4, 4, 9]), set(0.6, 9.8, 3))).toMatchObject({
      verdict: 'keep',
    });
  });
});

test('of a load that is exact nothing turns on a size', () => {
  const today = set(0.5, 10, 2);
  const finals = { today, finalists: [set(0.9, 6, [4, 4, 3, 9])] };
  expect(decide(finals, LIMIT, { likely: [0, 1], otherwise: [] }).verdict).toBe('change');
});
