/** An answer tells too little, more is asked for, and does not come through; by the next poll the log has moved on. */
import { expect, test } from 'vitest';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { gapsOf, LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

/** A log of which 200 lines fit into an answer, followed until that is known. */
function limitedLog(tooLarge: 'surely' | 'perhaps') {
  const log = new LogService({ byteLimit: 20_000 });
  let polls = new LogPolls();
  const records: LogRecord[] = [];
  const shown: string[] = [];
  const write = (count: number) => {
    const from = log.lines.length;
    log.writeLines(Array.from({ length: count }, (_, index) => `line ${from + index}`.padEnd(99, '.')));
  };
  const poll = () => {
    const fresh = polls.poll((tail) => {
      const answer = log.answer(tail);
      shown.push(...log.shown.map(({ text }) => text));
      return answer.kind === 'error' ? { ...answer, tooLarge } : answer;
    });
    records.push(...fresh);
    return linesOf(fresh);
  };
  /** Another process goes on from what is on disk. @returns Answers that the one before kept. */
  const die = () => {
    const { now, stored } = polls;
    polls = new LogPolls({ progress: stored });
    polls.now = now;
    return stored?.unsettled?.length ?? 0;
  };
  write(600);
  for (let second = 0; second < 20; second++) {
    write(5);
    poll();
  }
  shown.length = 0;
  return { records, shown, write, poll, die };
}

test.each(['surely', 'perhaps'] as const)(
  'bursts of more than an answer holds, one before each poll: where more is %s too much, all that was shown is delivered',
  (tooLarge) => {
    const { records, shown, write, poll } = limitedLog(tooLarge);
    for (let burst = 0; burst < 8; burst++) {
      write(400);
      poll();
    }
    for (let rest = 0; rest < 8; rest++) poll();
    const lines = linesOf(records);
    expect(lines).toHaveLength(new Set(lines).size);
    expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
    expect(gapsOf(records).length).toBeGreaterThan(3);
  },
);

test('a process that dies while more is asked for: the next one delivers what was shown', () => {
  const { records, shown, write, poll, die } = limitedLog('perhaps');
  const kept: number[] = [];
  for (let burst = 0; burst < 8; burst++) {
    write(400);
    poll();
    kept.push(die());
  }
  for (let rest = 0; rest < 8; rest++) poll();
  const lines = linesOf(records);
  expect(lines).toHaveLength(new Set(lines).size);
  expect(shown.filter((line) => !lines.includes(line))).toEqual([]);
  expect(Math.max(...kept)).toBeGreaterThan(1);
  // What was taken is kept no longer.
  expect(die()).toBe(0);
});

test('what is surely too much is not waited for: a process that dies then has delivered what it was shown', () => {
  const { shown, write, poll } = limitedLog('surely');
  for (let burst = 0; burst < 4; burst++) {
    write(400);
    expect(poll().at(-1)).toBe(shown.at(-1));
  }
});
