/** Each series of a daemon that has something of everything: its labels and its value. */
import { expect, test } from 'vitest';
import { createMetrics } from '../../../../src/daemon/metrics.ts';
import type { Status } from '../../../../src/daemon/status/schema.ts';
import { EMPTY_DEPLOYMENT, EMPTY_LOG, EMPTY_STATUS } from '../../../support/empty-status.ts';
import { expositionOf } from '../../../support/exposition.ts';

const finding = { rule: 'rule', severity: 'error', parameters: [], message: '' } as const;
const FOLLOWED = {
  ...EMPTY_LOG,
  lines: 9,
  bytes: 90,
  gaps: { overrun: 1, reset: 2, ambiguous: 3 },
  lost_lines_estimate: 12,
  stale_answers: 4,
  poll_interval_seconds: 1.5,
  tail_size: 500,
  unknown_gaps: 1,
};

const STATUS: Status = {
  ...EMPTY_STATUS,
  version: '1.2.3',
  revision: 'abc',
  node_version: 'v24',
  state: 'draining',
  replica: { id: 'a', role: 'standby', last_error: null },
  heart: {
    daemon_restarts: 2,
    open_connections: 3,
    resident_memory_bytes: 5e7,
    cpu_seconds: 1.5,
    event_loop_lag_max_seconds: 0.02,
    avoided_addresses: [{ origin: 'https://a', address: '10.0.0.7', reason: 'timeout', since: 1 }],
  },
  rate_limit: {
    allowed_requests_per_second: 0.5,
    wanted_requests_per_second: 2,
    stretch_ratio: 4,
    waiting_requests: 3,
    paused_seconds: 0,
  },
  config_problems: [{ variable: 'TTL', message: '' }] as never,
  service: { traits: [], base_url: '', serverless_url: '', clock_skew_seconds: -0.5 },
  deployments: [
    {
      ...EMPTY_DEPLOYMENT,
      heartbeats: 9,
      failures: { dns: 2 },
      last_success_at: 5,
      next_heartbeat_at: 6.5,
      expires_at: 305,
      min_margin_ratio: 0.4,
      lapses: 1,
    },
    { ...EMPTY_DEPLOYMENT, deployment_id: 44, ttl_seconds: null },
  ],
  worker_groups: [{ workergroup_id: 7, ...FOLLOWED }],
  endpoint_logs: [
    // The rate was not known when its lines were lost.
    {
      endpoint_group: 'chat',
      endpoint_id: 31,
      ...FOLLOWED,
      lines: 4,
      lost_lines_estimate: 0,
      unknown_gaps: 2,
    },
  ],
  sinks: [
    { sink: 'otlp', delivered_lines: 5, dropped_lines: { overflow: 1, rejected: 2 }, lag_lines: 6 },
  ] as never,
  spool_durable: false,
  endpoint_groups: [{ endpoint_group: 'chat', parameters: { min_load: 1 }, findings: [finding] }] as never,
  instances: { running: 2 },
  maintenance_windows: [{ machine_id: 5, category: 'power', starts_at: 10, ends_at: null }],
  account: { tfa_enabled: true, tfa_status: null, backup_codes_remaining: 3, locked_methods: 1 },
  jobs: [
    {
      job: 'account',
      schedule: 'off',
      runs: 4,
      failures: 1,
      missed: 0,
      last_success_at: 8,
      last_error: null,
    },
  ],
};

async function series(status: Partial<Status> = {}): Promise<string[]> {
  const text = await expositionOf(createMetrics(() => ({ ...STATUS, ...status }), []));
  return text.split('\n').filter((line) => line.startsWith('pilotlight_'));
}

const SERIES = series();

test.each([
  'build_info{version="1.2.3",revision="abc",node_version="v24"} 1',
  'up 0',
  'daemon_restarts_total 2',
  'heart_open_connections 3',
  'heart_resident_memory_bytes 50000000',
  'heart_cpu_seconds_total 1.5',
  'heart_eventloop_lag_max_seconds 0.02',
  'heart_address_avoided{address="10.0.0.7",reason="timeout"} 1',
  'rate_limit_allowed_requests_per_second 0.5',
  'rate_limit_wanted_requests_per_second 2',
  'rate_limit_stretch_ratio 4',
  'config_problem{variable="TTL"} 1',
  'replica_active 0',
  'api_clock_skew_seconds -0.5',
  'deployment_ttl_seconds{deployment_id="42"} 300',
  'deployment_state{state="healthy",deployment_id="42"} 1',
  'deployment_state{state="gone",deployment_id="42"} 0',
  'deployment_heartbeat_interval_seconds{deployment_id="42"} 60',
  'deployment_heartbeats_total{deployment_id="42"} 9',
  'deployment_heartbeat_failures_total{reason="dns",deployment_id="42"} 2',
  'deployment_last_heartbeat_success_timestamp_seconds{deployment_id="42"} 5',
  'deployment_last_heartbeat_success_timestamp_seconds{deployment_id="44"} 0',
  'deployment_next_heartbeat_timestamp_seconds{deployment_id="42"} 6.5',
  'deployment_expiry_timestamp_seconds{deployment_id="42"} 305',
  'deployment_min_margin_ratio{deployment_id="42"} 0.4',
  'deployment_lapses_total{deployment_id="42"} 1',
  'workergroup_log_lines_total{workergroup_id="7"} 9',
  'workergroup_log_bytes_total{workergroup_id="7"} 90',
  'workergroup_log_gaps_total{reason="overrun",workergroup_id="7"} 1',
  'workergroup_log_lost_lines_estimate_total{workergroup_id="7"} 12',
  'workergroup_log_stale_answers_total{workergroup_id="7"} 4',
  'workergroup_log_unknown_gaps_total{workergroup_id="7"} 1',
  'workergroup_log_lines_total{endpoint_group="chat"} 4',
  'workergroup_log_gaps_total{reason="reset",endpoint_group="chat"} 2',
  'workergroup_log_lost_lines_estimate_total{endpoint_group="chat"} 0',
  'workergroup_log_unknown_gaps_total{endpoint_group="chat"} 2',
  'workergroup_log_poll_interval_seconds{workergroup_id="7"} 1.5',
  'workergroup_log_tail_size{workergroup_id="7"} 500',
  'workergroup_log_last_line_timestamp_seconds{workergroup_id="7"} 0',
  'log_sink_delivered_lines_total{sink="otlp"} 5',
  'log_sink_dropped_lines_total{reason="overflow",sink="otlp"} 1',
  'log_spool_durable 0',
  'log_sink_lag_lines{sink="otlp"} 6',
  'endpoint_group_parameter{parameter="min_load",endpoint_group="chat"} 1',
  'endpoint_group_violations{severity="error",endpoint_group="chat"} 1',
  'endpoint_group_violations{severity="warning",endpoint_group="chat"} 0',
  'instances{status="running"} 2',
  'maintenance_window_start_timestamp_seconds{machine_id="5",category="power"} 10',
  'tfa_enabled 1',
  'tfa_backup_codes_remaining 3',
  'tfa_locked_methods 1',
  'job_runs_total{job="account"} 4',
  'job_failures_total{job="account"} 1',
  'job_last_success_timestamp_seconds{job="account"} 8',
])('%s', async (line) => {
  expect(await SERIES).toContain(`pilotlight_${line}`);
});

test('beside the id of a deployment stands its name, if it is configured by one', async () => {
  const [unnamed] = STATUS.deployments;
  const named = { ...unnamed!, deployment_id: 43, deployment: 'square/"blue"' };
  const lines = await series({ deployments: [unnamed!, named] });
  expect(lines.filter((line) => line.startsWith('pilotlight_deployment_ttl'))).toEqual([
    'pilotlight_deployment_ttl_seconds{deployment_id="42"} 300',
    'pilotlight_deployment_ttl_seconds{deployment_id="43",deployment="square/\\"blue\\""} 300',
  ]);
  expect(lines).toContain(
    'pilotlight_deployment_heartbeat_failures_total{reason="dns",deployment_id="43",deployment="square/\\"blue\\""} 2',
  );
});

test('what is not known has no series', async () => {
  const lines = await series({
    account: null,
    spool_durable: null,
    service: { traits: [], base_url: '', serverless_url: '', clock_skew_seconds: null },
  });
  const names =
    /^pilotlight_(?:tfa_|log_spool_durable|api_clock_skew|maintenance_window_end|deployment_(?:min_margin|next|expiry|ttl).*"44")/;
  expect(lines.filter((line) => names.test(line))).toEqual([]);
});

test('a daemon that runs and follows says so', async () => {
  const lines = await series({ state: 'running', replica: EMPTY_STATUS.replica, spool_durable: true });
  expect(lines).toEqual(
    expect.arrayContaining([
      'pilotlight_up 1',
      'pilotlight_replica_active 1',
      'pilotlight_log_spool_durable 1',
    ]),
  );
});

test('the process of the daemon has its usual names, and no gauge is called a total', async () => {
  const text = await expositionOf(createMetrics(() => STATUS, []));
  const types = new Map(
    [...text.matchAll(/^# TYPE (\S+) (\S+)$/gm)].map(([, name = '', type]) => [name, type]),
  );
  expect([types.get('process_resident_memory_bytes'), types.get('process_cpu_seconds_total')]).toEqual([
    'gauge',
    'counter',
  ]);
  expect(types.has('nodejs_heap_size_used_bytes')).toBe(true);
  expect([...types].filter(([name, type]) => name.endsWith('_total') && type !== 'counter')).toEqual([]);
});

test('requests are counted by operation and status, messages by level', async () => {
  const metrics = createMetrics(() => STATUS, ['workergroups.list']);
  metrics.client.exchange?.({
    operation: 'workergroups.list',
    code: '503',
    durationMs: 20,
    serverDate: undefined,
  });
  metrics.logMessages('warn', 2);
  const text = await expositionOf(metrics);
  for (const line of [
    'api_requests_total{operation="workergroups.list",code="200"} 0',
    'api_requests_total{operation="workergroups.list",code="503"} 1',
    'api_retries_total{operation="workergroups.list"} 0',
    'api_request_duration_seconds_count{operation="workergroups.list"} 1',
    'api_request_duration_seconds_bucket{le="0.025",operation="workergroups.list"} 1',
    'log_messages_total{level="warn"} 2',
    'log_messages_total{level="info"} 0',
  ])
    expect(text).toContain(`pilotlight_${line}\n`);
});
