/** What the demo prints: its events, what it tells of the daemon, and its end. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Console } from '../../../../src/cli/console.ts';
import {
  createScreen,
  summarize,
  createWatcher,
  type DemoResult,
  type Screen,
} from '../../../../src/cli/demo/screen.ts';
import type { DeploymentView } from '../../../../src/emulator/index.ts';
import type { LogRecord } from '../../../../src/logs/record.ts';
import { EMPTY_STATUS, DEPLOYMENT_STATUS } from '../../../support/empty-status.ts';
import type { DeploymentStatus, Status } from '../../../../src/daemon/status/schema.ts';
import { fleetStatus } from '../../../../src/daemon/status/fleet.ts';
import {
  endpointView,
  fleetView,
  sampleAt,
  SPENT,
  UNSEEN,
  WATCH_ALL,
} from '../../../support/recorded-fleet.ts';

function deployment(id: number, over: Partial<DeploymentView> = {}): DeploymentView {
  const margin = { minMarginMs: 12_340, minMarginRatio: 0.617 };
  return { id, lastHeartbeatMs: 1, beats: 4, lapses: 0, ...margin, ...over } as DeploymentView;
}

const GROUP = { workergroup_id: 7, lines: 120, gaps: { overrun: 2, reset: 1, ambiguous: 0 } };
const RESULT = {
  ranForMs: 20_400,
  status: { ...EMPTY_STATUS, worker_groups: [GROUP, { ...GROUP, lines: 3 }] },
  heartbeats: 11,
  deployments: [deployment(42), deployment(43, { beats: 5, minMarginMs: 3_000, minMarginRatio: 0.15 })],
  redeployed: 2,
  writtenLines: 130,
  faults: { injected: 3, survived: 2 },
} as unknown as DemoResult;

describe('the end', () => {
  test('says what was sent, how close it came, and what was survived', () => {
    expect(summarize(RESULT)).toEqual({
      expired: false,
      lines: [
        '',
        'After 20 s:',
        '  heartbeats sent   11, 9 accepted by the service',
        '  closest approach  deployment 43: 3.0 s left, 15% of its TTL',
        '  lapses            0',
        '  redeployments     2, 2 followed to the new id',
        '  faults            3 injected, 2 survived',
        '  log lines         123 delivered of 130 written',
        '  gaps              6',
      ],
    });
  });

  const NO_MARGIN = deployment(42, { minMarginMs: null, minMarginRatio: null });
  const NO_HEARTBEAT = deployment(44, { lastHeartbeatMs: null });
  test.each<[string, Partial<DemoResult>, string]>([
    ['nothing to keep alive', { deployments: [] }, '  closest approach  —'],
    ['a deployment that had no heartbeat', { deployments: [NO_MARGIN] }, '  closest approach  —'],
    [
      'one that waits for its first',
      { deployments: [deployment(42), NO_HEARTBEAT] },
      '  redeployments     2, 1 followed to the new id',
    ],
    [
      'none that was made anew',
      { redeployed: 0, deployments: [NO_HEARTBEAT] },
      '  redeployments     0, 0 followed to the new id',
    ],
  ])('with %s', (_, over, words) => {
    expect(summarize({ ...RESULT, ...over }).lines).toContain(words);
  });

  test('is a failure where one expired', () => {
    const deployments = [deployment(42, { lapses: 1 }), deployment(43)];
    const { expired, lines } = summarize({ ...RESULT, deployments });
    expect([expired, lines[4]]).toEqual([true, '  lapses            1']);
  });
});

describe('an event', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['performance'] }));
  afterEach(() => vi.useRealTimers());

  function screenOf(around: Partial<Console>) {
    const out: string[] = [];
    const terminal = { columns: undefined, hasColours: false, ...around };
    const screen = createScreen({ ...terminal, out: (text) => out.push(text) } as Console);
    return { screen, out };
  }

  const record = (line: string): LogRecord => ({ time: '', workergroup_id: 7, epoch: 1, seq: 1, line });

  test('has its time, who it is about, and what happened', () => {
    const { screen, out } = screenOf({});
    screen.heading('the demo  \n');
    vi.advanceTimersByTime(61_999);
    screen.event('fault', 'over', 'warn');
    vi.advanceTimersByTime(600_000);
    screen.record(record('\u001B[31mred\u001B[0m'));
    const gap = { reason: 'reset', lost_min: 0, lost_estimate: 0 } as const;
    screen.record({ time: '', workergroup_id: 7, epoch: 1, seq: 1, gap });
    expect(out).toEqual([
      'the demo\n',
      '01:01  fault           over\n',
      '11:01  worker group 7  red\n',
      '11:01  worker group 7  gap: the log began again here; the last lines before it may be lost\n',
    ]);
  });

  test('has a colour where there are colours', () => {
    const { screen, out } = screenOf({ hasColours: true });
    screen.event('a', 'plain');
    screen.event('a', 'warns', 'warn');
    screen.record(record('a line'));
    expect(out).toEqual([
      '00:00  a               plain\n',
      '\u001B[33m00:00  a               warns\u001B[39m\n',
      '\u001B[2m00:00  worker group 7  a line\u001B[22m\n',
    ]);
  });

  test.each([
    [40, 40],
    [undefined, 110],
  ])('is no longer than a terminal of %j columns', (columns, width) => {
    const { screen, out } = screenOf({ columns });
    screen.event('a', 'x'.repeat(width - 23));
    screen.event('a', 'x'.repeat(width - 22));
    expect(out.map((line) => line.length)).toEqual([width + 1, width + 1]);
    expect(out.map((line) => line.at(-2))).toEqual(['x', '…']);
  });
});

function beating(id: number, heartbeats: number, state = 'healthy'): DeploymentStatus {
  return { ...DEPLOYMENT_STATUS, deployment_id: id, heartbeats, state };
}

function status(...deployments: DeploymentStatus[]): Status {
  return { ...EMPTY_STATUS, now: 101, deployments };
}

function watched() {
  const told: string[] = [];
  const event: Screen['event'] = (subject, text, tone = 'plain') =>
    void told.push(`${tone}: ${subject} ${text}`);
  const watcher = createWatcher({ heading() {}, record() {}, event }, { byId: [42], name: 'square' });
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

test('an endpoint is told of once for each look at it', () => {
  const { watcher, told } = watched();
  const withEndpoint = (at: number, load: number): Status => {
    const measures = { load, capacity_hot: 2_000, spend_per_hour: 0.8 };
    const view = endpointView({
      sample: sampleAt(at * 1_000, measures, { idle: 2, stopped: 1 }),
      sampledAtMs: at * 1_000,
    });
    return { ...status(), fleet: fleetStatus(fleetView([view], { spend: SPENT }), WATCH_ALL) };
  };
  watcher.look(withEndpoint(100, 1_000));
  watcher.look(withEndpoint(100, 1_000));
  watcher.look(withEndpoint(105, 3_000));
  expect(told).toEqual([
    'plain: endpoint chat active, load 1,000 of 2,000 ready (50%), 12 requests at work, 2 idle, 1 stopped, 0.80 an hour, seen 1.0 s ago',
    'warn: endpoint chat active, load 3,000 of 2,000 ready (150%), 12 requests at work, 2 idle, 1 stopped, 0.80 an hour, seen 0.0 s ago',
  ]);
});

test('a deployment that is kept alive by its id and is gone is lost', () => {
  const { watcher, told } = watched();
  watcher.look(status(beating(42, 1)));
  watcher.look(status(beating(42, 3, 'gone')));
  expect(told.at(-1)).toBe('bad: deployment 42 healthy → gone, 29.0 s left');
});

test('a trouble and a maintenance are said once, and a TTL that is not known', () => {
  const { watcher, told } = watched();
  const churn = { severity: 'warning', sinceMs: 0, says: 'replaced 3 workers' } as const;
  const troubled = endpointView({ ...UNSEEN, troubles: { churn, flapping: null } });
  const maintenance_windows = [{ machine_id: 11, category: 'power', starts_at: 5_501, ends_at: null }];
  for (const state of ['healthy', 'urgent']) {
    const seen = status({ ...beating(42, 1, state), expires_at: null });
    watcher.look({ ...seen, fleet: fleetStatus(fleetView([troubled]), WATCH_ALL), maintenance_windows });
  }
  expect(told).toEqual([
    'plain: deployment 42 heartbeat accepted  TTL unknown',
    'warn: endpoint chat replaced 3 workers',
    'warn: machine 11 power maintenance in 1.5 h',
    'bad: deployment 42 healthy → urgent',
  ]);
});

test('heartbeats to deployments that the status has no more are counted', () => {
  const { watcher } = watched();
  watcher.look(status(beating(42, 4), beating(43, 5)));
  watcher.look(status(beating(42, 6), beating(44, 2)));
  expect(watcher.heartbeats()).toBe(13);
});
