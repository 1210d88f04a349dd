import { expect, test } from 'vitest';
import { SinkCounts } from '../../../../../src/daemon/services/logs/following.ts';

const failed = (error: unknown) =>
  ({ kind: 'sink failed', sink: 'otlp', error, failures: 1, retryInMs: 5 }) as const;

test('what each sink got and what it did not is counted by sink and reason', () => {
  const counts = new SinkCounts(['otlp', 'file']);
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 3 });
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 4 });
  counts.observe({ kind: 'delivered', sink: 'file', records: 1 });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 2, reason: 'overflow' });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 5, reason: 'rejected' });
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 6, reason: 'corruption' });
  counts.observe({ kind: 'delivered', sink: 'of before a reload', records: 9 });
  counts.observe({ kind: 'spool on disk again' });
  expect(counts.status('otlp', 7)).toEqual({
    sink: 'otlp',
    delivered_lines: 7,
    dropped_lines: { overflow: 2, corruption: 6, rejected: 5 },
    lag_lines: 7,
    last_error: null,
  });
  const none = { overflow: 0, corruption: 0, rejected: 0 };
  expect(counts.status('file', 0)).toMatchObject({ delivered_lines: 1, dropped_lines: none });
  expect(counts.status('of before a reload', 0)).toMatchObject({ delivered_lines: 0, dropped_lines: none });
});

test('what keeps a sink from taking more is known until it takes or refuses something', () => {
  const counts = new SinkCounts(['otlp']);
  const last = () => counts.status('otlp', 0).last_error;
  counts.observe(failed(new Error('it is away')));
  expect(last()).toBe('it is away');
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'overflow' });
  expect(last()).toBe('it is away');
  counts.observe({ kind: 'delivered', sink: 'otlp', records: 1 });
  expect(last()).toBeNull();
  counts.observe(failed('a word'));
  expect(last()).toBe('a word');
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'rejected' });
  expect(last()).toBeNull();
});

test('what is shown does not change afterwards', () => {
  const counts = new SinkCounts(['otlp']);
  const before = counts.status('otlp', 0);
  counts.observe({ kind: 'dropped', sink: 'otlp', records: 1, reason: 'overflow' });
  expect(before.dropped_lines['overflow']).toBe(0);
});
