/** What the demo tells of a deployment that is made anew, and what it counts at its end. */
import { expect, test } from 'vitest';
import { summarize, createWatcher } from '../../../../src/cli/demo/screen.ts';
import type { DeploymentStatus, EndpointStatus, Status } from '../../../../src/daemon/status/schema.ts';
import type { DeploymentView } from '../../../../src/emulator/index.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';

function beating(id: number, heartbeats: number, state = 'healthy'): DeploymentStatus {
  return {
    deployment_id: id,
    deployment: null,
    state,
    ttl_seconds: 30,
    interval_seconds: 6,
    heartbeats,
    failures: {},
    last_success_at: 100,
    next_heartbeat_at: 106,
    expires_at: 130,
    min_margin_ratio: null,
    lapses: 0,
    last_error: null,
    last_error_at: null,
    last_heartbeats: [],
  };
}

function status(...deployments: DeploymentStatus[]): Status {
  return { ...EMPTY_STATUS, now: 101, deployments };
}

function watched() {
  const told: string[] = [];
  const watcher = createWatcher(
    {
      heading() {},
      record() {},
      event: (subject, text, tone = 'plain') => told.push(`${tone}: ${subject} ${text}`),
    },
    { byId: [42], name: 'square' },
  );
  return { watcher, told };
}

test('a deployment of another id is said to be found by its name, and that it goes on is no harm', () => {
  const { watcher, told } = watched();
  watcher.look(status(beating(42, 1), beating(43, 1)));
  watcher.look(status(beating(42, 1), beating(43, 3, 'replaced'), beating(44, 1)));
  expect(told).toEqual([
    expect.stringMatching(/^plain: deployment 42 heartbeat accepted .* 29.0 of 30 s left$/),
    'good: deployment 43 found by its name, square',
    expect.stringMatching(/^plain: deployment 43 heartbeat accepted/),
    'warn: deployment 43 healthy → replaced: its name has another id',
    'good: deployment 44 found by its name, square',
    expect.stringMatching(/^plain: deployment 44 heartbeat accepted/),
  ]);
});

function endpointAt(at: number, load: number): EndpointStatus {
  return {
    endpoint_group: 'chat',
    endpoint_id: 31,
    state: 'active',
    last_sample_at: at,
    last_error: null,
    load,
    load_average: load,
    load_in_flight: null,
    load_meaning: 'rate',
    load_because: 'shown by 2 of its workers',
    capacity_hot: 2_000,
    capacity_cold: 1_000,
    requests_working: 1,
    spend_per_hour: 0.8,
    spend_told_per_hour: 0.8,
    spend_idle_per_hour: 0.2,
    spend_starting_per_hour: 0,
    spend_stopped_per_hour: 0,
    spend_today: { amount: 4.2, source: 'told' },
    spend_today_usual: null,
    spend_month: null,
    workers: { idle: 2, stopped: 1 },
    parameters: {},
    drift: [{ parameter: 'target_util', actual: 0.9, wanted: 0.97 }],
    findings: [],
    stuck_workers: 0,
    failing_workers: 0,
    troubles: {},
  };
}

test('an endpoint is told of once for each look at it, and of its drift once', () => {
  const { watcher, told } = watched();
  const withEndpoint = (at: number, load: number): Status => {
    const seen = status();
    return { ...seen, fleet: { ...seen.fleet, endpoints: [endpointAt(at, load)] } };
  };
  watcher.look(withEndpoint(100, 1_000));
  watcher.look(withEndpoint(100, 1_000));
  watcher.look(withEndpoint(105, 3_000));
  expect(told).toEqual([
    'warn: endpoint chat target_util is 0.9, configured 0.97',
    'plain: endpoint chat load 1,000 of 2,000 units/s (50%), 2 idle, 1 stopped, 0.80 an hour, 4.20 today',
    'warn: endpoint chat load 3,000 of 2,000 units/s (150%), 2 idle, 1 stopped, 0.80 an hour, 4.20 today',
  ]);
});

test('a deployment that is kept alive by its id and is gone is lost', () => {
  const { watcher, told } = watched();
  watcher.look(status(beating(42, 1)));
  watcher.look(status(beating(42, 3, 'gone')));
  expect(told.at(-1)).toBe('bad: deployment 42 healthy → gone, 29.0 s left');
});

test('heartbeats to deployments that the status has no more are counted', () => {
  const { watcher } = watched();
  watcher.look(status(beating(42, 4), beating(43, 5)));
  watcher.look(status(beating(42, 6), beating(44, 2)));
  expect(watcher.heartbeats()).toBe(13);
});

function view(id: number, more: Partial<DeploymentView> = {}): DeploymentView {
  return {
    id,
    name: 'square',
    tag: 'default',
    endpointState: 'active',
    ttlMs: 30_000,
    lastHeartbeatMs: 1,
    expiresAtMs: null,
    expiredAtMs: null,
    expired: false,
    beats: 5,
    lateBeats: 0,
    minMarginMs: 15_000,
    minMarginRatio: 0.5,
    lapses: 0,
    ...more,
  };
}

function summaryOf(deployments: readonly DeploymentView[], redeployed: number) {
  return summarize({
    ranForMs: 20_000,
    status: EMPTY_STATUS,
    heartbeats: 20,
    deployments,
    redeployed,
    writtenLines: 0,
    faults: { injected: 1, survived: 1 },
  });
}

test('the summary counts what a deployment had before it was made anew', () => {
  const { lines, expired } = summaryOf([view(43, { minMarginMs: 9_000, minMarginRatio: 0.3 }), view(44)], 1);
  expect(expired).toBe(false);
  expect(lines).toContain('  heartbeats sent   20, 10 accepted by the service');
  expect(lines).toContain('  closest approach  deployment 43: 9.0 s left, 30% of its TTL');
  expect(lines).toContain('  lapses            0');
  expect(lines).toContain('  redeployments     1, 1 followed to the new id');
});

test('the summary says where the new one had no heartbeat yet, and that one lapsed', () => {
  const { lines } = summaryOf([view(43), view(44, { lastHeartbeatMs: null, beats: 0 })], 1);
  expect(lines).toContain('  redeployments     1, 0 followed to the new id');
  const lapsed = summaryOf([view(43), view(44, { expired: true, lapses: 1 })], 1);
  expect([lapsed.expired, lapsed.lines]).toEqual([
    true,
    expect.arrayContaining(['  lapses            1']) as unknown,
  ]);
});
