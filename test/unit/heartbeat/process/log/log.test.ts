import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOG_LEVELS, type LogLevel } from '../../../../../src/config/types/value-types.ts';
import { Redaction } from '../../../../../src/contract/text/redaction.ts';
import { createHeartLog, type HeartLog } from '../../../../../src/heartbeat/process/log/log.ts';

let lines: string[];
let counted: LogLevel[];
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 7, 58, 1, 123) });
  [lines, counted] = [[], []];
});
afterEach(() => void vi.useRealTimers());

function logging(format: 'json' | 'text', level: () => LogLevel = () => 'info'): HeartLog {
  return createHeartLog({
    stderr: { write: (line) => void lines.push(line), flush: () => Promise.resolve() },
    level,
    format,
    redaction: new Redaction(() => ['a-secret-key']),
    onMessage: (of) => counted.push(of),
  });
}

test('a line of JSON has level, time, the fields and the message in this order', () => {
  logging('json').warn({ deploymentId: 42, to: 'lapsed' }, 'heartbeat state changed');
  expect(lines).toEqual([
    '{"level":"warn","time":"2026-01-02T07:58:01.123Z","deploymentId":42,"to":"lapsed","msg":"heartbeat state changed"}\n',
  ]);
});

test('a line of text has the time of the day, and fields only where there are some', () => {
  const log = logging('text');
  log.warn({ deploymentId: 42 }, 'heartbeat state changed');
  log.info({}, 'heartbeats ended');
  expect(lines).toEqual([
    '[07:58:01.123] WARN: heartbeat state changed {"deploymentId":42}\n',
    '[07:58:01.123] INFO: heartbeats ended\n',
  ]);
});

test.each(['json', 'text'] as const)(
  'no secret is in a line of %s, neither in a field nor in the message',
  (format) => {
    logging(format).error({ why: 'a-secret-key is refused' }, 'the key a-secret-key');
    expect(lines).toHaveLength(1);
    expect(lines[0]).not.toContain('a-secret-key');
    expect(lines[0]).toContain('is refused');
  },
);

test.each(LOG_LEVELS)(
  'at the level %s nothing is written that is less severe, and the rest is counted',
  (level) => {
    let current: LogLevel = level;
    const log = logging('json', () => current);
    for (const each of LOG_LEVELS) log[each]({}, each);
    const written = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(written);
    expect(counted).toEqual(written);
    current = 'trace';
    log.trace({}, 'asked at each line');
    expect(lines).toHaveLength(written.length + 1);
  },
);
