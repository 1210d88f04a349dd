/** What is too little to advise upon: what it says of it, and where enough begins. */
import { expect, test } from 'vitest';
import { lackOfRequests, lackOfTrace } from '../../../../src/scaling/advice/evidence.ts';
import { RecordedLoad } from '../../../../src/scaling/planner/load/load.ts';

/** So many requests, of which the last comes after so many seconds. */
function trace(count: number, seconds: number, work = 5): RecordedLoad {
  const gap = count > 1 ? seconds / (count - 1) : 0;
  return RecordedLoad.of(Array.from({ length: count }, (_, index) => ({ atSeconds: index * gap, work })));
}

test.each([
  [trace(1, 0), 'the trace is of 0 s; an hour is the least'],
  [trace(1200, 119.9), 'the trace is of 120 s; an hour is the least'],
  [trace(2000, 3419), 'the trace is of 56 minutes; an hour is the least'],
  [trace(2000, 3420), undefined],
  [trace(2, 3600, 0), 'the trace has no work in it: each of its 2 requests is of 0 units'],
  [trace(99, 7200), 'the trace has 99 requests; 100 are the least that a p99 is told of'],
  [trace(100, 7200), undefined],
])('a trace: %#', (load, words) => {
  expect(lackOfTrace(load)).toBe(words);
});

test('requests that are so large that there are few of them', () => {
  const size = { mean: 1234, dispersion: 2, from: 'given' } as const;
  expect(lackOfRequests(1, size)).toBe(
    'with 1230 units a request, its load is of 1 request; 100 are the least that a p99 is told of; where they are ' +
      'smaller, name their size with --request-size',
  );
  expect([lackOfRequests(99, size) === undefined, lackOfRequests(100, size)]).toEqual([false, undefined]);
});
