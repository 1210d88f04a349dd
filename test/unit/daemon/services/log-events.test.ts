import { pino } from 'pino';
import { expect, test } from 'vitest';
import { logEventsTo } from '../../../../src/daemon/services/log-events.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';

function telling() {
  const lines: Record<string, unknown>[] = [];
  const logger = pino({}, { write: (line) => lines.push(JSON.parse(line) as Record<string, unknown>) });
  const clock = { now: 0 };
  return { lines, clock, tell: logEventsTo(logger, () => clock.now) };
}

test('records that are dropped all the time are told of ever more seldom, and each is in a count', () => {
  const { lines, clock, tell } = telling();
  const dropped: LogEvent = {
    kind: 'dropped',
    sink: 'otlp',
    records: 3,
    reason: 'rejected',
    message: 'too old',
  };
  for (let second = 1; second <= 100; second += 1) {
    clock.now = second * 1_000;
    tell(dropped);
  }
  expect(lines.map(({ times, records }) => [times, records])).toEqual(
    [1, 2, 4, 8, 16, 32, 64].map((times) => [times, 3 * Math.max(1, times / 2)]),
  );
  // Another sink is another trouble, and so is the same one after a while.
  tell({ ...dropped, sink: 'file' });
  clock.now += 700_000;
  tell(dropped);
  expect(lines.slice(7)).toMatchObject([
    { sink: 'file', times: 1, records: 3 },
    { sink: 'otlp', times: 1, records: 3, message: 'too old' },
  ]);
});

test('of thousands of worker groups the first twenty are named, and all are counted', () => {
  const { lines, tell } = telling();
  const begun = Array.from({ length: 3_000 }, (_, index) => index);
  tell({ kind: 'groups changed', begun, left: [] });
  expect(lines).toMatchObject([{ begun: begun.slice(0, 20), left: [], begunCount: 3_000, leftCount: 0 }]);
});
