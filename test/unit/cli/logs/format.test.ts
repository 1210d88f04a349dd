import { expect, test } from 'vitest';
import { formatRecord, timeOfLine } from '../../../../src/cli/logs/print.ts';
import { displayed } from '../../../../src/cli/text.ts';
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

test.each<[Gap['reason'], number | null, string]>([
  ['overrun', 40, 'gap: about 40 lines (at least 7) were lost before they could be read'],
  ['overrun', null, 'gap: an unknown number of lines (at least 7) was lost before they could be read'],
  ['reset', 40, 'gap: the log began again here; the last lines before it may be lost'],
  ['handover', 40, 'gap: 40 lines that another replica had taken may not be delivered yet'],
  ['ambiguous', 40, 'gap: up to 40 lines that repeat may have been taken for old ones'],
  ['ambiguous', null, 'gap: some lines that repeat may have been taken for old ones'],
])('a gap by %s of %j lines is told', (reason, estimate, words) => {
  const record: LogRecord = { ...AT, gap: { reason, lost_min: 7, lost_estimate: estimate } };
  expect(formatRecord(record, { timestamps: true })).toBe(`${AT.time} ${words}\n`);
  expect(JSON.parse(formatRecord(record, { json: true }))).toMatchObject({ gap: { reason } });
});

test('as JSON nothing of a line is lost, and no terminal obeys it', () => {
  const text = formatRecord(line('\u009B2J\u202E a'), { json: true });
  expect(text).toContain('"\\u009b2J\\u202e a"');
  expect(JSON.parse(text)).toMatchObject({ line: '\u009B2J\u202E a' });
});

const NOW = Date.UTC(2026, 10, 27, 8);

test.each<[string, string | undefined]>([
  ['1795766400.123[456] [autoscaler.cpp:1 f] managing', '2026-11-27T08:00:00.123Z'],
  ['[1795766400123] started', '2026-11-27T08:00:00.123Z'],
  ['2026-11-27T08:00:00.5Z ready', '2026-11-27T08:00:00.500Z'],
  ['[2026-11-27 08:00:00,123] ready', '2026-11-27T08:00:00.123Z'],
  ['time="2026/11/27 10:00:00+02:00" ready', '2026-11-27T08:00:00.000Z'],
  ['INFO 11-27 07:59:01 [loggers.py:111] Engine', '2026-11-27T07:59:01.000Z'],
  ['WARNING 12-31 23:59:59 of last year', '2025-12-31T23:59:59.000Z'],
  ['Nov  7 08:00:12 host sshd[1]: accepted', '2026-11-07T08:00:12.000Z'],
  ['INFO:     127.0.0.1:51842 - "GET /health HTTP/1.1" 200 OK', undefined],
  ['[manage_workers][update_strategy] estimated load', undefined],
  ['See 08:00:12 for it', undefined],
  ['2026-13-40T99:00:00Z is no time', undefined],
  [`${'x'.repeat(90)} 2026-11-27T08:00:00Z`, undefined],
  ['', undefined],
])('%s: %s', (text, iso) => {
  const at = timeOfLine(text, NOW);
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(iso);
});
