import { expect, test } from 'vitest';
import { createNotes } from '../../../../src/cli/logs/follow.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';

const dropped = (records: number): LogEvent => ({
  kind: 'dropped',
  sink: 'terminal',
  records,
  reason: 'overflow',
});
const DELIVERED: LogEvent = { kind: 'delivered', sink: 'terminal', records: 1 };
const failed = { kind: 'poll failed', reason: 'status 503' } as unknown as LogEvent;
const polled = (roundTripMs = 20) => ({ kind: 'polled', roundTripMs }) as unknown as LogEvent;
const DROPPED = 'lines are dropped: the output is too slow for them';

test.each<[string, readonly LogEvent[], readonly string[]]>([
  [
    'lines that are dropped, and how many when it is over, or at the end',
    [DELIVERED, dropped(3), dropped(4), DELIVERED, DELIVERED, dropped(5)],
    [
      DROPPED,
      '7 lines were dropped, for the output was too slow',
      DROPPED,
      '5 lines were dropped, for the output was too slow',
    ],
  ],
  [
    'a service that does not answer',
    [polled(), failed, failed, polled(), polled()],
    ['status 503; trying again, nothing is lost yet', 'following again'],
  ],
  [
    'a delay',
    [polled(4_900), polled(38_000), polled(9_000), polled()],
    ['lines come 38 s late: the service is slow, or limits this key', 'lines come in time again'],
  ],
])('told when it begins, and when it is over: %s', (_name, events, words) => {
  const said: string[] = [];
  const notes = createNotes((text) => said.push(text));
  for (const event of events) notes.observe(event);
  notes.end();
  expect(said).toEqual(words);
});
