/** Lines of JSON that all end in the same fields: the end of a line says nothing of which one it is. */
import { expect, test } from 'vitest';
import { LogPolls } from '../../../support/log-polls.ts';

const FIELDS = ` {"k8s":"${'k'.repeat(150)}"}`;

test.each([
  ['that end alike', ['boot', 'health', 'health'], FIELDS],
  ['of which the first is the end of one that repeats', ['ready', 'worker ready', 'worker ready'], ''],
  ['below a blank one', ['', '====', 'model', '===='], ''],
])('late lines come once, and no other one again, in a log of lines %s', (_, heads, fields) => {
  const log = [...heads, ...Array.from({ length: 30 }, (__, index) => `req ${index}`)].map(
    (line) => line && line + fields,
  );
  const polls = new LogPolls();
  const answer = () => ({ kind: 'text', text: log.map((line) => `${line}\n`).join('') }) as const;
  polls.poll(answer);
  for (let poll = 1; poll <= 5; poll++) {
    log.splice(-3, 0, `late ${poll}${fields}`);
    log.push(`new ${poll}${fields}`);
    polls.poll(answer, 1_000);
  }
  expect(polls.lines.toSorted()).toEqual(log.toSorted());
  expect(polls.gaps).toEqual([]);
});

test('in full tails of such lines a late one is no gap', () => {
  const log: string[] = [];
  const write = (count: number) => {
    for (let one = 0; one < count; one++)
      log.push((log.length % 3 === 0 ? `req ${log.length}` : 'GET /health') + FIELDS);
  };
  write(600);
  const polls = new LogPolls();
  for (let poll = 1; poll <= 60; poll++) {
    write(5);
    log.splice(-9, 0, `late ${poll}${FIELDS}`);
    polls.poll(
      (tail) => ({
        kind: 'text',
        text: log
          .slice(-tail)
          .map((line) => `${line}\n`)
          .join(''),
      }),
      1_000,
    );
  }
  expect(polls.lines.toSorted()).toEqual(log.toSorted());
  expect(polls.gaps).toEqual([]);
});
