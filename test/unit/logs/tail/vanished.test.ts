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
