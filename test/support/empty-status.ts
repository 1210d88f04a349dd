import type { Status } from '../../src/daemon/status/schema.ts';

/** The status of a daemon that does nothing. */
export const EMPTY_STATUS: Status = {
  version: '',
  revision: '',
  node_version: '',
  state: 'running',
  now: 0,
  started_at: 0,
  replica: { id: '', role: 'alone', last_error: null },
  heart: { daemon_restarts: 0, open_connections: 0 },
  config_problems: [],
  service: { base_url: '', serverless_url: '', clock_skew_seconds: null },
  deployments: [],
  worker_groups: [],
  sinks: [],
  spool_durable: null,
  endpoint_groups: [],
  fleet: {
    samples: true,
    sample_interval_seconds: 15,
    budget_per_hour: null,
    history: 'memory',
    history_trouble: null,
    endpoints: [],
  },
  instances: {},
  maintenance_windows: [],
  account: null,
  jobs: [],
};
