/** What is told of lines that were lost before they could be read, held against what was lost. */
import * as fc from 'fast-check';
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
    { numRuns: 10 },
  );
}, 60_000);
