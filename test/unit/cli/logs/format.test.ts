import { expect, test } from 'vitest';
import { displayed, formatRecord } from '../../../../src/cli/logs/format.ts';
import { createNotes } from '../../../../src/cli/logs/notes.ts';
import type { LogEvent } from '../../../../src/logs/events.ts';
import type { Gap, LogRecord } from '../../../../src/logs/record.ts';

const AT = { time: '2026-11-21T10:00:00.000001Z', workergroup_id: 7, epoch: 1, seq: 1 };
const line = (text: string): LogRecord => ({ ...AT, line: text });

test.each([
  ['loading 10%\rloading 20%\r', 'loading 20%'],
  ['\r\r', ''],
  ['\u001B[1mbold\u001B[0m\u0007', 'bold'],
])('a terminal shows %j as %j', (text, shown) => {
  expect(displayed(text)).toBe(shown);
});

test.each([
  ['a plain line, no ERRORS', undefined],
  ['an ERROR came', 31],
  ['CRITICAL', 31],
  ['FATAL: out of memory', 31],
  ['Traceback (most recent call last):', 31],
  ['[WARN] slow', 33],
  ['a WARNING', 33],
  ['WARNINGS', undefined],
])('%s has the colour %j', (text, colour) => {
  const coloured = colour === undefined ? text : `\u001B[${colour}m${text}\u001B[0m`;
  expect(formatRecord(line(text), {}, true)).toBe(`${coloured}\n`);
  expect(formatRecord(line(text), { timestamps: true }, false)).toBe(`${AT.time} ${text}\n`);
});

test.each<[Gap['reason'], string]>([
  ['overrun', 'gap: about 40 lines (at least 7) were lost before they could be read'],
  ['reset', 'gap: the log began anew here; what was written just before may be lost'],
  ['ambiguous', 'gap: up to 40 lines that repeat may have been taken for old ones'],
])('a gap by %s is told', (reason, words) => {
  const record: LogRecord = { ...AT, gap: { reason, lost_min: 7, lost_estimate: 40 } };
  expect(formatRecord(record, {}, false)).toBe(`--- ${words} ---\n`);
  expect(formatRecord(record, { timestamps: true }, true)).toBe(
    `${AT.time} \u001B[35m--- ${words} ---\u001B[0m\n`,
  );
  expect(JSON.parse(formatRecord(record, { json: true }, true))).toMatchObject({ gap: { reason } });
});

test('a service that does not answer is told when that begins, and when it is over', () => {
  const said: string[] = [];
  const notes = createNotes(7, { err: (text) => said.push(text) });
  const failed = { kind: 'poll failed', reason: 'status 503' } as unknown as LogEvent;
  const polled = { kind: 'polled' } as unknown as LogEvent;
  for (const event of [polled, failed, failed, polled, polled]) notes.observe(event);
  notes.end();
  expect(said).toEqual([
    'pilotlight: worker group 7: status 503; trying again, nothing is lost yet\n',
    'pilotlight: worker group 7: following again\n',
  ]);
});

test('as JSON nothing of a line is lost, and no terminal obeys it', () => {
  const text = formatRecord(line('\u009B2J\u202E a'), { json: true }, false);
  expect(text).toContain('"\\u009b2J\\u202e a"');
  expect(JSON.parse(text)).toMatchObject({ line: '\u009B2J\u202E a' });
});
