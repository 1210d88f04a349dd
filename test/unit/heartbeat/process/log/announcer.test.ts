import { FAILURE_WORDS } from '../../../../../src/heartbeat/view/failure-words.ts';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { OriginAddresses } from '../../../../../src/client/transport/transport.ts';
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
let addresses: OriginAddresses['addresses'];
beforeEach(() => {
  vi.useFakeTimers();
  lines = [];
  limit = undefined;
  addresses = [];
  announcer = new Announcer(
    createHeartLog({
      stderr: { write: (line) => void lines.push(JSON.parse(line) as Line), flush: () => Promise.resolve() },
      level: () => 'info',
      format: 'json',
      redaction: new Redaction(() => []),
      onMessage() {},
    }),
    () => limit,
    () => [{ origin: 'https://service.test', addresses }],
  );
});
afterEach(() => {
  announcer.close();
  vi.useRealTimers();
});

const sent: Notice = { type: 'sent', attempt: 1, fresh: false, hedge: false, lagMs: 0 };
const REFUSED = 'connection refused (10.0.0.7:443)';
const failed: Notice = { type: 'failed', attempt: 1, reason: 'connect', why: REFUSED };
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
  expect(lines).toMatchObject([{ level: 'error', count: 1, deploymentIds: [42], reasons: { [REFUSED]: 1 } }]);
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
      reason: REFUSED,
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
  expect(lines).toMatchObject([{ deploymentIds: [43], reasons: { 'no answer yet': 1 } }]);
});

test('a later attempt is no trouble by itself, and one that is superseded is none', async () => {
  announcer.notice(42, { ...sent, attempt: 2 });
  announcer.notice(42, { type: 'superseded', attempt: 1 });
  await vi.advanceTimersByTimeAsync(120_000);
  expect(lines).toEqual([]);
});

test('what was said of a change is not said again before the minute is over', async () => {
  announcer.notice(42, failed);
  announcer.notice(42, to('retrying'));
  await vi.advanceTimersByTimeAsync(59_999);
  expect(lines.map(({ msg }) => msg)).toEqual(['heartbeat state changed']);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines.slice(1)).toMatchObject([
    {
      level: 'error',
      count: 1,
      deploymentIds: [42],
      states: { retrying: 1 },
      reasons: { [REFUSED]: 1 },
      msg: 'deployments whose last heartbeats were not accepted',
    },
  ]);
  await vi.advanceTimersByTimeAsync(59_999);
  expect(lines).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(1);
  expect(lines).toHaveLength(3);
});

test('of several it is said how many there are by state and reason', async () => {
  announcer.notice(1, failed);
  announcer.notice(2, { type: 'failed', attempt: 1, reason: 'dns' });
  announcer.notice(3, { type: 'failed', attempt: 1, reason: 'dns' });
  announcer.notice(3, sent);
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines).toMatchObject([
    {
      count: 3,
      deploymentIds: [1, 2, 3],
      states: { retrying: 2, starting: 1 },
      reasons: { [REFUSED]: 1, [FAILURE_WORDS.dns]: 1, 'no answer yet': 1 },
    },
  ]);
});

test('a change without a failure has no known reason, and without a TTL nothing is left', async () => {
  announcer.notice(42, { type: 'state', from: 'healthy', to: 'urgent' });
  await vi.advanceTimersByTimeAsync(300);
  expect(lines).toEqual([
    {
      level: 'error',
      time: expect.any(String) as string,
      deploymentId: 42,
      from: 'healthy',
      to: 'urgent',
      reason: 'no answer yet',
      advice: expect.stringContaining('is the service reachable from here?') as string,
      msg: 'heartbeat state changed',
    },
  ]);
});

test('of many that changed the least time is said, and the reason of the first', async () => {
  for (const [id, left] of [
    [1, 9_000],
    [2, 4_000],
    [3, 7_000],
  ] as const) {
    announcer.notice(id, { type: 'failed', attempt: 1, reason: id === 1 ? 'tls' : 'dns' });
    announcer.notice(id, to('retrying', left));
  }
  await vi.advanceTimersByTimeAsync(300);
  expect(lines).toMatchObject([{ count: 3, remainingSeconds: 4, reason: FAILURE_WORDS.tls }]);
  expect(lines[0]).not.toHaveProperty('advice');
  expect(lines[0]).not.toHaveProperty('deploymentId');
});

test('what is well is said for information, without a reason', async () => {
  announcer.notice(42, to('healthy'));
  await vi.advanceTimersByTimeAsync(300);
  expect(lines).toMatchObject([{ level: 'info', from: 'retrying', to: 'healthy', remainingSeconds: 5 }]);
  expect(lines[0]).not.toHaveProperty('reason');
});

test.each(['stopped', 'withheld'] as const)(
  'one that is %s is not said, and is in no trouble',
  async (state) => {
    announcer.notice(42, failed);
    announcer.notice(42, { type: 'state', from: 'retrying', to: state });
    await vi.advanceTimersByTimeAsync(120_000);
    expect(lines).toEqual([]);
  },
);

test('a wait that was cut short is said', () => {
  announcer.notice(42, { type: 'wait-cut-short', byMs: 12_000.6 });
  expect(lines).toMatchObject([
    {
      level: 'warn',
      deploymentId: 42,
      earlyMs: 12_001,
      msg: 'heartbeat sent before the rate limit allows it: the wait would cost the deployment',
    },
  ]);
});

test('what is rare is said each ten seconds at most, with how often it was not', async () => {
  announcer.rarely('it happened', { why: 1 });
  await vi.advanceTimersByTimeAsync(9_999);
  announcer.rarely('it happened', { why: 2 });
  announcer.rarely('something else', {});
  await vi.advanceTimersByTimeAsync(1);
  announcer.rarely('it happened', { why: 3 });
  await vi.advanceTimersByTimeAsync(10_000);
  announcer.rarely('it happened', { why: 4 });
  expect(lines.map(({ msg, why, unsaidBefore }) => [msg, why, unsaidBefore])).toEqual([
    ['it happened', 1, undefined],
    ['something else', undefined, undefined],
    ['it happened', 3, 1],
    ['it happened', 4, undefined],
  ]);
});

test('what was not said long ago is not counted any more', async () => {
  announcer.rarely('it happened', {});
  announcer.rarely('it happened', {});
  await vi.advanceTimersByTimeAsync(60_001);
  announcer.rarely('it happened', {});
  expect(lines[1]).not.toHaveProperty('unsaidBefore');
});

test('a remark about one has its fields, and one about several their number', () => {
  announcer.remark({ type: 'unmatched', found: [{ type: 'unmatched', label: 'name:square' }] });
  const many = Array.from({ length: 21 }, (_, index) => ({ type: 'stopped', label: `${index}` }) as const);
  announcer.remark({ type: 'stopped', found: many as never });
  expect(lines).toEqual([
    {
      level: 'warn',
      time: expect.any(String) as string,
      label: 'name:square',
      msg: 'no deployment of this name; the list is asked for again',
    },
    {
      level: 'warn',
      time: expect.any(String) as string,
      count: 21,
      found: many.slice(0, 20),
      msg: 'a deployment is stopped, and is not kept alive',
    },
  ]);
});

test('what still waits is said at the end, and nothing after it', async () => {
  announcer.notice(42, failed);
  announcer.notice(42, to('retrying'));
  announcer.close();
  expect(lines).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(lines).toHaveLength(1);
});

test('a shared limit that changes is said again, and one that is gone and comes back is not', async () => {
  limit = { thresholdMs: 2_000, deployments: 10, neededMs: 20_000, availableMs: 47_000, fits: true };
  await vi.advanceTimersByTimeAsync(5_000);
  limit = { ...limit, thresholdMs: 3_000.4 };
  await vi.advanceTimersByTimeAsync(5_000);
  expect(lines.map(({ thresholdMs }) => thresholdMs)).toEqual([2_000, 3_000]);
  expect(lines[0]?.msg).toContain('take turns under it');
});

describe('an address of several', () => {
  const good = { address: '192.0.2.1', listed: true };
  const bad = { ...good, address: '192.0.2.2', failure: { reason: 'timeout', since: 1_000 } };

  test('is named once when it begins to be avoided, and once when it works again', async () => {
    addresses = [good, bad];
    await vi.advanceTimersByTimeAsync(60_000);
    addresses = [good, { ...good, address: '192.0.2.2' }];
    await vi.advanceTimersByTimeAsync(60_000);
    const service = { origin: 'https://service.test', address: '192.0.2.2' };
    expect(lines).toMatchObject([
      { level: 'warn', ...service, reason: 'timeout', since: '1970-01-01T00:00:01.000Z' },
      { level: 'info', ...service, msg: 'an address works again' },
    ]);
  });

  test('that comes and goes is two lines in ten minutes', async () => {
    for (let turn = 0; turn < 50; turn += 1) {
      addresses = [good, turn % 2 ? { ...good, address: '192.0.2.2' } : bad];
      await vi.advanceTimersByTimeAsync(10_000);
    }
    expect(lines.map(({ level }) => level)).toEqual(['warn', 'info']);
    addresses = [good, bad];
    await vi.advanceTimersByTimeAsync(600_000);
    expect(lines).toHaveLength(3);
  });

  test('is not named if it is the only one', async () => {
    addresses = [bad];
    await vi.advanceTimersByTimeAsync(60_000);
    expect(lines).toEqual([]);
  });
});
