import type { DeploymentStatus, Status } from '../../src/daemon/status/schema.ts';

/** The status of a daemon that does nothing. */
export const EMPTY_STATUS: Status = {
  version: '',
  revision: '',
  node_version: '',
  state: 'running',
  now: 0,
  started_at: 0,
  replica: { id: '', role: 'alone', last_error: null },
  heart: {
    daemon_restarts: 0,
    open_connections: 0,
    resident_memory_bytes: null,
    cpu_seconds: null,
    event_loop_lag_max_seconds: null,
    avoided_addresses: [],
  },
  rate_limit: {
    allowed_requests_per_second: null,
    wanted_requests_per_second: 0,
    stretch_ratio: 1,
    waiting_requests: 0,
    paused_seconds: 0,
  },
  app: null,
  config_problems: [],
  service: { traits: [], base_url: '', serverless_url: '', clock_skew_seconds: null },
  deployments: [],
  worker_groups: [],
  endpoint_logs: [],
  log_lines_shown: true,
  sinks: [],
  spool_durable: null,
  endpoint_groups: [],
  fleet: {
    configured: false,
    samples: true,
    sample_interval_seconds: 15,
    budget_per_hour: null,
    budget_per_month: null,
    spend_month: null,
    spend_month_forecast: null,
    orphan_instances: null,
    orphan_spend_per_hour: null,
    spend_unanswered: [],
    history: 'memory',
    history_trouble: null,
    endpoints: [],
  },
  instances: {},
  maintenance_windows: [],
  account: null,
  jobs: [],
};

/** A deployment of which nothing is known yet. */
export const EMPTY_DEPLOYMENT: DeploymentStatus = {
  deployment_id: 42,
  deployment: null,
  state: 'healthy',
  ttl_seconds: 300,
  interval_seconds: 60,
  heartbeats: 1,
  failures: {},
  last_success_at: null,
  next_heartbeat_at: null,
  expires_at: null,
  min_margin_ratio: null,
  lapses: 0,
  last_error: null,
  last_error_at: null,
  last_heartbeats: [],
};

/** One that is kept alive. */
export const DEPLOYMENT_STATUS: DeploymentStatus = {
  ...EMPTY_DEPLOYMENT,
  ttl_seconds: 30,
  interval_seconds: 10,
  heartbeats: 7,
  last_success_at: 100,
  next_heartbeat_at: 106,
  expires_at: 130,
  min_margin_ratio: 0.6,
};

/** The log of a worker group or endpoint without a line. */
export const EMPTY_LOG = {
  lines: 0,
  bytes: 0,
  lines_per_second: 0,
  gaps: { overrun: 0, reset: 0, ambiguous: 0 },
  lost_lines_estimate: 0,
  unknown_gaps: 0,
  stale_answers: 0,
  poll_interval_seconds: 2,
  tail_size: 200,
  tail_unit: null,
  last_line_at: null,
  last_error: null,
  last_lines: [],
} as const;
