import { expect, test } from 'vitest';
import { displayed, formatRecord } from '../../../../src/cli/logs/format.ts';
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
  const coloured = colour === undefined ? text : `\u001B[${colour}m${text}\u001B[39m`;
  expect(formatRecord(line(text), { colour: true })).toBe(`${coloured}\n`);
  expect(formatRecord(line(text), { timestamps: true })).toBe(`${AT.time} ${text}\n`);
});

test.each<[Gap['reason'], string]>([
  ['overrun', 'gap: about 40 lines (at least 7) were lost before they could be read'],
  ['reset', 'gap: the log began again here; what was written just before may be lost'],
  ['ambiguous', 'gap: up to 40 lines that repeat may have been taken for old ones'],
])('a gap by %s is told', (reason, words) => {
  const record: LogRecord = { ...AT, gap: { reason, lost_min: 7, lost_estimate: 40 } };
  expect(formatRecord(record, { timestamps: true })).toBe(`${AT.time} ${words}\n`);
  expect(JSON.parse(formatRecord(record, { json: true }))).toMatchObject({ gap: { reason } });
});

test('as JSON nothing of a line is lost, and no terminal obeys it', () => {
  const text = formatRecord(line('\u009B2J\u202E a'), { json: true });
  expect(text).toContain('"\\u009b2J\\u202e a"');
  expect(JSON.parse(text)).toMatchObject({ line: '\u009B2J\u202E a' });
});
