/** Lines that were taken and are in no later answer: redacted, or of a backend that had them alone and is gone. */
import { expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';

const HOUR_MS = 3_600_000;
const numbered = (count: number) => Array.from({ length: count }, (_, index) => `line ${index}`);

test.each([true, false])(
  'a line that vanished holds nothing up, and no more is asked of a quiet log (lines end: %s)',
  (endsLines) => {
    const polls = new LogPolls();
    const answer =
      (lines: readonly string[]) =>
      (tail: number): TailAnswer => ({
        kind: 'text',
        text: lines.slice(-tail).join('\n') + (endsLines ? '\n' : ''),
      });
    const lines = numbered(100);
    polls.poll(answer(lines));
    const redacted = [...lines.toSpliced(50, 1), 'last words'];
    polls.poll(answer(redacted));
    const [end, before] = [polls.now + HOUR_MS, polls.polls];
    while (polls.now < end) polls.poll(answer(redacted));
    expect(polls.lines).toEqual([...lines, 'last words']);
    expect(polls.polls - before).toBeLessThan(150);
    const next = polls.poll(answer([...redacted, 'next', 'after']));
    expect(linesOf(next)).toEqual(endsLines ? ['next', 'after'] : ['next']);
    expect(polls.gaps).toEqual([]);
  },
);

test('a last line that counted, as it rested, and stands between later ones once it is ended is delivered once', () => {
  const polls = new LogPolls();
  const lines = numbered(30);
  const join = (all: readonly string[], end = '') => ({ kind: 'text', text: all.join('\n') + end }) as const;
  for (let poll = 0; poll < 4; poll++) polls.poll(() => join([...lines, 'at rest']), 10_000);
  expect(polls.lines).toEqual([...lines, 'at rest']);
  const after = ['next', 'and after'];
  polls.poll(() => join([...lines, ...after], '\n'), 1_000);
  polls.poll(() => join([...lines, 'at rest', ...after, 'last'], '\n'), 1_000);
  expect(polls.lines).toEqual([...lines, 'at rest', ...after, 'last']);
  // Long after, an equal line is one of its own.
  polls.poll(() => join([...lines, 'at rest', 'at rest', ...after, 'last', 'end'], '\n'), 61_000);
  expect(polls.lines.slice(-2)).toEqual(['at rest', 'end']);
});

test('what was written of a last line after it counted comes as the rest of it, if it is late', () => {
  const polls = new LogPolls();
  const lines = numbered(30);
  for (let poll = 0; poll < 4; poll++)
    polls.poll(() => ({ kind: 'text', text: [...lines, 'loading'].join('\n') }), 10_000);
  const answer = (all: readonly string[]) => () => ({ kind: 'text', text: all.join('\n') + '\n' }) as const;
  polls.poll(answer([...lines, 'next', 'after']), 1_000);
  const [rest] = polls.poll(answer([...lines, 'loading … done', 'next', 'after']), 1_000);
  expect(rest).toMatchObject({ line: ' … done', continues: true });
});
