/** An answer tells too little, more is asked for, and does not come through; by the next poll the log has moved on. */
import { expect, test } from 'vitest';
import { LogPolls, linesOf } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

/** A log of which 200 lines fit into an answer, followed until that is known. */
function limitedLog(tooLarge: 'surely' | 'perhaps') {
  const [log, polls] = [new LogService({ byteLimit: 20_000 }), new LogPolls()];
  const shown: string[] = [];
  const write = (count: number) => {
    const from = log.lines.length;
    log.writeLines(Array.from({ length: count }, (_, index) => `line ${from + index}`.padEnd(99, '.')));
  };
  const poll = () => {
    const records = polls.poll((tail) => {
      const answer = log.answer(tail);
      shown.push(...log.shown.map(({ text }) => text));
      return answer.kind === 'error' ? { ...answer, tooLarge } : answer;
    });
    return linesOf(records);
  };
  write(600);
  for (let second = 0; second < 20; second++) {
    write(5);
    poll();
  }
  shown.length = 0;
  return { polls, shown, write, poll };
}

test.each(['surely', 'perhaps'] as const)(
  'bursts of more than an answer holds, one before each poll: where more is %s too much, all that was shown is delivered',
  (tooLarge) => {
    const { polls, shown, write, poll } = limitedLog(tooLarge);
    for (let burst = 0; burst < 8; burst++) {
      write(400);
      poll();
    }
    for (let rest = 0; rest < 8; rest++) poll();
    expect(polls.lines).toHaveLength(new Set(polls.lines).size);
    expect(shown.filter((line) => !polls.lines.includes(line))).toEqual([]);
    expect(polls.gaps.length).toBeGreaterThan(3);
  },
);

test('what is surely too much is not waited for: a process that dies then has delivered what it was shown', () => {
  const { shown, write, poll } = limitedLog('surely');
  for (let burst = 0; burst < 4; burst++) {
    write(400);
    expect(poll().at(-1)).toBe(shown.at(-1));
  }
});
