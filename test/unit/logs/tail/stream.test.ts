/** What is known of a stream after an answer. */
import { describe, expect, test } from 'vitest';
import { pendingLine } from '../../../../src/logs/tail/last/last-line.ts';
import { hashed } from '../../../../src/logs/tail/line-hash.ts';
import {
  EMPTY_STREAM,
  extended,
  linesFrom,
  NOTHING,
  withDeparted,
  withoutFormer,
  withPending,
  type Stream,
} from '../../../../src/logs/tail/stream.ts';
import { windowLines } from '../../../../src/logs/tail/window.ts';
import { windowOf } from '../../../support/log-records.ts';

const NOW = 1_000_000;
const streamOf = (over: Partial<Stream> = {}): Stream => ({
  window: windowOf(['a', 'b']),
  endsLines: false,
  ...over,
});
const after = (over: Partial<Stream>, lines: readonly string[], unended?: string) =>
  extended(
    streamOf(over),
    hashed(lines),
    { lines: ['b', ...lines], ...(unended !== undefined && { unended }) },
    NOW,
  );

describe('after an answer', () => {
  test('the new lines are known, and how many there were, of how many characters', () => {
    const next = after({}, ['cc', 'd'], 'e');
    expect(windowLines(next.window)).toEqual(['a', 'b', 'cc', 'd']);
    expect(next).toStrictEqual({
      window: next.window,
      shown: 3,
      size: 8,
      endsLines: false,
      pending: pendingLine('e', NOW),
    });
  });

  test('without new lines the window is the same one', () => {
    const stream = streamOf();
    expect(extended(stream, NOTHING, { lines: ['b'] }, NOW).window).toBe(stream.window);
  });

  test('the service is known to end its lines once one answer ended so', () => {
    expect(after({}, ['c']).endsLines).toBe(true);
    expect(after({}, ['c'], 'd').endsLines).toBe(false);
    expect(after({ endsLines: true }, ['c'], 'd').endsLines).toBe(true);
    expect(extended(streamOf(), NOTHING, { lines: [] }, NOW).endsLines).toBe(false);
  });

  test('the line that was being written is that of the answer, or none', () => {
    const pending = pendingLine('old', NOW);
    expect(after({ pending }, ['c'])).not.toHaveProperty('pending');
    expect(after({ pending }, ['c'], 'new').pending).toEqual(pendingLine('new', NOW));
  });

  test('the window begins where the log does, until lines slide out of it', () => {
    const many = Array.from({ length: 9_997 }, (_, index) => `line ${index}`);
    expect(after({ whole: true }, many).whole).toBe(true);
    expect(after({ whole: true }, [...many, 'last'])).not.toHaveProperty('whole');
    expect(after({ whole: false }, ['c'])).not.toHaveProperty('whole');
  });

  test('what is known of the service stays', () => {
    expect(after({ cutAt: 5 }, ['c']).cutAt).toBe(5);
    expect(after({}, ['c'])).not.toHaveProperty('cutAt');
  });

  test('the log before is known for ten minutes, and a line that departed for one', () => {
    const former = (ms: number) => ({ hashes: [1], ended: NOW - ms });
    expect(after({ former: former(599_999) }, ['c']).former).toEqual(former(599_999));
    expect(after({ former: former(600_000) }, ['c'])).not.toHaveProperty('former');
    const departed = (ms: number) => pendingLine('gone', NOW - ms, 4);
    expect(after({ departed: departed(59_999) }, ['c']).departed).toEqual(departed(59_999));
    expect(after({ departed: departed(60_000) }, ['c'])).not.toHaveProperty('departed');
  });

  test('nothing is held, or doubted', () => {
    const next = after({ held: { since: NOW, answers: 1 }, doubted: true }, ['c']);
    expect(next).not.toHaveProperty('held');
    expect(next).not.toHaveProperty('doubted');
  });
});

test('a line departs where some of it was delivered, from now on', () => {
  const stream = streamOf();
  expect(withDeparted(stream, undefined, NOW)).toBe(stream);
  expect(withDeparted(stream, pendingLine('gone', NOW - 5, 0), NOW)).toBe(stream);
  expect(withDeparted(stream, pendingLine('gone', NOW - 5, 2), NOW).departed).toEqual(
    pendingLine('gone', NOW, 2),
  );
});

test('a stream with another line being written, and without the log before', () => {
  const former = { hashes: [1], ended: NOW };
  const stream = streamOf({ pending: pendingLine('old', NOW), former });
  expect(withPending(stream, undefined)).toStrictEqual(streamOf({ former }));
  expect(withPending(streamOf(), pendingLine('new', NOW)).pending?.text).toBe('new');
  expect(withoutFormer(stream)).toStrictEqual(streamOf({ pending: pendingLine('old', NOW) }));
});

test('lines from one on, and their hashes', () => {
  const all = hashed(['a', 'b', 'c']);
  expect(linesFrom(all, 1)).toEqual({ lines: ['b', 'c'], hashes: hashed(['b', 'c']).hashes });
  const many = hashed(Array.from({ length: 300 }, (_, index) => `line ${index}`));
  expect(linesFrom(many, 2).lines).toEqual(many.lines.slice(2));
});

test('of a log that was never seen the beginning is known', () => {
  expect(EMPTY_STREAM).toMatchObject({ whole: true, endsLines: false });
});
