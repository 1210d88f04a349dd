/** Numbers, epochs, times and levels of the records. */
import { describe, expect, test } from 'vitest';
import type { TailAnswer } from '../../../../src/logs/answer.ts';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';

const text = (...lines: string[]) => lines.map((line) => `${line}\n`).join('');

describe('levels', () => {
  const levels = (fields: Record<string, string>): TailAnswer => ({ kind: 'levels', levels: fields });

  test('are streams of their own, and each record names its own', () => {
    const polls = new LogPolls();
    polls.poll(() => levels({ info0: text('a', 'b'), debug: text('p') }));
    const records = polls.poll(() => levels({ info0: text('a', 'b', 'c'), debug: text('p', 'q') }));
    expect(records).toMatchObject([
      { level: 'info0', line: 'c', seq: 4 },
      { level: 'debug', line: 'q', seq: 5 },
    ]);
  });

  test('that are empty are left alone; one that comes later is delivered whole', () => {
    const polls = new LogPolls();
    polls.poll(() => levels({ info0: text('a'), debug: '' }));
    expect(polls.poll(() => levels({ info0: '', debug: text('p', 'q') }))).toMatchObject([
      { level: 'debug', line: 'p' },
      { level: 'debug', line: 'q' },
    ]);
    expect(linesOf(polls.poll(() => levels({ info0: text('a', 'b'), debug: text('p', 'q') })))).toEqual([
      'b',
    ]);
  });

  test('that are not asked for are left alone; a plain text has none', () => {
    const polls = new LogPolls({ levels: ['debug'] });
    expect(polls.poll(() => levels({ info0: text('a'), debug: text('p') }))).toMatchObject([{ line: 'p' }]);
    const plain = new LogPolls({ levels: ['debug'] });
    expect(linesOf(plain.poll(() => ({ kind: 'text', text: text('a') })))).toEqual(['a']);
  });

  test('that begin again within a minute are of one epoch', () => {
    const polls = new LogPolls();
    polls.poll(() => levels({ info0: text('a', 'b'), debug: text('p', 'q') }));
    polls.poll(() => levels({ info0: text('x'), debug: text('p', 'q') }));
    polls.poll(() => levels({ info0: text('x'), debug: text('y') }));
    expect(polls.state.progress.epoch).toBe(2);
    polls.poll(() => levels({ info0: text('w'), debug: text('y') }));
    expect(polls.state.progress.epoch).toBe(3);
    polls.poll(() => levels({ info0: text('w'), debug: text('z') }), 70_000);
    expect(polls.state.progress.epoch).toBe(4);
  });

  test('are stored if one of them changes', () => {
    const polls = new LogPolls();
    polls.poll(() => levels({ info0: text('a'), debug: text('p') }));
    polls.poll(() => levels({ info0: `${text('a')}b`, debug: text('p') }));
    expect(polls.stored?.streams['info0']?.pending?.text).toBe('b');
  });

  test('one that is older does not hold up the others', () => {
    const polls = new LogPolls();
    polls.poll(() => levels({ info0: text('a', 'b', 'c'), debug: text('p') }));
    expect(linesOf(polls.poll(() => levels({ info0: text('a', 'b'), debug: text('p', 'q') })))).toEqual([
      'q',
    ]);
    const all = levels({ info0: text('a', 'b', 'c', 'd'), debug: text('p', 'q') });
    expect(linesOf(polls.poll(() => all))).toEqual(['d']);
  });
});

describe('numbers and times', () => {
  test('go up by one with each record, gaps among them, across epochs and processes', () => {
    const polls = new LogPolls();
    polls.poll(() => ({ kind: 'text', text: text('a', 'b') }));
    polls.poll(() => ({ kind: 'text', text: text('p') }));
    expect(polls.stored?.streams['']?.window.from).toBe(2);
    const later = new LogPolls({ progress: polls.stored });
    later.now = polls.now;
    later.poll(() => ({ kind: 'text', text: text('p', 'q') }));
    const records = [...polls.records, ...later.records];
    expect(records.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5]);
    expect(records.map(({ epoch }) => epoch)).toEqual([1, 1, 2, 2, 2]);
  });

  test('times go up, also of lines of one answer, and follow a clock that was set back by an hour', () => {
    const polls = new LogPolls();
    polls.poll(() => ({ kind: 'text', text: text('a', 'b', 'c') }));
    expect(new Set(polls.records.map(({ time }) => time)).size).toBe(3);
    polls.poll(() => ({ kind: 'text', text: text('a', 'b', 'c', 'd') }), -1_000);
    expect(polls.records.map(({ time }) => time)).toEqual(polls.records.map(({ time }) => time).toSorted());
    polls.poll(() => ({ kind: 'text', text: text('a', 'b', 'c', 'd', 'e') }), -3_600_000);
    expect(Date.parse(polls.records.at(-1)?.time ?? '')).toBe(polls.now);
  });
});

test('times have microseconds, whatever fraction the clock has', () => {
  const polls = new LogPolls();
  polls.now += 0.123_456;
  const records = polls.poll(() => ({ kind: 'text', text: text('a', 'b') }));
  expect(records.map(({ time }) => time)).toEqual([
    '2023-11-14T22:13:20.000123Z',
    '2023-11-14T22:13:20.000124Z',
  ]);
});
