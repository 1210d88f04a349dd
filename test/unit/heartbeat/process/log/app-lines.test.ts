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

const UNWELL = { type: 'unwell', why: 'it refuses connections', releasedInMs: 595_000 } as const;
const RELEASED = { type: 'released', why: 'it refuses connections', unwellMs: 600_000 } as const;

test('an app that falls ill is said at once, once a minute, and that it is well again', async () => {
  app.news({ type: 'well' });
  expect(lines).toEqual([]);
  for (let look = 0; look < 12; look += 1) {
    app.news(UNWELL);
    await vi.advanceTimersByTimeAsync(5_000);
  }
  app.news({ type: 'well' });
  app.news({ type: 'well' });
  expect(lines).toMatchObject([
    { level: 'warn', deploymentIds: [42, 43], why: UNWELL.why, releasedInSeconds: 595 },
    { level: 'info', msg: 'the app is well again' },
  ]);
});

test('one that flaps floods nothing', async () => {
  for (let look = 0; look < 120; look += 1) {
    app.news(look % 2 === 0 ? UNWELL : { type: 'well' });
    await vi.advanceTimersByTimeAsync(5_000);
  }
  expect(lines.length).toBeLessThanOrEqual(2 * 10);
});

test('a release is said as an error at once, and again each minute; so is the next one', async () => {
  app.news(UNWELL);
  for (let look = 0; look < 121; look += 1) {
    app.news(RELEASED);
    await vi.advanceTimersByTimeAsync(1_000);
  }
  expect(lines.map(({ level }) => level)).toEqual(['warn', 'error', 'error', 'error']);
  app.news({ type: 'relit', because: 'well', deployments: 2, tooLate: [] });
  app.news(RELEASED);
  expect(lines.slice(-2)).toMatchObject([
    { level: 'warn', deployments: 2, msg: 'the app is well again: heartbeats are sent at once' },
    { level: 'error', unwellSeconds: 600 },
  ]);
});

test('whoever may be lost is named', () => {
  app.news({ type: 'relit', because: 'reload', deployments: 3, tooLate: [42, 43] });
  expect(lines).toMatchObject([{ level: 'warn', tooLate: 2, deploymentIds: [42, 43] }]);
  expect(lines[0]?.msg).toMatch(/^the configuration changed: .* some may be lost/);
});
