/** Long lines, of which a window keeps the ends: what is delivered is the same. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';

const WAIT_MS = 1_000;

interface World {
  readonly options: LogServiceOptions;
  /** UTF-16 units of a line. */
  readonly length: number;
  readonly lines: number;
  readonly perPoll: number;
}

/** Of a log with lines that are seen late, and backends that lag, as the options say. None of its lines could be packed. */
function follow({ options, length, lines, perPoll }: World) {
  const [log, polls] = [new LogService({ byteLimit: 2 ** 26, ...options }), new LogPolls()];
  const line = (index: number) => `${index} ${randomBytes(length / 2).toString('hex')}`;
  // What follows settles the last ones.
  for (let written = 0; written < lines + 8 * perPoll; written += perPoll) {
    log.now = polls.now;
    log.writeLines(Array.from({ length: perPoll }, () => line(log.written.length)));
    polls.poll((tail) => log.answer(tail), WAIT_MS);
  }
  const delivered = new Set(polls.lines);
  return {
    window: polls.state.progress.streams['']!.window,
    outcome: {
      missing: log.written.slice(0, lines).filter(({ text }) => !delivered.has(text)).length,
      twice: polls.lines.length - delivered.size,
      gaps: polls.gaps,
    },
  };
}

const WHOLE = { missing: 0, twice: 0, gaps: [] };
let turn = 0;
/** Late by so many ms: one line in so many, or all but those. */
const oneLate = (of: number, ms: number) => () => ((turn += 1) % of === 0 ? ms : 0);
const oneInTime = (of: number, ms: number) => () => ((turn += 1) % of === 0 ? 0 : ms);

test.each<[name: string, world: World]>([
  ['as they come', { options: {}, length: 20_000, lines: 250, perPoll: 6 }],
  ['with the first one of a tail cut', { options: { cut: 5_000 }, length: 20_000, lines: 250, perPoll: 6 }],
  [
    'of which every other answer is a poll old',
    { options: { stale: () => ((turn += 1) % 2) * WAIT_MS }, length: 20_000, lines: 250, perPoll: 6 },
  ],
  [
    'of which one in five comes late',
    { options: { merged: oneLate(5, WAIT_MS) }, length: 20_000, lines: 250, perPoll: 6 },
  ],
  [
    'of more than half a megabyte, of which one in five comes late',
    { options: { merged: oneLate(5, WAIT_MS) }, length: 600_000, lines: 20, perPoll: 2 },
  ],
  [
    'of which one in a hundred comes three seconds late, and hundreds a second',
    { options: { merged: oneLate(100, 3 * WAIT_MS) }, length: 2_000, lines: 5_000, perPoll: 500 },
  ],
  [
    'of which all but one in a hundred come late',
    { options: { merged: oneInTime(100, 2.5 * WAIT_MS) }, length: 2_000, lines: 5_000, perPoll: 500 },
  ],
])('long lines %s are delivered once each', (_, world) => {
  expect(follow(world).outcome).toEqual(WHOLE);
});

test.each<[name: string, options: LogServiceOptions]>([
  ['', {}],
  [', also where it is rewritten for late lines', { merged: oneLate(50, WAIT_MS) }],
])('a window has as many long lines as short ones, in two megabytes%s', (_, options) => {
  const { window } = follow({ options, length: 1_000, lines: 16_000, perPoll: 2_000 });
  expect(window.hashes.length).toBe(10_000);
  const bytes = window.blocks.reduce((sum, { packed }) => sum + packed.buffer.byteLength, 0);
  expect(bytes).toBeLessThan(2 ** 21);
  expect(window.recent.join('').length).toBeLessThan(2 ** 16);
});
