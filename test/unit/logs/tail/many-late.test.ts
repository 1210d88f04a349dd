/** One worker's lines arrive all at once, late, where they belong: its link was down. */
import { expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import { LogPolls } from '../../../support/log-polls.ts';

const made = (count: number, word: string) => Array.from({ length: count }, (_, index) => `${word} ${index}`);
const answer =
  (lines: readonly string[]) =>
  (tail: number): TailAnswer => ({
    kind: 'text',
    text: lines
      .slice(-tail)
      .map((line) => `${line}\n`)
      .join(''),
  });

test.each([
  { count: 500, size: 1_000, at: 0 },
  { count: 2_000, size: 1_000, at: 0 },
  { count: 450, size: 3_000, at: 1_500 },
  { count: 450, size: 30_000, at: 28_000 },
])('$count at line $at of $size are delivered, and nothing is again', ({ count, size, at }) => {
  const polls = new LogPolls();
  const lines = made(size, 'line');
  polls.poll(answer(lines));
  const before = polls.records.length;
  const late = made(count, 'late');
  const all = lines.toSpliced(at, 0, ...late);
  // As wide as can be, as after a restart.
  const again = new LogPolls({ progress: polls.state.progress });
  for (const view of [all, [...all, 'next']]) again.poll(answer(view));
  expect(again.lines).toEqual([...late, 'next']);
  expect(again.gaps).toEqual([]);
  expect(before).toBe(Math.min(size, 10_000));
});

test('one between each two known lines', () => {
  const polls = new LogPolls();
  const lines = made(1_200, 'line');
  polls.poll(answer(lines));
  const mixed = lines.flatMap((line, index) => (index < 500 ? [line, `late ${index}`] : [line]));
  const again = new LogPolls({ progress: polls.state.progress });
  again.poll(answer(mixed));
  expect(again.lines).toEqual(made(500, 'late'));
  expect(again.gaps).toEqual([]);
});

test('one at the top of a log, equal to a known one', () => {
  const polls = new LogPolls();
  const lines = ['connect', 'login', 'failed', 'connect', 'login', 'closed', 'connect'];
  polls.poll(answer(lines));
  const then = ['closed', ...lines, ...made(12, 'next'), 'connect', ...made(3, 'more')];
  polls.poll(answer(then));
  expect(polls.lines.toSorted()).toEqual(then.toSorted());
  expect(polls.gaps).toEqual([]);
});

test('late lines deeper than a tail that the rate asks for are found, as the tail reaches beyond those seen before', () => {
  const polls = new LogPolls();
  const begin = polls.now;
  const [perSecond, lateMs] = [100, 8_000];
  const seenAt = (index: number) =>
    (1_000 * index) / perSecond + (index % 20 === 7 ? (index * 7_919) % lateMs : 0);
  for (let second = 0; second < 120; second++) {
    polls.poll((tail) => {
      const age = polls.now - begin;
      const all = made((age * perSecond) / 1_000, 'line');
      return answer(all.filter((_, index) => seenAt(index) <= age))(tail);
    }, 1_000);
  }
  const delivered = new Set(polls.lines);
  expect(delivered.size).toBe(polls.lines.length);
  expect(made(100 * perSecond, 'line').filter((line) => !delivered.has(line))).toEqual([]);
});
