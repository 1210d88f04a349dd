import type { Scrape } from '../../src/daemon/metrics/scrape.ts';

/** What a daemon that does nothing has to tell a scrape. */
export const EMPTY_SCRAPE: Scrape = {
  version: '',
  revision: '',
  node_version: '',
  state: 'running',
  now: 0,
  started_at: 0,
  replica: { id: '', role: 'alone' },
  heart: { daemon_restarts: 0, open_connections: 0 },
  config_problems: [],
  service: { base_url: '', serverless_url: '', clock_skew_seconds: null },
  deployments: new Float64Array(),
  worker_groups: [],
  sinks: [],
  spool_durable: null,
  endpoint_groups: [],
  instances: {},
  maintenance_windows: [],
  account: null,
  jobs: [],
};
