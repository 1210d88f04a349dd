/** Metrics of what is checked and watched: endpoint groups, instances, maintenance, account, jobs. */
import { ENDPOINT_GROUP_PARAMETERS } from '../../../contract/operations/serverless/endpoint-groups.ts';
import { SEVERITIES } from '../../../scaling/rules/findings.ts';
import type { JobStatus, MaintenanceWindowStatus } from '../../status/schema.ts';
import { one, type Family, type Sample } from '../family.ts';

function perJob(value: (job: JobStatus) => number): Family['read'] {
  return ({ jobs }) => jobs.map((job) => ({ labels: { job: job.job }, value: value(job) }));
}

function perWindow(value: (window: MaintenanceWindowStatus) => number | null): Family['read'] {
  return ({ maintenance_windows }) =>
    maintenance_windows.map((window) => ({
      labels: { machine_id: window.machine_id, category: window.category },
      value: value(window),
    }));
}

export const watchFamilies: readonly Family[] = [
  {
    name: 'endpoint_group_parameter',
    type: 'gauge',
    help: 'Numeric parameters of the configured endpoint groups, defaults filled in.',
    read: ({ endpoint_groups }) =>
      endpoint_groups.flatMap(({ endpoint_group, parameters }) =>
        ENDPOINT_GROUP_PARAMETERS.flatMap((parameter): Sample[] => {
          const value = parameters[parameter];
          return typeof value === 'number' ? [{ labels: { endpoint_group, parameter }, value }] : [];
        }),
      ),
  },
  {
    name: 'endpoint_group_violations',
    type: 'gauge',
    help: 'Rules that the parameters of an endpoint group break, by severity.',
    read: ({ endpoint_groups }) =>
      endpoint_groups.flatMap(({ endpoint_group, findings }) =>
        SEVERITIES.map((severity) => ({
          labels: { endpoint_group, severity },
          value: findings.filter((finding) => finding.severity === severity).length,
        })),
      ),
  },
  {
    name: 'instances',
    type: 'gauge',
    help: 'Instances of the account by status; stopped: not running, as they are meant to.',
    read: ({ instances }) =>
      Object.entries(instances).map(([status, count]) => ({ labels: { status }, value: count })),
  },
  {
    name: 'maintenance_window_start_timestamp_seconds',
    type: 'gauge',
    help: 'When a maintenance window of a machine begins.',
    read: perWindow(({ starts_at }) => starts_at),
  },
  {
    name: 'maintenance_window_end_timestamp_seconds',
    type: 'gauge',
    help: 'When a maintenance window of a machine ends.',
    read: perWindow(({ ends_at }) => ends_at),
  },
  {
    name: 'tfa_enabled',
    type: 'gauge',
    help: 'Whether two-factor authentication is on; absent until the account was looked at.',
    read: one(({ account }) => account && Number(account.tfa_enabled)),
  },
  {
    name: 'tfa_backup_codes_remaining',
    type: 'gauge',
    help: 'Backup codes that have not been used; absent until the account was looked at.',
    read: one(({ account }) => account && account.backup_codes_remaining),
  },
  {
    name: 'tfa_locked_methods',
    type: 'gauge',
    help: 'Second factors that are locked after failures; absent until the account was looked at.',
    read: one(({ account }) => account && account.locked_methods),
  },
  {
    name: 'job_runs_total',
    type: 'counter',
    help: 'Runs of a scheduled job.',
    read: perJob(({ runs }) => runs),
  },
  {
    name: 'job_failures_total',
    type: 'counter',
    help: 'Runs of a scheduled job that failed.',
    read: perJob(({ failures }) => failures),
  },
  {
    name: 'job_missed_runs_total',
    type: 'counter',
    help: 'Runs of a job that made up for missed ones of its schedule: this process was late, the machine slept or the clock was set.',
    read: perJob(({ missed }) => missed),
  },
  {
    name: 'job_last_success_timestamp_seconds',
    type: 'gauge',
    help: 'When a scheduled job last succeeded; 0 before the first time.',
    read: perJob(({ last_success_at }) => last_success_at ?? 0),
  },
];
