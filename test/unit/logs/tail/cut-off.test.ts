/** A service that gives the last so many characters, in whole lines, and says nothing of it: no answer is ever full. */
import { expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

interface Line {
  readonly text: string;
  readonly at: number;
  readonly seenAt: number;
}

const CHARACTERS = 8_192;
const STEP_MS = 200;

/** Follows five lines a second for five minutes. @param lagAt How old the answer to a poll is, ms. */
function follow(lineAt: (index: number) => Line, lagAt: (poll: number) => number) {
  const polls = new LogPolls();
  const begin = polls.now;
  const written: Line[] = [];
  for (let poll = 0; poll < 300; poll++) {
    polls.poll((): TailAnswer => {
      while (written.length * STEP_MS < polls.now - begin) written.push(lineAt(written.length));
      const age = polls.now - begin - lagAt(poll);
      const seen = written
        .filter(({ at, seenAt }) => at <= age && seenAt <= age)
        .map(({ text }) => `${text}\n`);
      let from = seen.length;
      for (let size = 0; from > 0; from--) {
        size += seen[from - 1]?.length ?? 0;
        if (size > CHARACTERS) break;
      }
      return { kind: 'text', text: seen.slice(from).join('') };
    }, 1_000);
  }
  return { polls, written };
}

const long = (index: number) => `line ${index} ${'x'.repeat((index * 7_919) % 380)}`;
const line = (index: number, text = long(index), lateMs = 0): Line => ({
  text,
  at: index * STEP_MS,
  seenAt: index * STEP_MS + lateMs,
});

test.each([
  ['nothing else', () => 0, () => 0],
  ['late lines', (index: number) => (index % 19 === 0 ? 3_000 : 0), () => 0],
  ['older views', () => 0, (poll: number) => (poll % 9 === 8 ? 3_000 : 0)],
] as const)('is no log that began anew: %s', (_, lateMs, lagMs) => {
  const { polls, written } = follow((index) => line(index, long(index), lateMs(index)), lagMs);
  const seen = written.slice(0, -40).map(({ text }) => text);
  expect(polls.gaps).toEqual([]);
  expect(polls.lines.toSorted()).toEqual([...new Set(polls.lines)].toSorted());
  expect(polls.lines).toEqual(expect.arrayContaining(seen));
});

test('nor where its lines repeat', () => {
  const repeated = (index: number) =>
    `GET /health 200 ${'x'.repeat([20, 300, 80][((index * 7_919) % 101) % 3] ?? 0)}`;
  const { polls, written } = follow(
    (index) => line(index, repeated(index)),
    () => 0,
  );
  expect(polls.gaps.filter(({ reason }) => reason === 'reset')).toEqual([]);
  expect(polls.lines.length).toBeLessThanOrEqual(written.length);
});

test('but a shorter one is', () => {
  const { polls } = follow(
    (index) => line(index),
    () => 0,
  );
  polls.poll(() => ({ kind: 'text', text: 'booting\nready\n' }));
  expect(polls.gaps).toMatchObject([{ reason: 'reset' }]);
  expect(polls.lines.slice(-2)).toEqual(['booting', 'ready']);
});

test.each([
  ['four words', (index: number) => `GET /health/${(index * 7_919) % 4} 200`],
  ['a block of 20 lines', (index: number) => `worker loop step ${index % 20}: ok`],
])('a service that gives 1,000 lines, of a log that repeats %s: a burst is an overrun', (_, word) => {
  const [log, polls] = [new LogService({ gives: 1_000 }), new LogPolls()];
  for (let second = 0; second < 600; second++) {
    log.writeLines(Array.from({ length: 5 }, (__, index) => word(5 * second + index)));
    polls.poll((tail) => log.answer(tail), 1_000);
  }
  const before = polls.gaps.length;
  log.writeLines(Array.from({ length: 5_000 }, (__, index) => `burst ${index}`));
  polls.poll((tail) => log.answer(tail), 1_000);
  expect(polls.gaps.slice(before)).toMatchObject([{ reason: 'overrun' }]);
  expect(polls.lines.slice(-3)).toEqual(['burst 4997', 'burst 4998', 'burst 4999']);
  expect(polls.state.progress.epoch).toBe(1);
});
