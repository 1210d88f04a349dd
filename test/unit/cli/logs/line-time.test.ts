import { expect, test } from 'vitest';
import { timeOfLine } from '../../../../src/cli/logs/format.ts';

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
])('%s: %s', (line, iso) => {
  const at = timeOfLine(line, NOW);
  expect(at === undefined ? undefined : new Date(at).toISOString()).toBe(iso);
});
