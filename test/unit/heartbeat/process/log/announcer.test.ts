import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { OPERATIONS } from '../../../../../src/contract/operations.ts';
import { Redaction } from '../../../../../src/contract/text/redaction.ts';
import type { Notice } from '../../../../../src/heartbeat/engine/state.ts';
import { Announcer } from '../../../../../src/heartbeat/process/log/announcer.ts';
import type { SharedLimit } from '../../../../../src/heartbeat/view/snapshot.ts';
import { createHeartLog } from '../../../../../src/heartbeat/process/log/log.ts';

interface Line {
  readonly level: string;
  readonly msg: string;
  readonly [field: string]: unknown;
}

let lines: Line[];
let announcer: Announcer;
let limit: SharedLimit | undefined;
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  limit = undefined;
  announcer = new Announcer(
    createHeartLog({
      stderr: { write: (line) => void lines.push(JSON.parse(line) as Line), flush: () => Promise.resolve() },
      level: () => 'info',
      format: 'json',
      redaction: new Redaction(() => []),
      onMessage() {},
    }),
    () => limit,
  );
});
afterEach(() => {
  announcer.close();
  vi.useRealTimers();
});

const sent: Notice = { type: 'sent', attempt: 1, fresh: false, hedge: false, lagMs: 0 };
const failed: Notice = { type: 'failed', attempt: 1, reason: 'connect' };
const accepted: Notice = { type: 'accepted', attempt: 1, latencyMs: 5 };
function to(state: 'healthy' | 'retrying' | 'lapsed' | 'unauthorized', remainingMs = 5_000): Notice {
  return { type: 'state', from: state === 'healthy' ? 'retrying' : 'healthy', to: state, remainingMs };
}

test('of a name that thousands of deployments have, a line names twenty', () => {
  const ids = Array.from({ length: 5_000 }, (_, index) => index + 1);
  announcer.remark({ type: 'matched', found: [{ type: 'matched', label: 'name:square', ids }] });
  announcer.remark({ type: 'matched', found: [{ type: 'matched', label: 'name:circle', ids: [7, 8] }] });
  expect(lines).toMatchObject([
    { label: 'name:square', count: 5_000, ids: ids.slice(0, 20) },
    { label: 'name:circle', ids: [7, 8] },
  ]);
});

test('one that was never accepted is said with its reason within ten seconds, and then once a minute', async () => {
  announcer.notice(42, sent);
  announcer.notice(42, failed);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toMatchObject([{ level: 'error', count: 1, deploymentIds: [42], reasons: { connect: 1 } }]);
  await vi.advanceTimersByTimeAsync(59_000);
  expect(lines.length).toBeLessThanOrEqual(2);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(lines.length).toBeGreaterThanOrEqual(3);
  announcer.notice(42, accepted);
  const before = lines.length;
  await vi.advanceTimersByTimeAsync(600_000);
  expect(lines).toHaveLength(before);
});

test('one that only hangs is said too', async () => {
  announcer.notice(42, sent);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(lines).toMatchObject([{ deploymentIds: [42], reasons: { 'no answer yet': 1 } }]);
});

test('ten thousand that fail together are a few lines, each with a count and some ids', async () => {
  for (let id = 1; id <= 10_000; id += 1) {
    announcer.notice(id, sent);
    announcer.notice(id, failed);
    announcer.notice(id, to('retrying', id));
  }
  await vi.advanceTimersByTimeAsync(60_000);
  expect(lines.length).toBeLessThan(6);
  expect(lines[0]).toMatchObject({ level: 'warn', count: 10_000, to: 'retrying', remainingSeconds: 0 });
  expect(lines[0]?.['deploymentIds']).toHaveLength(20);
});

test('thousands that come and go for an hour are no flood', async () => {
  for (let second = 0; second < 3_600; second += 1) {
    for (let id = 1; id <= 50; id += 1) announcer.notice(id, to(second % 2 === 0 ? 'retrying' : 'healthy'));
    await vi.advanceTimersByTimeAsync(1_000);
  }
  // Two kinds of change, once a minute each, and what it took to get there.
  expect(lines.length).toBeLessThan(2 * 60 + 30);
});

test('a single change is said soon, with what is left and what to do', async () => {
  announcer.notice(42, sent);
  announcer.notice(42, failed);
  announcer.notice(42, to('lapsed', -100));
  await vi.advanceTimersByTimeAsync(300);
  expect(lines).toMatchObject([
    {
      level: 'error',
      deploymentId: 42,
      from: 'healthy',
      to: 'lapsed',
      reason: 'connect',
      remainingSeconds: -0.1,
    },
  ]);
  expect(lines[0]?.['advice']).toContain('probably expired');
});

test('a refused key may be a good one that lacks a permission: the advice names it', async () => {
  announcer.notice(42, to('unauthorized'));
  await vi.advanceTimersByTimeAsync(300);
  expect(lines[0]?.['advice']).toContain(OPERATIONS['deployments.heartbeat'].permission);
});

test('what concerns all at once is said for one of them', async () => {
  for (let id = 1; id <= 1_000; id += 1) announcer.notice(id, { type: 'clock-step', byMs: 3_600_000 });
  expect(lines).toHaveLength(1);
  announcer.notice(1, { type: 'clock-step', byMs: -7_200_000 });
  expect(lines.at(-1)).toMatchObject({ byMs: -7_200_000 });
  await vi.advanceTimersByTimeAsync(11_000);
  announcer.notice(1, { type: 'clock-step', byMs: 3_600_000 });
  expect(lines.at(-1)).toMatchObject({ byMs: 3_600_000, unsaidBefore: 999 });
});

test('a shared limit is said once where all fit under it, and every minute with its numbers where they do not', async () => {
  limit = { thresholdMs: 2_000, deployments: 10, neededMs: 20_000, availableMs: 47_000, fits: true };
  await vi.advanceTimersByTimeAsync(300_000);
  expect(lines).toMatchObject([
    { level: 'info', thresholdMs: 2_000, neededSeconds: 20, availableSeconds: 47 },
  ]);
  limit = { ...limit, deployments: 30, neededMs: 60_000, fits: false };
  await vi.advanceTimersByTimeAsync(180_000);
  expect(lines.slice(1)).toHaveLength(3);
  expect(lines[1]).toMatchObject({ level: 'error', deployments: 30, neededSeconds: 60 });
  expect(lines[1]?.['advice']).toContain('a second key');
});

test('what was well before the line was due is not said, and a failure is said whenever it begins', async () => {
  announcer.notice(42, failed);
  announcer.notice(42, to('retrying'));
  announcer.notice(42, accepted);
  await vi.advanceTimersByTimeAsync(20_000);
  expect(lines).toEqual([]);
  announcer.notice(43, { type: 'overdue', attempt: 1 });
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toMatchObject([{ deploymentIds: [43], reasons: { 'no answer in time': 1 } }]);
});
