import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { receiveHeartbeats } from '../../../../src/daemon/services/heartbeats.ts';
import { ClockSkew } from '../../../../src/daemon/services/client.ts';
import type { DaemonMessage, HeartMessage, Report } from '../../../../src/heartbeat/process/link.ts';
import type { DeploymentSnapshot } from '../../../../src/heartbeat/view/snapshot.ts';
import { collectedLog } from '../../../support/collected-log.ts';

const START = Date.UTC(2026, 0, 1);

beforeEach(() => void vi.useFakeTimers({ now: START }));
afterEach(() => void vi.useRealTimers());

function receiving() {
  const sent: DaemonMessage[] = [];
  let say: (message: HeartMessage) => void = () => {};
  const metrics = { exchanges: [] as unknown[], lags: [] as number[], messages: [] as unknown[] };
  const { logger, lines } = collectedLog();
  const told: unknown[] = [];
  const clockSkew = new ClockSkew();
  const heartbeats = receiveHeartbeats({
    heart: {
      send: (message) => void sent.push(message),
      listen: (hear) => void (say = hear),
    },
    metrics: {
      client: { exchange: (event) => void metrics.exchanges.push(event) },
      schedulingLag: (ms) => void metrics.lags.push(ms),
      logMessages: (...counted) => void metrics.messages.push(counted),
    },
    clockSkew,
    traits: { see: () => {}, note: (...noted) => void told.push(noted) },
    logger,
    onReload: () => told.push('reload'),
    onGrants: (grants) => told.push(grants),
    onStop: (withinMs) => told.push(withinMs),
  });
  const report = (number: number, more: Partial<Report> = {}): void =>
    say({
      type: 'report',
      report: {
        number,
        lastTickAt: Date.now(),
        changed: [],
        removed: [],
        exchanges: [],
        lags: [],
        missed: 0,
        messages: {},
        openConnections: 0,
        vitals: { residentBytes: 4e7, cpuSeconds: 2, lagMs: 3 },
        avoided: [],
        missing: [],
        app: undefined,
        ...more,
      },
    });
  return { heartbeats, sent, say, metrics, lines, told, clockSkew, report };
}

function snapshot(deploymentId: number): DeploymentSnapshot {
  return {
    deploymentId,
    state: 'healthy',
    intervalMs: 4_000,
    lapses: 0,
    attempts: 1,
    failures: {} as DeploymentSnapshot['failures'],
    timeline: [],
  };
}

describe('a report', () => {
  test('is taken, and what it says is shown', () => {
    const { heartbeats, sent, metrics, lines, clockSkew, report } = receiving();
    expect([heartbeats.status(), heartbeats.report()]).toEqual([[], undefined]);
    const app = { state: 'healthy', unhealthyMs: 0, graceMs: 60_000 } as const;
    const exchange = { operation: 'deployments.heartbeat', code: '200', durationMs: 20 } as const;
    const serverDate = new Date(START + 7_000).toUTCString();
    report(1, {
      changed: [snapshot(42), snapshot(43)],
      exchanges: [{ ...exchange, serverDate, at: START + 500 }],
      lags: [3, 4],
      messages: { warn: 2, error: 1 },
      openConnections: 5,
      app,
    });
    expect(sent).toEqual([{ type: 'taken', number: 1 }]);
    expect(heartbeats.status().map(({ deployment_id }) => deployment_id)).toEqual([42, 43]);
    expect(heartbeats.report()).toMatchObject({ openConnections: 5, app });
    expect(metrics).toMatchObject({
      exchanges: [exchange],
      lags: [3, 4],
      messages: [
        ['warn', 2],
        ['error', 1],
      ],
    });
    expect(clockSkew.seconds).toBe(7);
    expect(lines).toEqual([]);
    report(2, { removed: [42], missed: 12 });
    expect(heartbeats.status().map(({ deployment_id }) => deployment_id)).toEqual([43]);
    expect(heartbeats.report()).toMatchObject({ openConnections: 0 });
    expect(lines).toMatchObject([{ events: 12, msg: expect.stringContaining('were not counted') as string }]);
  });

  test('is late when none has come for longer than two of them take', async () => {
    const { heartbeats, report } = receiving();
    await vi.advanceTimersByTimeAsync(10_000);
    expect(heartbeats.lateMs()).toBe(0);
    await vi.advanceTimersByTimeAsync(700);
    expect(heartbeats.lateMs()).toBe(700);
    report(1);
    expect(heartbeats.lateMs()).toBe(0);
  });

  test('tells of a scheduler that stands still, where there is anything to beat', () => {
    const { heartbeats, report } = receiving();
    report(1, { lastTickAt: START - 9_000 });
    expect(heartbeats.lateMs()).toBe(0);
    report(2, { lastTickAt: START - 9_000, changed: [snapshot(42)] });
    expect(heartbeats.lateMs()).toBe(4_000);
    report(3, { lastTickAt: START - 1_000 });
    expect(heartbeats.lateMs()).toBe(0);
  });
});

test('what the heart asks for is done', () => {
  const { say, told } = receiving();
  say({ type: 'reload' });
  const grants = { number: 3, grants: [{ grant: 9, operation: 'workergroups.logs' }], at: 12 };
  say({ type: 'grants', grants });
  say({ type: 'stop', withinMs: 700 });
  expect(told).toEqual(['reload', grants, 700]);
});

describe('a reload', () => {
  test('is asked for, and its answer is the result', async () => {
    const { heartbeats, sent, say } = receiving();
    const result = heartbeats.reload();
    expect(sent).toEqual([{ type: 'reload', number: 1 }]);
    say({ type: 'reloaded', number: 1, ok: true, problems: ['as it was'] });
    expect(await result).toEqual({ ok: true, problems: ['as it was'] });
    expect(vi.getTimerCount()).toBe(0);
    // Nobody waits for it any more.
    say({ type: 'reloaded', number: 1, ok: false, problems: [] });
  });

  test('that is refused here is none there', () => {
    const { heartbeats, sent } = receiving();
    heartbeats.refuseReload();
    expect(sent).toEqual([{ type: 'reload-refused' }]);
  });

  test('that is answered late is not taken for the next one', async () => {
    const { heartbeats, sent, say } = receiving();
    const first = heartbeats.reload();
    let answered = false;
    void first.then(() => (answered = true));
    await vi.advanceTimersByTimeAsync(4_999);
    expect(answered).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(await first).toEqual({
      ok: false,
      isUnanswered: true,
      problems: ['the heart did not answer in time; it may take the configuration yet'],
    });
    const second = heartbeats.reload();
    expect(sent).toEqual([
      { type: 'reload', number: 1 },
      { type: 'reload', number: 2 },
    ]);
    say({ type: 'reloaded', number: 1, ok: true, problems: [] });
    say({ type: 'reloaded', number: 2, ok: false, problems: ['no'] });
    expect(await second).toEqual({ ok: false, problems: ['no'] });
  });
});
