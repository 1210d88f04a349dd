import * as fc from '../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { LIMITS } from '../../../src/contract/limits.ts';
import { followEmulator, GROUP } from '../../support/followed-emulator.ts';
import { gapsOf, linesOf } from '../../support/log-polls.ts';
import { expectSubsequence } from '../../support/log-records.ts';
import { describeWithRealData } from '../../support/real-data.ts';
import { longRealLog, REAL_LOGS } from '../../support/real-logs.ts';

const PASSES = 30;
/** The most lines that the emulator gives. */
const MAX_TAIL = LIMITS.logTailMax;
/** Of rates, for each log. `npm run test:long -- test/integration/logs` has more. */
const SCHEDULES = Number(process.env['RATE_SCHEDULES'] ?? 1);
/** Lines per second: from a log that stands still to twice what the service can give in a second. */
const rate = fc.oneof(
  fc.constant(0),
  fc.integer({ min: 1, max: 50 }),
  fc.integer({ min: 50, max: 2_000 }),
  fc.integer({ min: 2_000, max: 7_500 }),
  fc.integer({ min: 7_500, max: 20_000 }),
);
const phases = fc.array(fc.record({ rate, seconds: fc.integer({ min: 1, max: 6 }) }), {
  minLength: 2,
  maxLength: 6,
});

describeWithRealData('rates from 0 to 20,000 lines/s, over real sockets in virtual time', () => {
  test.each(REAL_LOGS)(
    '%s: nothing is lost that a tail can hold, and what it cannot hold is counted',
    async (name) => {
      const lines = longRealLog(name, PASSES);
      await fc.assert(
        fc.asyncProperty(phases, async (schedule) => {
          await using followed = await followEmulator(lines);
          const { emulator, sink, advance, written } = followed;
          for (const { rate: linesPerSecond, seconds } of schedule) {
            emulator.workergroups.setRate(GROUP, linesPerSecond);
            await advance(seconds * 1_000);
          }
          emulator.workergroups.setRate(GROUP, 0);
          await advance(90_000, 1_000);

          const truth = lines.slice(0, emulator.workergroups.get(GROUP).lineCount);
          const [got, gaps] = [linesOf(sink.records), gapsOf(sink.records)];
          const lost = truth.length - got.length;
          expect(sink.records.map(({ seq }) => seq)).toEqual(sink.records.map((_, index) => index + 1));
          expectSubsequence(got, truth);

          const steps = written.map((count, index) => count - (written[index - 1] ?? 0));
          const overruns = steps.filter((step) => step >= MAX_TAIL);
          // Just below a whole tail too few lines overlap to be sure of anything.
          fc.pre(steps.every((step) => step <= MAX_TAIL - 50 || step >= MAX_TAIL));
          const reasons = gaps.map(({ reason }) => reason);
          expect(reasons.filter((reason) => reason !== 'ambiguous')).toEqual(overruns.map(() => 'overrun'));
          const lostInOverruns = overruns.reduce((sum, step) => sum + step - MAX_TAIL, 0);
          const doubted = gaps.reduce(
            (sum, gap) => sum + (gap.reason === 'ambiguous' ? (gap.lost_estimate ?? Infinity) : 0),
            0,
          );
          expect(lost).toBeGreaterThanOrEqual(lostInOverruns);
          expect(lost - lostInOverruns).toBeLessThanOrEqual(doubted);
          if (steps.every((step) => step <= MAX_TAIL - 200) && doubted === 0) expect(got).toEqual(truth);
          if (name !== 'OpenSSH without times') expect(doubted).toBe(0);
        }),
        { numRuns: SCHEDULES },
      );
    },
    SCHEDULES * 300_000,
  );
});
