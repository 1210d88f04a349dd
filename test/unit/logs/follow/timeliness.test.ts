/** How soon a line comes after the service has it, and what a group costs that has none. On virtual time. */
import { describe, expect, test } from 'vitest';
import { type FetchTail, GroupFollower, PollsUnderWay } from '../../../../src/logs/follow/group-follower.ts';
import { memorySpool } from '../../../support/memory-spool.ts';
import { INTERVAL_MS } from '../../../../src/logs/follower/pace.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';
import { VirtualClock } from '../../../support/log-time.ts';

const ROUND_TRIP_MS = 50;

/** One group, followed. Lines that were delivered have the time at which a sink could take them. */
function follow(options: LogServiceOptions = {}) {
  const [log, clock, halt] = [new LogService(options), new VirtualClock(), new AbortController()];
  const spool = memorySpool(['stdout']);
  const asked: number[] = [];
  const delivered = new Map<string, number>();
  const fetchTail: FetchTail = async ({ tail, signal }) => {
    asked.push(clock.now());
    // The service answers half-way through the round trip.
    await clock.sleep(ROUND_TRIP_MS / 2, signal);
    log.now = clock.now();
    const answer = log.answer(tail);
    await clock.sleep(ROUND_TRIP_MS / 2, signal);
    return answer;
  };
  const append = spool.append.bind(spool);
  spool.append = (group, records, progress) => {
    for (const record of records) if ('line' in record) delivered.set(record.line, clock.now());
    return append(group, records, progress);
  };
  const settings = { fetchTail, spool, start: 'all', clock, random: () => 0.5, observe() {} } as const;
  const done = new GroupFollower({ kind: 'workergroup', id: 7 }, settings, new PollsUnderWay(clock)).run(
    halt.signal,
  );
  return {
    log,
    clock,
    asked,
    delivered,
    async [Symbol.asyncDispose]() {
      halt.abort();
      await done;
    },
  };
}

function median(numbers: readonly number[]): number {
  return numbers.toSorted((one, other) => one - other)[numbers.length >> 1] ?? Number.NaN;
}

test('at 100 lines/s half of all lines are delivered within 1.2 intervals of their appearing at the service', async () => {
  await using group = follow();
  const { log, clock, delivered } = group;
  const appeared = new Map<string, number>();
  for (let line = 0; line < 6_000; line++) {
    appeared.set(`line ${line}`, clock.now());
    log.writeLines([`line ${line}`]);
    await clock.advance(10);
  }
  await clock.advance(5_000);
  expect([...delivered.keys()]).toEqual([...appeared.keys()]);
  const waits = Array.from(appeared, ([line, at]) => (delivered.get(line) ?? Infinity) - at);
  expect(median(waits)).toBeLessThanOrEqual(1.2 * INTERVAL_MS.busy);
  expect(Math.max(...waits)).toBeLessThanOrEqual(2 * (INTERVAL_MS.busy + ROUND_TRIP_MS));
});

describe('from a slow service that joins its lines', () => {
  test('half of all lines are delivered an interval and 5 s later than otherwise', async () => {
    await using group = follow({ endsLines: false });
    const waits = await writeEach(group, () => 7_300);
    expect(median(waits)).toBeLessThanOrEqual(2.2 * INTERVAL_MS.busy + 5_000);
  });

  test('also a line after a rest is delivered 5 s and two of the shortest intervals after it was seen', async () => {
    await using group = follow({ endsLines: false });
    // Rests of every length, so that a line comes at any moment of an interval of any length.
    const waits = await writeEach(group, (line) => 46_000 + 1_700 * line);
    expect(Math.max(...waits)).toBeLessThanOrEqual(
      INTERVAL_MS.quiet + 5_000 + 2 * INTERVAL_MS.busy + 3 * ROUND_TRIP_MS,
    );
  });
});

test('a quiet group of a service that joins its lines is asked for once in 30 s at most', async () => {
  await using group = follow({ endsLines: false });
  const { log, clock, asked } = group;
  log.writeLines(['starting', 'ready']);
  await clock.advance(300_000);
  const before = asked.length;
  await clock.advance(3_600_000);
  expect(asked.length - before).toBeLessThanOrEqual(120);
  expect(asked.length - before).toBeGreaterThan(100);
});

/** @returns Milliseconds from each line's appearing to its delivery. */
async function writeEach(
  { log, clock, delivered }: ReturnType<typeof follow>,
  restAfter: (line: number) => number,
): Promise<readonly number[]> {
  const appeared: number[] = [];
  for (let line = 0; line < 60; line++) {
    appeared.push(clock.now());
    log.writeLines([`line ${line}`]);
    await clock.advance(restAfter(line));
  }
  return appeared.map((at, line) => (delivered.get(`line ${line}`) ?? Infinity) - at);
}

test('the first poll after the machine has slept asks for all that came meanwhile', async () => {
  await using group = follow();
  const { log, clock, asked, delivered } = group;
  const write = (count: number) =>
    log.writeLines(Array.from({ length: count }, (_, index) => `line ${log.written.length + index}`));
  for (let second = 0; second < 60; second++) {
    write(100);
    await clock.advance(1_000);
  }
  write(2_000);
  clock.standStill(20_000);
  const before = asked.length;
  await clock.advance(900);
  // One that told too little would be followed by a larger one at once.
  expect([asked.length - before, delivered.size]).toEqual([1, 8_000]);
});
