/**
 * What the daemon sees, in one object: /api/status answers with it, the status page draws it, and the metrics
 * are read from it. Times are Unix seconds, fields are named as the metrics and the interface name them; what
 * is not known is null. No secret is ever in it.
 */
import * as z from 'zod';
import { MEASURES, type Measure } from '../../fleet/sample.ts';
import { APP_STATES } from '../../heartbeat/view/snapshot.ts';
import { SEVERITIES } from '../../scaling/rules/findings.ts';
import { LIFECYCLE_STATES } from '../process/lifecycle.ts';
import { time } from './time.ts';

const seconds = z.number().min(0);
const count = z.int().min(0);
const byReason = z.record(z.string(), count).describe('Reason to count');

const replica = z.object({
  id: z.string().describe('Distinct for each replica and each of its lives'),
  role: z
    .enum(['alone', 'holder', 'standby'])
    .describe(
      'holder: follows the logs and runs the watches; standby: another does; alone: without REDIS_URL',
    ),
  last_error: z.string().nullable().describe('Why Redis is of no use just now; null when it is'),
});

const avoidedAddress = z.object({
  origin: z.string().describe('The service, or the proxy before it'),
  address: z.string(),
  reason: z.string().describe('How its last exchange ended'),
  since: time.describe('Since when none has ended well'),
});

const rateLimit = z.object({
  allowed_requests_per_second: z
    .number()
    .min(0)
    .nullable()
    .describe('Requests that the rate limit of the key allows the daemon; null while no limit is known'),
  wanted_requests_per_second: z.number().min(0).describe('Requests that logs, endpoints and watches need'),
  stretch_ratio: z
    .number()
    .min(1)
    .describe('How much longer their intervals are for the limit; 1: not longer'),
  waiting_requests: count,
  closed_seconds: z.number().min(0).describe('Until the service takes a request of the key again; 0: now'),
});

const heart = z.object({
  daemon_restarts: count.describe('Daemons that this one follows since the heart began'),
  open_connections: count.describe("The heart's, to the service"),
  avoided_addresses: z
    .array(avoidedAddress)
    .describe('Addresses that failed lately; heartbeats go to the others'),
});

const app = z.object({
  address: z.string().describe('PILOTLIGHT_APP_HEALTH, without credentials'),
  state: z
    .enum(APP_STATES)
    .describe('released: it was not well for the grace, so no deployment is sent heartbeats'),
  unwell_seconds: seconds.describe('How long it has not been well, as far as it could be asked'),
  grace_seconds: seconds,
  last_error: z.string().nullable().describe('Why it was not well when it was asked last'),
});

const configProblem = z.object({
  variable: z.string(),
  severity: z
    .enum(['error', 'warning'])
    .describe('error: the feature is off until it is corrected; warning: no variable has this name'),
  problem: z.string().describe('What it got, and what is allowed'),
});

const service = z.object({
  base_url: z.string(),
  serverless_url: z.string(),
  clock_skew_seconds: z
    .number()
    .nullable()
    .describe("Service's clock minus ours, from the Date header of the last answer"),
});

const beat = z.object({
  at: time,
  outcome: z.string().describe('accepted, waiting, superseded, overdue, or why it failed'),
  latency_ms: z.number().nullable(),
});

const deployment = z.object({
  deployment_id: count,
  state: z
    .string()
    .describe(
      'starting, healthy, retrying, urgent, lapsed, throttled, unauthorized, suspect-gone, gone, released, stopped',
    ),
  ttl_seconds: seconds.nullable(),
  interval_seconds: seconds,
  heartbeats: count.describe('Attempts sent'),
  failures: byReason,
  last_success_at: time.nullable().describe('When the last accepted heartbeat was sent'),
  next_heartbeat_at: time.nullable(),
  expires_at: time.nullable().describe('Null without a TTL, and before the first accepted heartbeat'),
  min_margin_ratio: z
    .number()
    .nullable()
    .describe('Closest approach to expiry so far: remaining time over TTL'),
  lapses: count,
  last_error: z.string().nullable().describe('Why the last attempt that failed did, in words'),
  last_error_at: time.nullable(),
  beats: z.array(beat).describe('The last attempts, oldest first'),
});

const workerGroup = z.object({
  workergroup_id: count,
  lines: count,
  bytes: count,
  lines_per_second: z.number().min(0),
  gaps: byReason,
  lost_lines_estimate: count,
  unknown_gaps: count.describe('Gaps of unknown size, which the estimate does not include'),
  stale_answers: count.describe('Answers that were older views of the log, of which nothing was taken'),
  poll_interval_seconds: seconds,
  tail_size: count,
  tail_unit: z
    .enum(['lines', 'bytes'])
    .nullable()
    .describe('What the service counts; null until it is learned'),
  last_line_at: time.nullable(),
  last_error: z.string().nullable(),
  last_lines: z.array(z.string()),
});

const sink = z.object({
  sink: z.string(),
  delivered_lines: count,
  dropped_lines: byReason,
  lag_lines: count.describe('Records that wait for it'),
  last_error: z.string().nullable().describe('Why it took nothing the last time; null when it did'),
});

const finding = z.object({
  rule: z.string(),
  severity: z.enum(SEVERITIES),
  parameter: z.string(),
  got: z.unknown().optional(),
  allowed: z.string(),
  message: z.string(),
});

const endpointGroup = z.object({
  endpoint_group: z.string(),
  parameters: z.record(z.string(), z.unknown()),
  findings: z.array(finding),
});

/** Of its last sample. */
function measured(measure: Measure) {
  return z.number().nullable().describe(MEASURES[measure]);
}

const drift = z.object({
  parameter: z.string(),
  actual: z.union([z.number(), z.string()]).nullable().describe('As the service has it'),
  wanted: z.union([z.number(), z.string()]).describe('As PILOTLIGHT_ENDPOINT_GROUPS has it'),
});

const endpoint = z.object({
  endpoint_group: z
    .string()
    .describe('Its name; name#2 for the second that shares it; #ID where it has none'),
  endpoint_id: count,
  state: z.string().nullable().describe('active, suspended or stopped'),
  last_sample_at: time.nullable().describe('When the last look at its workers succeeded'),
  last_error: z.string().nullable().describe('Why the last look failed; null when it did not'),
  load: measured('load'),
  load_average: measured('load_average'),
  capacity_hot: measured('capacity_hot'),
  capacity_cold: measured('capacity_cold'),
  requests_working: measured('requests_working'),
  cost_per_hour: measured('cost_per_hour'),
  workers: z
    .record(z.string(), count)
    .nullable()
    .describe('Status to count, of its last sample; a status that nobody knows counts as unknown'),
  parameters: z.record(z.string(), z.number()).describe('As the service has them; empty until it was asked'),
  drift: z.array(drift),
  findings: z.array(finding).describe('Of the rules, on the parameters that the service has'),
  stuck_workers: count.describe('That have been loading far longer than their like'),
  failing_workers: count.describe('That err again and again'),
});

const fleet = z.object({
  configured: z.boolean().describe('Whether PILOTLIGHT_ENDPOINTS names any'),
  samples: z.boolean().describe('Whether this replica looks at the endpoints; another may'),
  sample_interval_seconds: seconds,
  budget_per_hour: z.number().nullable().describe('PILOTLIGHT_BUDGET_PER_HOUR, for all endpoints together'),
  history: z.enum(['disk', 'redis', 'memory']).describe('memory: gone at the end of the process'),
  history_trouble: z.string().nullable().describe('Why it takes nothing just now; null when it does'),
  endpoints: z.array(endpoint),
});

const maintenanceWindow = z.object({
  machine_id: count,
  category: z.string(),
  starts_at: time,
  /** Null where the service does not say how long it takes. */
  ends_at: time.nullable(),
});

const account = z.object({
  tfa_enabled: z.boolean(),
  tfa_status: z.string().nullable(),
  backup_codes_remaining: count.nullable(),
  locked_methods: count,
});

const job = z.object({
  job: z.string(),
  schedule: z.string(),
  runs: count,
  failures: count,
  missed: count.describe('Runs that made up for missed ones of the schedule'),
  last_success_at: time.nullable(),
  last_error: z.string().nullable(),
});

export const statusSchema = z.object({
  version: z.string(),
  revision: z.string(),
  node_version: z.string(),
  state: z.enum(LIFECYCLE_STATES),
  now: time,
  started_at: time,
  replica,
  heart,
  rate_limit: rateLimit,
  app: app.nullable().describe('The app that the deployments are kept alive for, if they hang on one'),
  config_problems: z.array(configProblem),
  service,
  deployments: z.array(deployment),
  worker_groups: z.array(workerGroup),
  log_lines_shown: z
    .boolean()
    .describe('Whether last_lines has lines: without METRICS_TOKEN or PUBLIC_STATUS it has none'),
  sinks: z.array(sink),
  spool_durable: z
    .boolean()
    .nullable()
    .describe('Whether log records survive this process; null where neither STATE_DIR nor REDIS_URL is set'),
  endpoint_groups: z.array(endpointGroup),
  fleet,
  instances: z
    .record(z.string(), count)
    .describe('Status to count; stopped: not running, as they are meant to'),
  maintenance_windows: z.array(maintenanceWindow),
  account: account.nullable(),
  jobs: z.array(job),
});

/**
 * The published JSON Schema: served at /api/status/schema, and in the tree as deploy/status.schema.json. Fields may be
 * added to it, so a reader must ignore those that it does not know.
 */
export function statusJsonSchema(): Record<string, unknown> {
  return {
    title: 'Status of a Pilotlight daemon',
    ...z.toJSONSchema(statusSchema, { io: 'input', target: 'draft-2020-12' }),
  };
}

type DeepReadonly<T> = T extends readonly (infer Item)[]
  ? readonly DeepReadonly<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: DeepReadonly<T[Key]> }
    : T;
type Of<Schema extends z.ZodType> = DeepReadonly<z.infer<Schema>>;

export type Status = Of<typeof statusSchema>;
export type AppStatus = Of<typeof app>;
export type DeploymentStatus = Of<typeof deployment>;
export type WorkerGroupStatus = Of<typeof workerGroup>;
export type SinkStatus = Of<typeof sink>;
export type FleetStatus = Of<typeof fleet>;
export type EndpointStatus = Of<typeof endpoint>;
export type MaintenanceWindowStatus = Of<typeof maintenanceWindow>;
export type JobStatus = Of<typeof job>;
