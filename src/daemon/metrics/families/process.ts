/** Metrics of the process itself. */
import { one, type Family } from '../family.ts';

export const processFamilies: readonly Family[] = [
  {
    name: 'build_info',
    type: 'gauge',
    help: 'Version, revision and Node version of this build; always 1.',
    read: ({ version, revision, node_version }) => [
      { labels: { version, revision, node_version }, value: 1 },
    ],
  },
  {
    name: 'up',
    type: 'gauge',
    help: '1 while the daemon runs, 0 while it drains.',
    read: one(({ state }) => (state === 'running' ? 1 : 0)),
  },
  {
    name: 'daemon_restarts_total',
    type: 'counter',
    help: 'How often the heart has started the daemon again after it ended.',
    read: one(({ heart }) => heart.daemon_restarts),
  },
  {
    name: 'heart_open_connections',
    type: 'gauge',
    help: 'Connections that the heart has open to the service.',
    read: one(({ heart }) => heart.open_connections),
  },
  {
    name: 'heart_address_avoided',
    type: 'gauge',
    help: '1 for each address of the service that failed lately; heartbeats go to the others.',
    read: ({ heart }) =>
      heart.avoided_addresses.map(({ address, reason }) => ({ labels: { address, reason }, value: 1 })),
  },
  {
    name: 'rate_limit_allowed_requests_per_second',
    type: 'gauge',
    help: 'Requests that the rate limit of the key allows the daemon; no series while no limit is known.',
    read: one(({ rate_limit }) => rate_limit.allowed_requests_per_second),
  },
  {
    name: 'rate_limit_wanted_requests_per_second',
    type: 'gauge',
    help: 'Requests that logs, endpoints and watches need at their intervals.',
    read: one(({ rate_limit }) => rate_limit.wanted_requests_per_second),
  },
  {
    name: 'rate_limit_stretch_ratio',
    type: 'gauge',
    help: 'How much longer the intervals of logs, endpoints and watches are for the rate limit; 1: not longer.',
    read: one(({ rate_limit }) => rate_limit.stretch_ratio),
  },
  {
    name: 'config_problem',
    type: 'gauge',
    help: '1 for each variable with an error, which switches its feature off, and for each unknown name, which is ignored.',
    read: ({ config_problems }) =>
      config_problems.map(({ variable }) => ({ labels: { variable }, value: 1 })),
  },
  {
    name: 'replica_active',
    type: 'gauge',
    help: '1 while this replica follows the logs and runs the watches, 0 while another does.',
    read: one(({ replica }) => (replica.role === 'standby' ? 0 : 1)),
  },
  {
    name: 'api_clock_skew_seconds',
    type: 'gauge',
    help: "The service's clock minus this machine's, from the Date header of its last answer.",
    read: one(({ service }) => service.clock_skew_seconds),
  },
];
