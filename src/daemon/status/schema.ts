import * as z from 'zod';
import { deployment } from './deployment.ts';
import { publishedSchema, time, type DeepReadonly } from './fact.ts';
import { fleet } from './fleet.ts';
import { endpointLog, sink, spoolDurable, workerGroup } from './logs.ts';
import { app, configProblem, heart, rateLimit, replica, service, state } from './process.ts';
import { account, endpointGroup, instances, job, maintenanceWindow } from './watches.ts';

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
export type FleetStatus = Status['fleet'];
export type EndpointStatus = FleetStatus['endpoints'][number];
export type JobStatus = Status['jobs'][number];
