/** Each part of the status from what it is made of: names, units, and what is not known. */
import { describe, expect, test } from 'vitest';
import { deploymentStatus } from '../../../../src/daemon/status/deployment.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import { followedStatus } from '../../../../src/daemon/status/logs.ts';
import { appStatus } from '../../../../src/daemon/status/snapshot.ts';
import {
  FAILURE_LABELS,
  type DeploymentSnapshot,
  type FailureLabel,
} from '../../../../src/heartbeat/view/snapshot.ts';
import type { LogView } from '../../../../src/logs/follow/group-follower.ts';
import { endpointView, fleetView, UNSEEN, WATCH_ALL } from '../../../support/recorded-fleet.ts';

const failures = Object.fromEntries(FAILURE_LABELS.map((label) => [label, 0])) as Record<
  FailureLabel,
  number
>;

const SNAPSHOT: DeploymentSnapshot = {
  deploymentId: 42,
  state: 'healthy',
  ttlMs: 300_000,
  intervalMs: 60_000,
  lastSuccessAt: 1_000_500,
  nextBeatAt: 1_060_500,
  expiresAt: 1_300_500,
  minMarginRatio: 0.4,
  lapses: 1,
  attempts: 9,
  failures: { ...failures, dns: 2 },
  timeline: [],
};

describe('a deployment', () => {
  test('shows times in seconds, and null for what is unknown', () => {
    expect(deploymentStatus(SNAPSHOT)).toMatchObject({
      deployment_id: 42,
      state: 'healthy',
      ttl_seconds: 300,
      interval_seconds: 60,
      heartbeats: 9,
      failures: SNAPSHOT.failures,
      last_success_at: 1_000.5,
      next_heartbeat_at: 1_060.5,
      expires_at: 1_300.5,
      min_margin_ratio: 0.4,
      lapses: 1,
    });
    const { deploymentId, state, intervalMs, lapses, attempts, timeline } = SNAPSHOT;
    const little = { deploymentId, state, intervalMs, lapses, attempts, failures, timeline };
    const unknown = { ttl_seconds: null, last_success_at: null, next_heartbeat_at: null, expires_at: null };
    expect(deploymentStatus(little)).toMatchObject({ ...unknown, min_margin_ratio: null });
  });

  test('has the name that it is configured by', () => {
    expect(deploymentStatus({ ...SNAPSHOT, name: 'square/blue' }).deployment).toBe('square/blue');
  });

  test('has its last beats, and of those that failed the last in words', () => {
    const timeline = [
      { attempt: 1, hedge: false, at: 1_000, result: 'dns', tookMs: 5 },
      { attempt: 1, hedge: false, at: 2_000, result: 'timeout' },
      { attempt: 1, hedge: false, at: 3_000, result: 'accepted', tookMs: 7 },
      { attempt: 1, hedge: false, at: 4_000, result: 'waiting' },
      { attempt: 1, hedge: false, at: 5_000, result: 'superseded' },
    ] as const;
    expect(deploymentStatus({ ...SNAPSHOT, timeline })).toMatchObject({
      last_error: 'no answer in time',
      last_error_at: 2,
      last_heartbeats: [
        { at: 1, outcome: 'dns', latency_ms: 5 },
        { at: 2, outcome: 'timeout', latency_ms: null },
        { at: 3, outcome: 'accepted', latency_ms: 7 },
        { at: 4, outcome: 'waiting', latency_ms: null },
        { at: 5, outcome: 'superseded', latency_ms: null },
      ],
    });
  });

  test('has the words of the last failure, which name the address', () => {
    const timeline = [1, 2].map((attempt) => ({
      attempt,
      hedge: false,
      at: attempt,
      result: 'dns' as const,
    }));
    const errorOf = (attempt: number) =>
      deploymentStatus({ ...SNAPSHOT, timeline, lastFailure: { attempt, why: 'the name a.example …' } })
        .last_error;
    expect([errorOf(1), errorOf(2)]).toEqual([
      'the name of the service does not resolve',
      'the name a.example …',
    ]);
  });

  test('has words of its own for each failure', () => {
    const words = [...FAILURE_LABELS, 'overdue' as const].map(
      (result) =>
        deploymentStatus({ ...SNAPSHOT, timeline: [{ attempt: 1, hedge: false, at: 1_000, result }] })
          .last_error,
    );
    expect(new Set(words).size).toBe(FAILURE_LABELS.length + 1);
    expect(words.filter((text) => (text ?? '').length < 10)).toEqual([]);
  });
});

describe('a log', () => {
  const view: LogView = {
    source: { kind: 'workergroup', id: 7 },
    state: 'following',
    epoch: 1,
    seq: 9,
    linesPerSecond: 2.5,
    lines: 9,
    bytes: 90,
    gaps: { overrun: 1, reset: 2, ambiguous: 3, handover: 4 },
    unknownGaps: 1,
    lostEstimate: 12,
    staleAnswers: 4,
    lastLines: ['x'.repeat(2_000), 'x'.repeat(2_001)],
    tail: 500,
    intervalMs: 1_500,
  };

  test('has its numbers, and long lines in short', () => {
    const numbers = {
      lines: 9,
      bytes: 90,
      lines_per_second: 2.5,
      gaps: { overrun: 1, reset: 2, ambiguous: 3, handover: 4 },
      lost_lines_estimate: 12,
      stale_answers: 4,
      poll_interval_seconds: 1.5,
      tail_size: 500,
      tail_unit: null,
      unknown_gaps: 1,
      last_line_at: null,
      last_error: null,
      last_lines: ['x'.repeat(2_000), `${'x'.repeat(2_000)} … (2001 characters)`],
    };
    const chat = { ...view, source: { kind: 'endpoint', id: 31, name: 'chat' } } as const;
    expect(followedStatus([view, chat])).toEqual({
      worker_groups: [{ workergroup_id: 7, ...numbers }],
      endpoint_logs: [{ endpoint_group: 'chat', endpoint_id: 31, ...numbers }],
    });
  });

  test('has when its last line came, and its last error', () => {
    const [group] = followedStatus([{ ...view, lastLineAt: 5_500, error: 'no answer' }]).worker_groups;
    expect(group).toMatchObject({ last_line_at: 5.5, last_error: 'no answer' });
  });
});

describe('the app', () => {
  const app = { state: 'unhealthy', unhealthyMs: 1_500, graceMs: 60_000 } as const;

  test('has an address without what is secret in it', () => {
    expect(appStatus('http://user:secret@127.0.0.1:8000/health', { ...app, why: 'status 500' })).toEqual({
      address: expect.not.stringContaining('secret'),
      state: 'unhealthy',
      unhealthy_seconds: 1.5,
      grace_seconds: 60,
      last_error: 'status 500',
    });
    expect(appStatus('http://127.0.0.1:8000/', app)).toMatchObject({
      address: 'http://127.0.0.1:8000/',
      last_error: null,
    });
  });

  test('is none without an address, and before the heart has told of it', () => {
    expect([appStatus(undefined, app), appStatus('http://127.0.0.1/', undefined)]).toEqual([null, null]);
  });
});

const settings = { ...WATCH_ALL, budgetPerHour: 3 };

test('the fleet has nothing where nothing was measured', () => {
  const nothing = { ...settings, endpoints: [], budgetPerHour: undefined };
  const status = fleetStatus(fleetView([endpointView(UNSEEN)], { historyTrouble: 'disk full' }), nothing);
  expect(status).toMatchObject({ configured: false, budget_per_hour: null, history_trouble: 'disk full' });
  const { load_meaning, load_because, ...endpoint } = status.endpoints[0] ?? expect.fail('no endpoint');
  expect([load_meaning, load_because]).toEqual(['unknown', expect.any(String)]);
  const known = Object.keys(endpoint).filter((name) => endpoint[name as keyof typeof endpoint] !== null);
  const told = ['drift', 'endpoint_group', 'endpoint_id', 'failing_workers', 'findings'];
  expect(known.toSorted()).toEqual([...told, 'parameters', 'stuck_workers', 'troubles']);
});
