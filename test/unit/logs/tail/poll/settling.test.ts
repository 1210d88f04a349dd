/** Which of the answers that told too little is taken first. */
import { describe, expect, test } from 'vitest';
import type { TextPoll } from '../../../../../src/logs/tail/poll/group-state.ts';
import type { Readings } from '../../../../../src/logs/tail/poll/reading.ts';
import type { Hold } from '../../../../../src/logs/tail/hold.ts';
import { bringsMore, firstToTake, isCertain } from '../../../../../src/logs/tail/poll/settling.ts';
import { EMPTY_STREAM, type Insufficient, type Taken } from '../../../../../src/logs/tail/stream.ts';

const range = (from: number, to: number) =>
  Array.from({ length: to - from + 1 }, (_, index) => `line ${from + index}`);
const poll = (lines: readonly string[], now = 1_000): TextPoll => ({
  tail: 200,
  now,
  roundTripMs: 30,
  texts: [['', { lines }]],
});
const taken = (over: Partial<Taken> = {}): Taken => ({
  kind: 'taken',
  stream: EMPTY_STREAM,
  lines: ['new'],
  ...over,
});
const read = (...outcomes: readonly Taken[]): Readings => ({
  kind: 'read',
  taken: outcomes.map((outcome, index) => [String(index), outcome]),
  held: [],
});
const gap = (reason: 'overrun' | 'ambiguous') => ({ gap: { reason, lost_min: 0, lost_estimate: 1 } });

const CERTAIN = read(taken());
const DOUBTED = read(taken(gap('ambiguous')));
const LOSS = read(taken(gap('overrun')));
const APART = read(taken({ ...gap('ambiguous'), isJoined: false }));
const HELD = read();
const MORE: Insufficient = { kind: 'insufficient', tail: 400, isNeeded: true };

test('it is certain where no level tells of a gap', () => {
  expect([CERTAIN, DOUBTED, LOSS, HELD, MORE].map(isCertain)).toEqual([true, false, false, false, false]);
  expect(isCertain(read(taken(), taken(gap('ambiguous'))))).toBe(false);
});

test('it brings more where something is taken, where it asks for more, and where it may be another log', () => {
  const holding = (hold: Partial<Hold>): Readings => ({
    ...read(),
    held: [['', { ...EMPTY_STREAM, held: { since: 0, answers: 1, ...hold } }]],
  });
  expect([CERTAIN, LOSS, MORE, holding({ other: { lines: ['another'] } })].map(bringsMore)).toEqual([
    true,
    true,
    true,
    true,
  ]);
  expect([HELD, holding({ least: 3 })].map(bringsMore)).toEqual([false, false]);
});

describe('first comes', () => {
  const polls = [poll(['a']), poll(['b']), poll(['c'])];
  const first = (...readings: readonly (Readings | Insufficient)[]) =>
    polls.indexOf(firstToTake(polls, readings, Infinity) ?? poll([]));

  test('what is certain, then what is doubted, then what costs lines, and of those the oldest', () => {
    expect(first(LOSS, DOUBTED, CERTAIN)).toBe(2);
    expect(first(LOSS, DOUBTED, LOSS)).toBe(1);
    expect(first(LOSS, LOSS, LOSS)).toBe(0);
    expect(first(LOSS, CERTAIN, CERTAIN)).toBe(1);
    expect(first(LOSS, read(taken(), taken(gap('overrun'))), DOUBTED)).toBe(2);
  });

  test('what is doubted and joined to nothing, held, or asks for more costs lines', () => {
    for (const costly of [APART, HELD, MORE]) expect(first(costly, DOUBTED, LOSS)).toBe(1);
  });
});

describe('what came later than a moment', () => {
  const polls = [poll(['a'], 5_000), poll(['b'], 6_000)];

  test('is kept while it is not clear', () => {
    expect(firstToTake(polls, [LOSS, DOUBTED], 4_999)).toBeUndefined();
    expect(firstToTake(polls, [LOSS, LOSS], 4_999)).toBeUndefined();
  });

  test('is taken where it is clear, or one of them is as old', () => {
    expect(firstToTake(polls, [LOSS, CERTAIN], 4_999)).toBe(polls[1]);
    expect(firstToTake(polls, [LOSS, DOUBTED], 5_000)).toBe(polls[1]);
  });

  test('nothing is left to take', () => {
    expect(firstToTake([], [], Infinity)).toBeUndefined();
  });
});

describe('one that ends within another', () => {
  const lower = poll(range(20, 60));
  const upper = poll(range(5, 50));
  const apart = poll(range(80, 99));

  test('is taken before it, where both lose lines: it reaches further up', () => {
    expect(firstToTake([lower, upper], [LOSS, LOSS], Infinity)).toBe(upper);
    expect(firstToTake([lower, upper], [DOUBTED, LOSS], Infinity)).toBe(upper);
    expect(firstToTake([lower, apart], [LOSS, LOSS], Infinity)).toBe(lower);
    expect(firstToTake([upper, lower], [LOSS, LOSS], Infinity)).toBe(upper);
  });

  /** Only so many lines of the answer were known. */
  const joinedBy = (count: number, { texts }: TextPoll) =>
    read(taken({ lines: texts.flatMap(([, { lines }]) => lines.slice(count)) }));

  test('is taken before it, where that continues what is known by a few lines, perhaps by chance', () => {
    expect(firstToTake([lower, upper], [joinedBy(5, lower), LOSS], Infinity)).toBe(upper);
    expect(firstToTake([lower, upper], [joinedBy(6, lower), LOSS], Infinity)).toBe(lower);
    expect(firstToTake([lower, upper], [joinedBy(5, lower), DOUBTED], Infinity)).toBe(lower);
    expect(firstToTake([lower, apart], [joinedBy(5, lower), LOSS], Infinity)).toBe(lower);
  });

  test('but not where it reaches no further up', () => {
    const within = poll(range(20, 50));
    expect(firstToTake([lower, within], [joinedBy(5, lower), LOSS], Infinity)).toBe(lower);
  });
});
