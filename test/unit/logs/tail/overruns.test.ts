/** What is told of lines that were lost before they could be read, held against what was lost. */
import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { MAX_TAIL } from '../../../../src/logs/tail/rate.ts';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService } from '../../../support/log-service.ts';

test('overruns at a steady rate: the least is no more than the truth, and the estimate within twice of it, give or take a poll', () => {
  const outages = fc.array(fc.integer({ min: 1_100, max: 4_000 }), { minLength: 1, maxLength: 3 });
  const options = fc.record({ endsLines: fc.boolean(), cut: fc.nat(6) });
  fc.assert(
    fc.property(fc.integer({ min: 500, max: 3_000 }), outages, options, (rate, lengths, faults) => {
      const [log, polls] = [new LogService(faults), new LogPolls()];
      let [written, ms] = [0, 0];
      const poll = (waitMs: number) => {
        ms += waitMs;
        const count = Math.floor((rate * ms) / 1_000) - written;
        log.writeLines(Array.from({ length: count }, (_, index) => `line ${written + index}`));
        written += count;
        const before = polls.lines.length;
        polls.poll((tail) => log.answer(tail), waitMs);
        return count - (polls.lines.length - before);
      };
      for (const [index, length] of lengths.entries()) {
        for (let second = 0; second < 8; second++) poll(1_000);
        // As long as it takes to write so many thousandths of a tail.
        const lost = poll((length * MAX_TAIL) / rate);
        expect(polls.gaps).toHaveLength(index + 1);
        const { reason, lost_min, lost_estimate } = polls.gaps.at(-1) ?? {};
        expect(reason).toBe('overrun');
        expect(lost_min).toBeLessThanOrEqual(lost);
        expect(lost_estimate).toBeLessThanOrEqual(2 * lost + rate);
        expect(lost_estimate).toBeGreaterThanOrEqual(lost / 2 - rate);
      }
    }),
    { numRuns: 4 },
  );
}, 60_000);

test.each([12_000, 15_000, 40_000])(
  '%i lines/s, more than a tail holds at every poll: each estimate is near the truth, and was 1',
  (rate) => {
    const polls = new LogPolls();
    const from = polls.now;
    for (let poll = 0; poll < 12; poll++) {
      polls.poll((tail) => {
        const end = Math.floor((rate * (60_000 + polls.now - from)) / 1_000);
        const lines = Array.from({ length: tail }, (_, index) => `${end - tail + index}\n`);
        return { kind: 'text', text: lines.join('') };
      });
    }
    let last = -1;
    let told: number | undefined;
    for (const record of polls.records) {
      if ('gap' in record) {
        told = record.gap.lost_estimate;
        continue;
      }
      const line = Number(record.line);
      if (told !== undefined) {
        const lost = line - last - 1;
        expect(told).toBeLessThanOrEqual(2 * lost);
        expect(told).toBeGreaterThanOrEqual(lost / 2);
      }
      [last, told] = [line, undefined];
    }
    expect(polls.gaps.length).toBeGreaterThan(4);
  },
);

test('of a busy log that rests for a day and begins anew while nobody looks, no more is told than was lost: 8,542,984', () => {
  const [log, polls] = [new LogService(), new LogPolls()];
  const from = polls.now;
  while (polls.now - from < 86_400_000) {
    const due = Math.min(600_000, polls.now - from) / 10 - log.written.length;
    log.writeLines(Array.from({ length: due }, (_, index) => `line ${log.written.length + index}`));
    polls.poll((tail) => log.answer(tail));
  }
  log.reset();
  log.writeLines(['begins', 'anew']);
  const again = new LogPolls({ progress: polls.stored });
  again.now = polls.now;
  again.poll((tail) => log.answer(tail));
  expect(again.gaps).toMatchObject([{ reason: 'reset', lost_min: 0 }]);
  expect(again.gaps[0]?.lost_estimate).toBeLessThan(100);
});

/** All of an answer that holds as much as can be asked for. */
const full = (lines: readonly string[]) => () =>
  ({ kind: 'text', text: lines.slice(-MAX_TAIL).join('\n') + '\n' }) as const;
const numbered = (from: number, to: number) =>
  Array.from({ length: to - from }, (_, index) => `line ${from + index}`);

test('an overrun under whose first line the last known ones stand brings only what follows them, and says so', () => {
  const polls = new LogPolls();
  // Lines that repeat: no one of them tells where it stands.
  const visit = ['opened', 'user unknown', 'refused', 'closed'];
  const before = [...numbered(0, 5_000), ...visit, ...numbered(5_000, 9_992), ...visit];
  polls.poll(full(before));
  polls.poll(full(['a line that is late', ...visit, ...numbered(10_000, 19_995)]));
  expect(polls.lines).toEqual([...before, ...numbered(10_000, 19_995)]);
  expect(polls.gaps).toMatchObject([
    { reason: 'overrun', lost_min: 0 },
    { reason: 'ambiguous', lost_min: 0, lost_estimate: 4 },
  ]);
});

test('an older answer that nothing told for one is no reason to take lines of the newer one again', () => {
  const polls = new LogPolls();
  polls.poll(full(numbered(0, 10_000)));
  polls.poll(full(numbered(40_000, 50_000)));
  polls.poll(full(numbered(20_000, 30_000)));
  polls.poll(full(['cut', ...numbered(49_998, 59_997)]));
  expect(polls.gaps.map(({ reason }) => reason)).toEqual(['overrun', 'overrun', 'overrun', 'ambiguous']);
  expect(new Set(polls.lines).size).toBe(polls.lines.length);
  expect(polls.lines.slice(-9_997)).toEqual(numbered(50_000, 59_997));
});
