/** What a service may show at the end and the beginning of a log that is not yet, or not only, lines that have ended. */
import { describe, expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/tail/answer.ts';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';

const lines = (count: number, name = 'line') =>
  Array.from({ length: count }, (_, index) => `${name} ${index}`);

/** The last so many, each with an end. */
function shows(all: readonly string[], after = '\n') {
  return (tail: number): TailAnswer => ({ kind: 'text', text: `${all.slice(-tail).join('\n')}${after}` });
}

function put(polls: LogPolls, ...answers: readonly ((tail: number) => TailAnswer)[]): readonly string[] {
  return linesOf(answers.flatMap((answer) => polls.poll(answer, 1_000)));
}

describe('a service that ends the line that is being written', () => {
  test('the line goes on: the rest of it comes as one that continues, and nothing comes again', () => {
    const polls = new LogPolls();
    const known = lines(30);
    put(polls, shows([...known, 'epoch 1: 10%']));
    expect(put(polls, shows([...known, 'epoch 1: 10% of 5', 'epoch 2']))).toEqual([' of 5', 'epoch 2']);
    expect(polls.records.filter((record) => 'continues' in record)).toHaveLength(1);
    expect(polls.gaps).toEqual([]);
    expect(put(polls, shows([...known, 'epoch 1: 10% of 5', 'epoch 2', 'epoch 3']))).toEqual(['epoch 3']);
  });

  test('also where it is so long that the window has only its end', () => {
    const polls = new LogPolls();
    const [known, begun] = [lines(30), `epoch 1: ${'.'.repeat(500)}`];
    put(polls, shows([...known, begun]));
    expect(put(polls, shows([...known, `${begun} done`, 'epoch 2']))).toEqual([' done', 'epoch 2']);
    expect(polls.gaps).toEqual([]);
  });

  test('also behind twenty lines', () => {
    const polls = new LogPolls();
    const known = lines(20);
    put(polls, shows([...known, 'epoch 1: 10%']));
    expect(put(polls, shows([...known, 'epoch 1: 10% of 5']))).toEqual([' of 5']);
  });

  test.each([10, 19])('a log that begins with as few of the same lines as %i began anew', (count) => {
    const polls = new LogPolls();
    const banner = lines(count);
    put(polls, shows([...banner, 'failed']));
    const other = [...banner, 'failed once more', ...lines(30, 'other')];
    put(polls, ...Array.from({ length: 6 }, () => shows(other)));
    expect(polls.gaps.map(({ reason }) => reason)).toEqual(['reset']);
    expect(polls.lines.slice(count + 1)).toEqual(other);
  });
});

test('lines that come to stand above the first ones of a log are delivered, also where a tail does not hold them', () => {
  const polls = new LogPolls();
  const known = lines(30);
  const above = lines(250, 'another worker');
  put(polls, ...Array.from({ length: 20 }, () => shows(known)));
  expect(polls.next.tail).toBeLessThan(280);
  expect(put(polls, shows([...above, ...known]))).toEqual(above);
  expect(polls.gaps).toEqual([]);
});

test.each(['\n', '\r\n', '\n\n'])('line ends alone, %j, are no log where there was one', (text) => {
  const polls = new LogPolls();
  const known = lines(3);
  put(polls, shows(known), () => ({ kind: 'text', text }), shows([...known, 'next']));
  expect(polls.lines).toEqual([...known, 'next']);
  expect(polls.gaps).toEqual([]);
});

test('from an empty log on, a process that comes next knows what was written since', () => {
  const polls = new LogPolls({ start: 'end' });
  put(polls, () => ({ kind: 'text', text: '' }));
  const next = new LogPolls({ start: 'end', progress: polls.stored });
  expect(put(next, shows(lines(3)))).toEqual(lines(3));
});

test('what there is of a character, at the end of a line that rests, is no part of it', () => {
  const polls = new LogPolls();
  const cut = shows(['first', 'half \uFFFD'], '');
  put(polls, ...Array.from({ length: 12 }, () => cut), shows(['first', 'half 😀', 'last'], ''));
  expect(polls.lines).toEqual(['first', 'half ', '😀']);
});
