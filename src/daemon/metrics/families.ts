/** The metrics that show the status: name, help, labels, and where in the status each comes from. */
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/endpoint-groups.ts';
import { HEARTBEAT_STATES } from '../../heartbeat/machine.ts';
import { SEVERITIES } from '../../scaling/findings.ts';
import type {
  DeploymentStatus,
  JobStatus,
  MaintenanceWindowStatus,
  SinkStatus,
  Status,
  WorkerGroupStatus,
} from '../status.ts';
import type { Family, Labels, Sample } from './series.ts';

type Read = Family<Status>['read'];

function perDeployment(value: (deployment: DeploymentStatus) => number | null): Read {
  return ({ deployments }) =>
    deployments.map((deployment) => [deploymentLabels(deployment), value(deployment)]);
}

function deploymentLabels({ deployment_id }: DeploymentStatus): Labels {
  return { deployment_id: String(deployment_id) };
}

function perGroup(value: (group: WorkerGroupStatus) => number | null): Read {
  return ({ worker_groups }) => worker_groups.map((group) => [groupLabels(group), value(group)]);
}

function groupLabels({ workergroup_id }: WorkerGroupStatus): Labels {
  return { workergroup_id: String(workergroup_id) };
}

function perSink(value: (sink: SinkStatus) => number): Read {
  return ({ sinks }) => sinks.map((sink) => [{ sink: sink.sink }, value(sink)]);
}

function perJob(value: (job: JobStatus) => number | null): Read {
  return ({ jobs }) => jobs.map((job) => [{ job: job.job }, value(job)]);
}

function perWindow(value: (window: MaintenanceWindowStatus) => number): Read {
  return ({ maintenance_windows }) =>
    maintenance_windows.map((window) => [
      { machine_id: String(window.machine_id), category: window.category },
      value(window),
    ]);
}

/** One sample for each key of a record, the key as one more label. */
function spread(labels: Labels, name: string, counts: Readonly<Record<string, number>>): Sample[] {
  return Object.entries(counts).map(([key, count]) => [{ ...labels, [name]: key }, count]);
}

function one(value: (status: Status) => number | null): Read {
  return (status) => [[{}, value(status)]];
}

const DEPLOYMENT = ['deployment_id'];
const GROUP = ['workergroup_id'];

const processFamilies: readonly Family<Status>[] = [
  {
    name: 'build_info',
    type: 'gauge',
    help: 'Version, revision and Node version of this build; always 1.',
    labels: ['version', 'revision', 'node_version'],
    read: ({ version, revision, node_version }) => [[{ version, revision, node_version }, 1]],
  },
  {
    name: 'up',
    type: 'gauge',
    help: '1 while the daemon runs, 0 while it drains.',
    labels: [],
    read: one(({ state }) => (state === 'running' ? 1 : 0)),
  },
  {
    name: 'api_clock_skew_seconds',
    type: 'gauge',
    help: "The service's clock minus this machine's, from the Date header of its last answer.",
    labels: [],
    read: one(({ service }) => service.clock_skew_seconds),
  },
];

const deploymentFamilies: readonly Family<Status>[] = [
  {
    name: 'deployment_ttl_seconds',
    type: 'gauge',
    help: 'TTL of the deployment; absent where it is not known.',
    labels: DEPLOYMENT,
    read: perDeployment(({ ttl_seconds }) => ttl_seconds),
  },
  {
    name: 'deployment_heartbeat_interval_seconds',
    type: 'gauge',
    help: 'Time between heartbeats while all is well.',
    labels: DEPLOYMENT,
    read: perDeployment(({ interval_seconds }) => interval_seconds),
  },
  {
    name: 'deployment_heartbeats_total',
    type: 'counter',
    help: 'Heartbeats sent, whatever came of them.',
    labels: DEPLOYMENT,
    read: perDeployment(({ heartbeats }) => heartbeats),
  },
  {
    name: 'deployment_heartbeat_failures_total',
    type: 'counter',
    help: 'Heartbeats that were not accepted, by reason.',
    labels: [...DEPLOYMENT, 'reason'],
    read: ({ deployments }) =>
      deployments.flatMap((deployment) =>
        spread(deploymentLabels(deployment), 'reason', deployment.failures),
      ),
  },
  {
    name: 'deployment_last_heartbeat_success_timestamp_seconds',
    type: 'gauge',
    help: 'When the last accepted heartbeat was sent; 0 before the first.',
    labels: DEPLOYMENT,
    read: perDeployment(({ last_success_at }) => last_success_at ?? 0),
  },
  {
    name: 'deployment_next_heartbeat_timestamp_seconds',
    type: 'gauge',
    help: 'When the next heartbeat is due; absent once there will be none.',
    labels: DEPLOYMENT,
    read: perDeployment(({ next_heartbeat_at }) => next_heartbeat_at),
  },
  {
    name: 'deployment_expiry_timestamp_seconds',
    type: 'gauge',
    help: 'When the deployment expires unless a heartbeat is accepted before; absent without a TTL.',
    labels: DEPLOYMENT,
    read: perDeployment(({ expires_at }) => expires_at),
  },
  {
    name: 'deployment_state',
    type: 'gauge',
    help: 'State of the heartbeat: 1 for the current one, 0 for the others.',
    labels: [...DEPLOYMENT, 'state'],
    read: ({ deployments }) =>
      deployments.flatMap((deployment) =>
        HEARTBEAT_STATES.map((state): Sample => [
          { ...deploymentLabels(deployment), state },
          deployment.state === state ? 1 : 0,
        ]),
      ),
  },
  {
    name: 'deployment_min_margin_ratio',
    type: 'gauge',
    help: 'Closest approach to expiry so far: remaining time over TTL, 1 before the first heartbeat was due.',
    labels: DEPLOYMENT,
    read: perDeployment(({ min_margin_ratio }) => min_margin_ratio),
  },
  {
    name: 'deployment_lapses_total',
    type: 'counter',
    help: 'How often the TTL passed without an accepted heartbeat.',
    labels: DEPLOYMENT,
    read: perDeployment(({ lapses }) => lapses),
  },
];

const logFamilies: readonly Family<Status>[] = [
  {
    name: 'workergroup_log_lines_total',
    type: 'counter',
    help: 'Log lines taken, each once.',
    labels: GROUP,
    read: perGroup(({ lines }) => lines),
  },
  {
    name: 'workergroup_log_bytes_total',
    type: 'counter',
    help: 'Bytes of the log lines taken.',
    labels: GROUP,
    read: perGroup(({ bytes }) => bytes),
  },
  {
    name: 'workergroup_log_gaps_total',
    type: 'counter',
    help: 'Gaps in the log, by reason.',
    labels: [...GROUP, 'reason'],
    read: ({ worker_groups }) =>
      worker_groups.flatMap((group) => spread(groupLabels(group), 'reason', group.gaps)),
  },
  {
    name: 'workergroup_log_lost_lines_estimate_total',
    type: 'counter',
    help: 'Lines that the service lost before they could be read, estimated.',
    labels: GROUP,
    read: perGroup(({ lost_lines_estimate }) => lost_lines_estimate),
  },
  {
    name: 'workergroup_log_poll_interval_seconds',
    type: 'gauge',
    help: 'Time between two polls of the log.',
    labels: GROUP,
    read: perGroup(({ poll_interval_seconds }) => poll_interval_seconds),
  },
  {
    name: 'workergroup_log_tail_size',
    type: 'gauge',
    help: 'Log units asked for at a poll.',
    labels: GROUP,
    read: perGroup(({ tail_size }) => tail_size),
  },
  {
    name: 'workergroup_log_last_line_timestamp_seconds',
    type: 'gauge',
    help: 'When the last line was taken; 0 before the first.',
    labels: GROUP,
    read: perGroup(({ last_line_at }) => last_line_at ?? 0),
  },
  {
    name: 'log_sink_delivered_lines_total',
    type: 'counter',
    help: 'Log records that the sink has accepted.',
    labels: ['sink'],
    read: perSink(({ delivered_lines }) => delivered_lines),
  },
  {
    name: 'log_sink_dropped_lines_total',
    type: 'counter',
    help: 'Log records that the sink will never get, by reason.',
    labels: ['sink', 'reason'],
    read: ({ sinks }) =>
      sinks.flatMap(({ sink, dropped_lines }) => spread({ sink }, 'reason', dropped_lines)),
  },
  {
    name: 'log_sink_lag_lines',
    type: 'gauge',
    help: 'Log records that wait for the sink.',
    labels: ['sink'],
    read: perSink(({ lag_lines }) => lag_lines),
  },
];

const watchFamilies: readonly Family<Status>[] = [
  {
    name: 'endpoint_group_parameter',
    type: 'gauge',
    help: 'Numeric parameters of the configured endpoint groups, defaults filled in.',
    labels: ['endpoint_group', 'parameter'],
    read: ({ endpoint_groups }) =>
      endpoint_groups.flatMap(({ endpoint_group, parameters }) =>
        ENDPOINT_GROUP_PARAMETERS.flatMap((parameter): Sample[] => {
          const value = parameters[parameter];
          return typeof value === 'number' ? [[{ endpoint_group, parameter }, value]] : [];
        }),
      ),
  },
  {
    name: 'endpoint_group_violations',
    type: 'gauge',
    help: 'Rules that the parameters of an endpoint group break, by severity.',
    labels: ['endpoint_group', 'severity'],
    read: ({ endpoint_groups }) =>
      endpoint_groups.flatMap(({ endpoint_group, findings }) =>
        SEVERITIES.map((severity): Sample => [
          { endpoint_group, severity },
          findings.filter((finding) => finding.severity === severity).length,
        ]),
      ),
  },
  {
    name: 'instances',
    type: 'gauge',
    help: 'Instances of the account by status.',
    labels: ['status'],
    read: ({ instances }) => spread({}, 'status', instances),
  },
  {
    name: 'maintenance_window_start_timestamp_seconds',
    type: 'gauge',
    help: 'When a maintenance window of a machine begins.',
    labels: ['machine_id', 'category'],
    read: perWindow(({ starts_at }) => starts_at),
  },
  {
    name: 'maintenance_window_end_timestamp_seconds',
    type: 'gauge',
    help: 'When a maintenance window of a machine ends.',
    labels: ['machine_id', 'category'],
    read: perWindow(({ ends_at }) => ends_at),
  },
  {
    name: 'tfa_enabled',
    type: 'gauge',
    help: 'Whether two-factor authentication is on; absent until the account was looked at.',
    labels: [],
    read: one(({ account }) => account && Number(account.tfa_enabled)),
  },
  {
    name: 'tfa_backup_codes_remaining',
    type: 'gauge',
    help: 'Backup codes that have not been used; absent until the account was looked at.',
    labels: [],
    read: one(({ account }) => account && account.backup_codes_remaining),
  },
  {
    name: 'tfa_locked_methods',
    type: 'gauge',
    help: 'Second factors that are locked after failures; absent until the account was looked at.',
    labels: [],
    read: one(({ account }) => account && account.locked_methods),
  },
  {
    name: 'job_runs_total',
    type: 'counter',
    help: 'Runs of a scheduled job.',
    labels: ['job'],
    read: perJob(({ runs }) => runs),
  },
  {
    name: 'job_failures_total',
    type: 'counter',
    help: 'Runs of a scheduled job that failed.',
    labels: ['job'],
    read: perJob(({ failures }) => failures),
  },
  {
    name: 'job_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When a scheduled job last succeeded; 0 before the first time.',
    labels: ['job'],
    read: perJob(({ last_success_at }) => last_success_at ?? 0),
  },
];

export const STATUS_FAMILIES: readonly Family<Status>[] = [
  ...processFamilies,
  ...deploymentFamilies,
  ...logFamilies,
  ...watchFamilies,
];
