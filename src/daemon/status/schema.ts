/** The status: what /api/status answers, and what the metrics are made of. */
import * as z from 'zod';
import { APP_STATES } from '../../heartbeat/view/snapshot.ts';
import { LIFECYCLE_STATES } from '../process/lifecycle.ts';
import { deployment } from './deployment.ts';
import { count, LABELS, metric, publishedSchema, seconds, time, type DeepReadonly } from './fact.ts';
import { fleet } from './fleet.ts';
import { endpointLog, sink, spoolDurable, workerGroup } from './logs.ts';
import { account, endpointGroup, instances, job, maintenanceWindow } from './watches.ts';

const state = metric(
  z.enum(LIFECYCLE_STATES),
  'up',
  'Where the daemon is in its life; 1 in the metric while it runs, else 0.',
  { value: (is) => is === 'running' },
);

const replica = z.object({
  id: z.string().describe('Distinct for each replica and each of its lives'),
  role: metric(
    z.enum(['alone', 'holder', 'standby']),
    'replica_active',
    'holder: follows the logs and runs the watches; standby: another does; alone: without REDIS_URL. 0 in the metric for standby, else 1.',
    { value: (role) => role !== 'standby' },
  ),
  last_error: z.string().nullable().describe('The last error of Redis; null while it works'),
});

const avoidedAddress = metric(
  z.object({
    origin: z.string().describe('The service, or the proxy before it'),
    address: z.string(),
    reason: z.string().describe('How its last exchange ended'),
    since: time.describe('Since when none has ended well'),
  }),
  'heart_address_avoided',
  'An address of the service that failed lately; heartbeats go to the others. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(avoidedAddress, { labels: ['address', 'reason'] });

const heart = z.object({
  daemon_restarts: metric(
    count,
    'daemon_restarts_total',
    'How often the heart has started the daemon again after it ended.',
  ),
  open_connections: metric(
    count,
    'heart_open_connections',
    'Connections that the heart has open to the service.',
  ),
  resident_memory_bytes: metric(
    count.nullable(),
    'heart_resident_memory_bytes',
    'Resident memory of the heart.',
  ),
  cpu_seconds: metric(
    seconds.nullable(),
    'heart_cpu_seconds_total',
    'User and system time of the heart since it began.',
  ),
  event_loop_lag_max_seconds: metric(
    seconds.nullable(),
    'heart_eventloop_lag_max_seconds',
    "Longest delay of the heart's event loop within the last minute or two. Delays under 0.5 s may be missed.",
  ),
  avoided_addresses: z.array(avoidedAddress),
});

const rateLimit = z.object({
  allowed_requests_per_second: metric(
    z.number().min(0).nullable(),
    'rate_limit_allowed_requests_per_second',
    'Requests that the daemon may send beside the heartbeats, by the rate limit of the key; absent while no limit is known.',
  ),
  wanted_requests_per_second: metric(
    z.number().min(0),
    'rate_limit_wanted_requests_per_second',
    'Requests that logs, endpoints and watches need at their intervals.',
  ),
  stretch_ratio: metric(
    z.number().min(1),
    'rate_limit_stretch_ratio',
    'How much longer the intervals of logs, endpoints and watches are for the rate limit; 1: not longer.',
  ),
  waiting_requests: count,
  paused_seconds: seconds.describe('Until the service takes a request of the key again; 0: now'),
});

const app = z.object({
  address: z.string().describe('PILOTLIGHT_APP_HEALTH, without credentials'),
  state: z.enum(APP_STATES).describe('withheld: it was unhealthy for the grace, so no heartbeat is sent'),
  unhealthy_seconds: seconds.describe('How long it has been unhealthy, as far as it could be asked'),
  grace_seconds: seconds,
  last_error: z.string().nullable().describe('Why it was unhealthy when it was asked last'),
});

const configProblem = metric(
  z.object({
    variable: z.string(),
    severity: z
      .enum(['error', 'warning'])
      .describe('error: the feature is off until it is corrected; warning: no variable has this name'),
    problem: z.string().describe('What it got, and what is allowed'),
  }),
  'config_problem',
  'A variable with an error, which switches its feature off, or an unknown name, which is ignored. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(configProblem, { labels: ['variable'] });

const serviceTrait = metric(
  z.object({
    trait: z.string(),
    value: z.string(),
    verdict: z
      .enum(['fine', 'differs', 'broken'])
      .describe('differs: it works, and is otherwise than the interface says'),
    says: z.string().describe('What it means here, and what to do'),
  }),
  'service_trait',
  'How the service behaves where that was not sure, as its answers told. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(serviceTrait, { labels: ['trait', 'value'] });

const service = z.object({
  traits: z
    .array(serviceTrait)
    .describe('What no answer has told yet is missing; doctor says how to find out'),
  base_url: z.string(),
  serverless_url: z.string(),
  clock_skew_seconds: metric(
    z.number().nullable(),
    'api_clock_skew_seconds',
    "The service's clock minus this machine's, from the Date header of its last answer.",
  ),
});

const missingDeployment = metric(
  z.object({
    deployment: z.string().describe('Its name, with the tag if one is configured'),
    reason: z.string().nullable().describe('null: the service was not asked yet'),
  }),
  'deployment_missing',
  'A name of PILOTLIGHT_DEPLOYMENTS without a known deployment: it gets no heartbeat. 1 in the metric for each.',
  { value: () => 1 },
);
LABELS.add(missingDeployment, { labels: ['deployment'] });

export const statusSchema = z.object({
  version: z.string(),
  revision: z.string(),
  node_version: z.string(),
  state,
  now: time,
  started_at: time,
  replica,
  heart,
  rate_limit: rateLimit,
  app: app.nullable().describe('The app that the deployments are kept alive for, if there is one'),
  config_problems: z.array(configProblem),
  service,
  deployments: z.array(deployment),
  missing_deployments: z.array(missingDeployment),
  worker_groups: z.array(workerGroup),
  endpoint_logs: z.array(endpointLog),
  log_lines_shown: z
    .boolean()
    .describe('Whether last_lines has lines: without METRICS_TOKEN or PUBLIC_STATUS it has none'),
  sinks: z.array(sink),
  spool_durable: spoolDurable,
  endpoint_groups: z.array(endpointGroup),
  fleet,
  instances,
  maintenance_windows: z.array(maintenanceWindow),
  account: account.nullable(),
  jobs: z.array(job),
});

/** Served at /api/status/schema; the tree has it as deploy/status.schema.json. */
export const statusJsonSchema = publishedSchema('Status of a Pilotlight daemon', statusSchema);

export type Status = DeepReadonly<z.infer<typeof statusSchema>>;
export type AppStatus = NonNullable<Status['app']>;
export type DeploymentStatus = Status['deployments'][number];
export type WorkerGroupStatus = Status['worker_groups'][number];
export type EndpointLogStatus = Status['endpoint_logs'][number];
export type SinkStatus = Status['sinks'][number];
export type EndpointStatus = Status['fleet']['endpoints'][number];
export type JobStatus = Status['jobs'][number];
