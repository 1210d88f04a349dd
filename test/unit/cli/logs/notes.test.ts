import { expect, test } from 'vitest';
import { createNotes } from '../../../../src/cli/logs/notes.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';

const dropped = (records: number): LogEvent => ({
  kind: 'dropped',
  sink: 'terminal',
  records,
  reason: 'overflow',
});
const DELIVERED: LogEvent = { kind: 'delivered', sink: 'terminal', records: 1 };

test('lines that are dropped are told when it begins, and how many when it is over, or at the end', () => {
  const said: string[] = [];
  const notes = createNotes(7, { err: (text) => said.push(text) });
  const begins = 'pilotlight: worker group 7: lines are dropped: the output is too slow for them\n';
  for (const event of [DELIVERED, dropped(3), dropped(4)]) notes.observe(event);
  expect(said).toEqual([begins]);
  for (const event of [DELIVERED, DELIVERED, dropped(5)]) notes.observe(event);
  notes.end();
  expect(said).toEqual([
    begins,
    'pilotlight: worker group 7: 7 lines were dropped, for the output was too slow\n',
    begins,
    'pilotlight: worker group 7: 5 lines were dropped, for the output was too slow\n',
  ]);
});
