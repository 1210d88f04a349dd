import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { LOG_LEVELS, type LogLevel } from '../../../../src/config/value-types.ts';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import { createHeartLog, isText, type HeartLog } from '../../../../src/heartbeat/process/log.ts';

let lines: string[];
let counted: LogLevel[];
beforeEach(() => {
  vi.useFakeTimers({ now: Date.UTC(2026, 0, 2, 7, 58, 1, 123) });
  [lines, counted] = [[], []];
});
afterEach(() => void vi.useRealTimers());

function logging(format: 'json' | 'text', level: () => LogLevel = () => 'info'): HeartLog {
  return createHeartLog({
    stderr: { write: (line) => void lines.push(line) },
    level,
    format,
    redaction: new Redaction(() => ['a-secret-key']),
    onMessage: (of) => counted.push(of),
  });
}

test('a line of JSON has level, time, the fields and the message in this order', () => {
  logging('json')({ level: 'warn', text: 'heartbeat state changed' }, { deploymentId: 42, to: 'lapsed' });
  expect(lines).toEqual([
    '{"level":"warn","time":"2026-01-02T07:58:01.123Z","deploymentId":42,"to":"lapsed","msg":"heartbeat state changed"}\n',
  ]);
});

test('a line of text has date and time, and fields only where there are some', () => {
  const log = logging('text');
  log({ level: 'warn', text: 'heartbeat state changed' }, { deploymentId: 42 });
  log({ level: 'info', text: 'heartbeats ended' });
  expect(lines).toEqual([
    '[2026-01-02 07:58:01.123] WARN: heartbeat state changed {"deploymentId":42}\n',
    '[2026-01-02 07:58:01.123] INFO: heartbeats ended\n',
  ]);
});

test('a terminal gets text, if nothing else is configured', () => {
  expect([isText('auto', true), isText('auto'), isText('json', true)]).toEqual([true, false, false]);
});

test.each(['json', 'text'] as const)(
  'no secret is in a line of %s, neither in a field nor in the message',
  (format) => {
    logging(format)({ level: 'error', text: 'the key a-secret-key' }, { why: 'a-secret-key is refused' });
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
    for (const each of LOG_LEVELS) log({ level: each, text: each });
    const written = LOG_LEVELS.slice(0, LOG_LEVELS.indexOf(level) + 1);
    expect(lines.map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(written);
    expect(counted).toEqual(written);
    current = 'trace';
    log({ level: 'trace', text: 'asked at each line' });
    expect(lines).toHaveLength(written.length + 1);
  },
);

test('a message with a time is logged once in it about each subject, and counts the others if it is to', () => {
  const rare = { level: 'warn', text: 'it happened', everyMs: 10_000 } as const;
  const log = logging('json');
  const at = (ms: number, subject: string, isCounted = true): boolean => {
    vi.advanceTimersByTime(ms);
    return log({ ...rare, isCounted }, { subject }, subject);
  };
  const logged = [at(0, 'a'), at(9_999, 'a'), at(0, 'b'), at(1, 'a'), at(0, 'a'), at(10_000, 'a', false)];
  expect(logged).toEqual([true, false, true, true, false, true]);
  expect(lines.map((line) => JSON.parse(line) as object)).toMatchObject([
    { subject: 'a' },
    { subject: 'b' },
    { subject: 'a', suppressed: 1 },
    { subject: 'a' },
  ]);
  expect(lines.filter((line) => line.includes('suppressed'))).toHaveLength(1);
});
