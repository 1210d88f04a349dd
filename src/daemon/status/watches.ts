import * as z from 'zod';
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { SEVERITIES } from '../../scaling/rules/rules.ts';
import { count, LABELS, metric, time } from './fact.ts';

export const finding = z.object({
  rule: z.string(),
  severity: z.enum(SEVERITIES),
  parameter: z.string(),
  got: z.unknown().optional(),
  allowed: z.string(),
  message: z.string(),
});

export function bySeverity(findings: readonly z.infer<typeof finding>[]): Record<string, number> {
  return Object.fromEntries(
    SEVERITIES.map((severity) => [severity, findings.filter((one) => one.severity === severity).length]),
  );
}

export const endpointGroup = z.object({
  endpoint_group: z.string(),
  parameters: metric(
    z.record(z.string(), z.unknown()),
    'endpoint_group_parameter',
    'Parameters of the configured endpoint groups, defaults filled in; the metric has the numeric ones.',
    { label: 'parameter', value: numericParameters },
  ),
  findings: metric(
    z.array(finding),
    'endpoint_group_violations',
    'Rules that the parameters of an endpoint group break, by severity.',
    { label: 'severity', value: bySeverity },
  ),
});
LABELS.add(endpointGroup, { labels: ['endpoint_group'] });

function numericParameters(parameters: Readonly<Record<string, unknown>>): Record<string, number> {
  return Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => {
      const value = parameters[name];
      return typeof value === 'number' ? [[name, value]] : [];
    }),
  );
}

export const instances = metric(
  z.record(z.string(), count),
  'instances',
  'Instances of the account by status; stopped: not running, as they are meant to.',
  { label: 'status' },
);

export const maintenanceWindow = z.object({
  machine_id: count,
  category: z.string(),
  starts_at: metric(
    time,
    'maintenance_window_start_timestamp_seconds',
    'When a maintenance window of a machine begins.',
  ),
  ends_at: metric(
    time.nullable(),
    'maintenance_window_end_timestamp_seconds',
    'When a maintenance window of a machine ends; absent if the service does not say.',
  ),
});
LABELS.add(maintenanceWindow, { labels: ['machine_id', 'category'] });

export const account = z.object({
  tfa_enabled: metric(
    z.boolean(),
    'tfa_enabled',
    'Whether two-factor authentication is on; absent until the account was looked at.',
  ),
  tfa_status: z.string().nullable(),
  backup_codes_remaining: metric(
    count.nullable(),
    'tfa_backup_codes_remaining',
    'Backup codes that have not been used; absent until the account was looked at.',
  ),
  locked_methods: metric(
    count,
    'tfa_locked_methods',
    'Second factors that are locked after failures; absent until the account was looked at.',
  ),
});

export const job = z.object({
  job: z.string(),
  schedule: z.string(),
  runs: metric(count, 'job_runs_total', 'Runs of a scheduled job.'),
  failures: metric(count, 'job_failures_total', 'Runs of a scheduled job that failed.'),
  missed: metric(
    count,
    'job_missed_runs_total',
    'Runs of a job that made up for missed ones of its schedule: this process was late, the machine slept or the clock was set.',
  ),
  last_success_at: metric(
    time.nullable(),
    'job_last_success_timestamp_seconds',
    'When a scheduled job last succeeded; 0 in the metric before the first time.',
    { value: (at) => at ?? 0 },
  ),
  last_error: z.string().nullable(),
});
LABELS.add(job, { labels: ['job'] });
