import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { Redaction } from '../../../../../src/contract/text/redaction.ts';
import { AppLines } from '../../../../../src/heartbeat/process/log/app-lines.ts';
import { createHeartLog } from '../../../../../src/heartbeat/process/log/log.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

let lines: Line[];
let app: AppLines;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  const write = (line: string): void => void lines.push(JSON.parse(line) as Line);
  const stderr = { write, flush: () => Promise.resolve() };
  const log = {
    stderr,
    level: () => 'info' as const,
    format: 'json' as const,
    redaction: new Redaction(() => []),
  };
  app = new AppLines(createHeartLog({ ...log, onMessage() {} }), () => [42, 43]);
});
afterEach(() => void vi.useRealTimers());

const UNHEALTHY = { type: 'unhealthy', why: 'it refuses connections', withheldInMs: 595_000 } as const;
const WITHHELD = { type: 'withheld', why: 'it refuses connections', unhealthyMs: 600_000 } as const;

test('an app that falls ill is said at once, once a minute, and that it is well again', async () => {
  app.news({ type: 'healthy' });
  expect(lines).toEqual([]);
  for (let look = 0; look < 12; look += 1) {
    app.news(UNHEALTHY);
    await vi.advanceTimersByTimeAsync(5_000);
  }
  app.news({ type: 'healthy' });
  app.news({ type: 'healthy' });
  expect(lines).toMatchObject([
    { level: 'warn', deploymentIds: [42, 43], why: UNHEALTHY.why, withheldInSeconds: 595 },
    { level: 'info', msg: 'the app is well again' },
  ]);
});

test('one that flaps floods nothing', async () => {
  for (let look = 0; look < 120; look += 1) {
    app.news(look % 2 === 0 ? UNHEALTHY : { type: 'healthy' });
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(lines.length).toBeLessThanOrEqual(2 * 10);
});

test('a release is said as an error at once, and again each minute; so is the next one', async () => {
  app.news(UNHEALTHY);
  for (let look = 0; look < 121; look += 1) {
    app.news(WITHHELD);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'error', 'error', 'error']);
  app.news({ type: 'resumed', because: 'healthy', deployments: 2, tooLate: [] });
  app.news(WITHHELD);
  expect(lines.slice(-2)).toMatchObject([
    { level: 'warn', deployments: 2, msg: 'the app is well again: heartbeats are sent at once' },
    { level: 'error', unhealthySeconds: 600 },
  ]);
});

test('whoever may be lost is named', () => {
  app.news({ type: 'resumed', because: 'reload', deployments: 3, tooLate: [42, 43] });
  expect(lines).toMatchObject([{ level: 'warn', tooLate: 2, deploymentIds: [42, 43] }]);
  expect(lines[0]?.msg).toMatch(/^the configuration changed: .* some may be lost/);
});
