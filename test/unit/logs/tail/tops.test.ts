/** Answers whose top is not what it should be: cut by chance to another line, gone, or of other units than lines. */
import { expect, test } from 'vitest';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';

const numbered = (count: number, from = 0) =>
  Array.from({ length: count }, (_, index) => `line ${from + index}`);
const answer = (lines: readonly string[]) => () =>
  ({ kind: 'text', text: lines.map((line) => `${line}\n`).join('') }) as const;

test('a first line that is cut, and then equals an old one, is no sign of where the tail stands', () => {
  const polls = new LogPolls();
  const lines = ['0', ...numbered(700)];
  polls.poll(answer(lines));
  // A line came late, and of the first one a last digit is left: the first line that was ever seen.
  const seen = (tail: number) => {
    const all = [...lines.toSpliced(-3, 0, 'late'), 'next'].slice(-Math.min(tail, 201));
    return answer(['0', ...all.slice(1)])();
  };
  const news = polls.poll(seen);
  expect(linesOf(news)).toEqual(['late', 'next']);
  // If it is whole, it may have come late itself.
  expect(polls.gaps).toMatchObject([{ reason: 'ambiguous', lost_estimate: 1 }]);
});

test('a log that lost its top as it was rotated, and has a late line, is the same one', () => {
  const polls = new LogPolls();
  const lines = numbered(150);
  polls.poll(answer(lines));
  polls.poll(answer([...lines.slice(75).toSpliced(-3, 0, 'late'), 'next']));
  expect(polls.lines).toEqual([...lines, 'late', 'next']);
  expect(polls.gaps).toEqual([]);
});

test('of a service that leaves out blank lines, so that no answer has as many as were asked for, a view that lags is one', () => {
  const polls = new LogPolls();
  const lines = numbered(400);
  polls.poll(answer(lines));
  polls.poll(answer(lines.slice(200, 380)));
  expect(polls.lines).toEqual(lines);
  polls.poll(answer([...lines.slice(220), 'next']));
  expect(polls.lines).toEqual([...lines, 'next']);
  expect(polls.gaps).toEqual([]);
});

test('a log that began anew with lines from amid the one before, and says no more, is seen after a minute', () => {
  const polls = new LogPolls();
  const lines = numbered(400);
  polls.poll(answer(lines));
  for (let poll = 0; poll < 70; poll++) polls.poll(answer(lines.slice(200, 230)), 1_000);
  expect(polls.lines).toEqual([...lines, ...lines.slice(200, 230)]);
  expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
});

test('the first line of an answer that is cut to so many bytes is none that came late', () => {
  const polls = new LogPolls();
  const lines = numbered(150);
  polls.poll(answer(lines));
  polls.poll(answer(['ne 59', ...lines.slice(60).toSpliced(-3, 0, 'late'), 'next']));
  expect(polls.lines).toEqual([...lines, 'late', 'next']);
});
