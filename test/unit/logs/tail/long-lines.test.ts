/** Lines of many kilobytes: the window has fewer of them than a tail, and what is delivered is the same. */
import { randomBytes } from 'node:crypto';
import { expect, test } from 'vitest';
import { LogPolls } from '../../../support/log-polls.ts';
import { LogService, type LogServiceOptions } from '../../../support/log-service.ts';

const WINDOW_BYTES = 2 ** 20;
const WAIT_MS = 1_000;

/** Nothing that could be packed. */
const longLine = (index: number) => `${index} ${randomBytes(10_000).toString('hex')}`;

/** Of a log with lines that are seen late, and backends that lag, as the options say. */
function follow(options: LogServiceOptions, lines: number, perPoll: number) {
  const [log, polls] = [new LogService(options), new LogPolls()];
  const write = (count: number) =>
    log.writeLines(Array.from({ length: count }, () => longLine(log.written.length)));
  // What follows settles the last ones.
  for (let written = 0; written < lines + 8 * perPoll; written += perPoll) {
    log.now = polls.now;
    write(perPoll);
    polls.poll((tail) => log.answer(tail), WAIT_MS);
  }
  const delivered = new Set(polls.lines);
  return {
    polls,
    window: polls.state.progress.streams['']!.window,
    missing: log.written.slice(0, lines).filter(({ text }) => !delivered.has(text)).length,
    twice: polls.lines.length - delivered.size,
  };
}

let turn = 0;

test.each<[name: string, options: LogServiceOptions]>([
  ['as they come', {}],
  ['with the first one of a tail cut', { cut: 5_000 }],
  ['of which every other answer is a poll old', { stale: () => ((turn += 1) % 2) * WAIT_MS }],
  ['of which every fifth comes late', { merged: () => ((turn += 1) % 5 === 0 ? WAIT_MS : 0) }],
])('long lines %s are delivered once each, though the window has fewer than a tail', (_, options) => {
  const { polls, window, missing, twice } = follow(options, 250, 6);
  expect([missing, twice, polls.gaps]).toEqual([0, 0, []]);
  expect(window.hashes.length).toBeLessThan(polls.next.tail);
});

test('a window of long lines holds no more than its bound, and a block', () => {
  const { window } = follow({}, 250, 6);
  const [newest, ...others] = window.blocks.map(({ packed }) => packed.buffer.byteLength).toReversed();
  const sum = others.reduce((bytes, block) => bytes + block, 0);
  expect(sum).toBeLessThanOrEqual(WINDOW_BYTES);
  expect(sum).toBeGreaterThan(WINDOW_BYTES / 2);
  expect(newest).toBeLessThan(WINDOW_BYTES / 4);
  expect(window.recent.join('').length).toBeLessThan(WINDOW_BYTES / 16);
});
