/** A machine that stands still or sleeps: a poll comes later than it was planned, and has to reach further back. */
import { expect, test } from 'vitest';
import { GroupFollower, PollsUnderWay } from '../../../../src/logs/follow/group-follower.ts';
import { memorySpool } from '../../../support/memory-spool.ts';
import type { Clock } from '../../../../src/time/clock.ts';
import { LogService } from '../../../support/log-service.ts';

const LINES_PER_SECOND = 1_000;
const LATE_MS = 5_000;
const POLLS = 12;
const POLL_LIMIT_MS = 600_000;

test('the first poll after a time without any asks for all that came meanwhile', async () => {
  const [log, halt] = [new LogService(), new AbortController()];
  let now = 1_000_000;
  let slept = 0;
  const pass = (ms: number): Promise<void> => {
    const lines = Math.round((ms * LINES_PER_SECOND) / 1_000);
    now += ms;
    log.now = now;
    log.writeLines(Array.from({ length: lines }, (_, index) => `line ${log.written.length + index}`));
    return Promise.resolve();
  };
  const time = () => now;
  const never = () => new Promise<void>(() => {});
  // Every fourth sleep is longer than it was to be; the time limit of a poll does not pass.
  const late = (ms: number) => pass((slept += 1) % 4 === 0 ? ms + LATE_MS : ms);
  const clock: Clock = { now: time, sleep: (ms) => (ms === POLL_LIMIT_MS ? never() : late(ms)) };
  const asked: { readonly sinceMs: number }[] = [];
  let answeredAt = now;
  const follower = new GroupFollower(
    { kind: 'workergroup', id: 7 },
    {
      async fetchTail({ tail }) {
        asked.push({ sinceMs: now - answeredAt });
        answeredAt = now;
        if (asked.length === POLLS) halt.abort();
        return log.answer(tail);
      },
      spool: memorySpool(['stdout']),
      start: 'all',
      clock,
      random: () => 0.5,
      observe() {},
    },
    new PollsUnderWay({ now: time, sleep: never }),
  );
  await pass(1_000);
  await follower.run(halt.signal);
  expect(asked.some(({ sinceMs }) => sinceMs > LATE_MS)).toBe(true);
  // Once it asks for the unit, and once, before the rate is known, a poll tells too little.
  expect(asked.filter(({ sinceMs }) => sinceMs === 0).length).toBeLessThanOrEqual(2);
});
