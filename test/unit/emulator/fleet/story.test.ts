/** What the log of an endpoint says of its workers' moves. */
import { expect, test } from 'vitest';
import { moveText } from '../../../../src/emulator/fleet/story.ts';
import type { WorkerPhase } from '../../../../src/emulator/state/serverless.ts';

test.each<[WorkerPhase, WorkerPhase, string]>([
  ['draining', 'ready', 'calls 9 back'],
  ['starting', 'ready', '9 is ready after 30 s (starting)'],
  ['creating', 'ready', '9 is ready after 30 s (creating)'],
  ['cold', 'starting', 'starts 9 from cold'],
  ['ready', 'draining', 'stops 9 when its requests are done'],
  ['creating', 'cold', 'stops 9'],
  ['draining', 'cold', 'stops 9'],
])('of a worker from %s to %s', (before, after, words) => {
  expect(moveText(9, before, after, 30)).toBe(words);
});
