import { afterEach, describe, expect, test, vi } from 'vitest';
import type { ExchangeEvent } from '../../../../src/heartbeat/heart.ts';
import type { Report } from '../../../../src/heartbeat/process/link.ts';
import { Reports } from '../../../../src/heartbeat/process/reports.ts';
import type { DeploymentSnapshot } from '../../../../src/heartbeat/view/snapshot.ts';

const exchange = (durationMs: number): ExchangeEvent => ({
  operation: 'deployments.heartbeat',
  code: '200',
  durationMs,
  serverDate: undefined,
});

const AVOIDED = { origin: 'https://service.test', address: '10.0.0.7', reason: 'timeout', since: 1 };
const MISSING = { name: 'square', reason: undefined };

function reporting(ids: readonly number[] = []) {
  const sent: Report[] = [];
  const states = new Map(ids.map((id) => [id, 'starting']));
  const heart = {
    snapshotOf: (deploymentId: number) =>
      states.has(deploymentId)
        ? ({ deploymentId, state: states.get(deploymentId) } as unknown as DeploymentSnapshot)
        : undefined,
    deploymentIds: () => states.keys(),
    lastTickAt: () => 0,
    openConnections: () => 3,
    avoidedAddresses: () => [AVOIDED],
    missingDeployments: () => [MISSING],
    app: () => undefined,
  };
  const vitals = { read: () => ({ residentBytes: 4e7, cpuSeconds: 2, lagMs: 3 }) };
  const reports = new Reports(() => heart, vitals);
  reports.sendTo((report) => sent.push(report));
  reports.signOfLife();
  return { reports, sent, states };
}

test('of more than fits, the newest stay, and how many are missing is told once', () => {
  const { reports, sent } = reporting();
  for (let number = 1; number <= 4_001; number += 1) {
    reports.exchange(exchange(number));
    reports.lag(number);
  }
  reports.taken(1);
  reports.signOfLife();
  const { exchanges = [], lags = [], missed } = sent[1] ?? {};
  const newest = Array.from({ length: 2_001 }, (_, index) => 2_001 + index);
  expect(exchanges.map(({ durationMs }) => durationMs)).toEqual(newest);
  expect(lags).toEqual(newest);
  expect(missed).toBe(4_000);
  reports.taken(2);
  reports.signOfLife();
  expect(sent[2]).toMatchObject({ exchanges: [], lags: [], missed: 0 });
});

test('begins with all deployments, and then has what changed, as it is by then', () => {
  const { reports, sent, states } = reporting([42, 43]);
  expect(sent[0]?.changed.map(({ deploymentId }) => deploymentId)).toEqual([42, 43]);
  expect(sent[0]).toMatchObject({ exchanges: [], lags: [], removed: [] });
  reports.changed(43);
  states.set(43, 'healthy');
  reports.removed(42);
  reports.message('warn');
  reports.message('warn');
  reports.taken(1);
  reports.signOfLife();
  expect(sent[1]).toMatchObject({
    number: 2,
    changed: [{ deploymentId: 43, state: 'healthy' }],
    removed: [42],
    messages: { warn: 2 },
    openConnections: 3,
    avoided: [AVOIDED],
    missing: [MISSING],
    vitals: { residentBytes: 4e7, cpuSeconds: 2, lagMs: 3 },
  });
  expect(sent[1]?.changed).toHaveLength(1);
  reports.close();
});

test('is one at a time, and the rest of many waits for the next', () => {
  const ids = Array.from({ length: 251 }, (_, index) => index);
  const { reports, sent } = reporting(ids);
  expect(sent.map(({ changed }) => changed.length)).toEqual([250]);
  expect(reports.waits).toBe(true);
  reports.signOfLife();
  reports.taken(7);
  reports.signOfLife();
  expect(sent).toHaveLength(1);
  reports.taken(1);
  expect(reports.waits).toBe(false);
  reports.signOfLife();
  expect(sent.map(({ changed }) => changed.length)).toEqual([250, 1]);
  reports.close();
});

test('whoever waits until the daemon knows all is told when it does, or when nobody listens', async () => {
  const { reports, sent } = reporting();
  reports.changed(1);
  let told = 0;
  const waiting = reports.upToDate().then(() => (told += 1));
  reports.taken(1);
  await Promise.resolve();
  expect(told).toBe(0);
  reports.signOfLife();
  reports.taken(sent.length);
  await waiting;
  expect(told).toBe(1);
  reports.changed(1);
  const another = reports.upToDate();
  expect(await Promise.race([another, new Promise((resolve) => setImmediate(resolve, 1))])).toBe(1);
  reports.close();
  await another;
  await reports.upToDate();
});

describe('in time', () => {
  afterEach(() => void vi.useRealTimers());

  function timed() {
    vi.useFakeTimers({ now: 1_700_000_000_000 });
    const { reports, sent, states } = reporting([42]);
    reports.taken(1);
    return { reports, sent, states };
  }

  test('what happens together is one report, soon after the first of it', async () => {
    const { reports, sent } = timed();
    reports.changed(42);
    await vi.advanceTimersByTimeAsync(30);
    reports.changed(42);
    await vi.advanceTimersByTimeAsync(19);
    expect(sent).toHaveLength(1);
    await vi.advanceTimersByTimeAsync(1);
    expect(sent).toHaveLength(2);
    expect(sent[1]).toMatchObject({ number: 2, changed: [{ deploymentId: 42 }] });
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toHaveLength(2);
  });

  test('one that is no more is told too, and not as one that changed', async () => {
    const { reports, sent } = timed();
    reports.changed(42);
    reports.removed(42);
    await vi.advanceTimersByTimeAsync(50);
    expect(sent[1]).toMatchObject({ changed: [], removed: [42] });
    reports.taken(2);
    reports.removed(43);
    await vi.advanceTimersByTimeAsync(50);
    expect(sent[2]).toMatchObject({ removed: [43] });
  });

  test.each(['changed', 'removed'] as const)(
    'what is %s while a report is under way comes with the next, when that is taken',
    async (what) => {
      const { reports, sent } = timed();
      reports.signOfLife();
      reports[what](42);
      await vi.advanceTimersByTimeAsync(1_000);
      expect(sent).toHaveLength(2);
      reports.taken(2);
      await vi.advanceTimersByTimeAsync(50);
      expect(sent).toHaveLength(3);
    },
  );

  test('exchanges and lags wait for the next report, and have their time', async () => {
    const { reports, sent } = timed();
    reports.exchange(exchange(7));
    reports.lag(3);
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toHaveLength(1);
    reports.signOfLife();
    expect(sent[1]).toMatchObject({
      exchanges: [{ durationMs: 7, at: 1_700_000_000_000 }],
      lags: [3],
      missed: 0,
      messages: {},
      removed: [],
    });
    reports.message('warn');
    reports.taken(2);
    reports.signOfLife();
    expect(sent[2]).toMatchObject({ exchanges: [], lags: [], messages: { warn: 1 } });
    reports.taken(3);
    reports.signOfLife();
    expect(sent[3]).toMatchObject({ messages: {} });
  });

  test('another listener gets all of them, and nothing that the former was told of', async () => {
    const { reports } = timed();
    reports.removed(41);
    reports.signOfLife();
    reports.close();
    expect(reports.waits).toBe(true);
    reports.removed(40);
    const later: Report[] = [];
    reports.sendTo((report) => later.push(report));
    expect(reports.waits).toBe(false);
    await vi.advanceTimersByTimeAsync(50);
    expect(later).toMatchObject([{ number: 3, changed: [{ deploymentId: 42 }], removed: [] }]);
  });

  test('nobody who listens is sent nothing', async () => {
    const { reports, sent } = timed();
    reports.changed(42);
    reports.close();
    expect(vi.getTimerCount()).toBe(0);
    reports.changed(42);
    reports.signOfLife();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(sent).toHaveLength(1);
  });
});
