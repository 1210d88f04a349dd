/** The status of a daemon in words: for `status`, `fleet` without a terminal, and notes below its table. Pure. */
import type {
  AppStatus,
  DeploymentStatus,
  EndpointLogStatus,
  EndpointStatus,
  FleetStatus,
  Status,
  WorkerGroupStatus,
} from '../../daemon/status/schema.ts';
import { STALE_AFTER_INTERVALS } from '../../daemon/status/fleet.ts';
import { counted, money, number, percent } from '../text.ts';

export function describeStatus(status: Status): string[] {
  const remaining = (expiresAt: number | null) =>
    expiresAt === null ? 'TTL unknown' : `${(expiresAt - status.now).toFixed(0)} s left`;
  return [
    `pilotlight ${status.version}, ${status.state}, up ${(status.now - status.started_at).toFixed(0)} s, ${status.service.base_url}`,
    ...status.config_problems.map(({ problem }) => `configuration ${problem}`),
    ...(status.app ? [describeApp(status.app)] : []),
    ...(status.replica.last_error ? [`replicas: ${status.replica.last_error}`] : []),
    ...status.deployments.map((deployment) =>
      told(
        `deployment ${named(deployment)}: ${deployment.state}`,
        remaining(deployment.expires_at),
        counted(deployment.heartbeats, 'heartbeat'),
        counted(deployment.lapses, 'lapse'),
        failureOf(deployment),
      ),
    ),
    ...status.missing_deployments.map(
      ({ deployment, reason }) =>
        `deployment ${deployment}: missing, gets no heartbeat: ${reason ?? 'the service was not asked yet'}`,
    ),
    ...status.worker_groups.map((log) => `worker group ${log.workergroup_id}: ${describeLog(log)}`),
    ...status.endpoint_logs.map((log) => `log of endpoint ${log.endpoint_group}: ${describeLog(log)}`),
    ...status.sinks.map((sink) => {
      const dropped = countsInWords(sink.dropped_lines);
      const delivered = `log sink ${sink.sink}: ${sink.delivered_lines} delivered`;
      return told(delivered, `${sink.lag_lines} waiting`, dropped && `${dropped} dropped`, failureOf(sink));
    }),
    ...(status.spool_durable === false
      ? ['log records are in memory alone: PILOTLIGHT_STATE_DIR cannot be used, and is tried again']
      : []),
    ...status.fleet.endpoints.map(
      (endpoint) =>
        `endpoint ${endpoint.endpoint_group}: ${endpointInWords(endpoint, status.fleet, status.now)}`,
    ),
    ...fleetNotes(status.fleet).map((note) => `endpoints: ${note}`),
    ...status.maintenance_windows.map(
      (window) =>
        `machine ${window.machine_id}: ${window.category} maintenance at ${new Date(window.starts_at * 1000).toISOString()}`,
    ),
  ];
}

function named({ deployment, deployment_id: id }: DeploymentStatus): string {
  return deployment === null ? String(id) : `${deployment} (${id})`;
}

function describeApp({ address, state, ...app }: AppStatus): string {
  const [unhealthy, grace] = [app.unhealthy_seconds.toFixed(0), app.grace_seconds.toFixed(0)];
  const words = {
    unknown: 'not answered yet',
    healthy: 'healthy',
    unhealthy: `unhealthy for ${unhealthy} of ${grace} s, then heartbeats are withheld: ${app.last_error}`,
    withheld: `unhealthy for ${unhealthy} s, and heartbeats are withheld: ${app.last_error}`,
  };
  return `app ${address}: ${words[state]}`;
}

type LogStatus = WorkerGroupStatus | EndpointLogStatus;

function describeLog(log: LogStatus): string {
  const { lines, lines_per_second: speed, lost_lines_estimate: lost, unknown_gaps: unknown } = log;
  const gaps = countsInWords(log.gaps);
  return told(
    `${lines} lines`,
    `${speed.toFixed(1)} lines/s`,
    gaps === '' ? 'no gaps' : `gaps: ${gaps}`,
    gaps !== '' && unknown > 0 && `${unknown} of unknown size`,
    gaps !== '' && (lost > 0 || unknown === 0) && `about ${lost} lines lost`,
    failureOf(log),
  );
}

function failureOf({ last_error: error }: Pick<LogStatus, 'last_error'>): string {
  return error ? `last failure: ${error}` : '';
}

function told(...parts: readonly (string | false)[]): string {
  return parts.filter(Boolean).join(', ');
}

export function endpointInWords(endpoint: EndpointStatus, fleet: FleetStatus, now: number): string {
  const { last_sample_at: at, state, requests_working: requests, capacity_cold: cold, workers } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    state ?? 'state not known',
    loadInWords(endpoint),
    ...(requests === null ? [] : [`${counted(requests, 'request')} at work`]),
    ...(cold === null ? [] : [`${number(cold)} cold`]),
    workers === null ? 'workers not known' : countsInWords(workers) || 'no workers',
    spend === null ? 'price not known' : `${money(spend)} an hour`,
    at === null ? 'never seen' : `seen ${age(now - at)} ago`,
    ...notesOf(endpoint, fleet, now),
  ].join(', ');
}

function loadInWords({ load, load_in_flight: inFlight, capacity_hot: ready }: EndpointStatus): string {
  if (inFlight === null)
    return `load ${numberOr(load)} of ${numberOr(ready)} ready${load !== null && ready ? ` (${percent(load / ready)})` : ''}`;
  return `${number(inFlight)} units in flight${ready ? `, ${workInWords(inFlight, ready)}` : ', none ready'}`;
}

export function workInWords(inFlight: number, ready: number): string {
  return `${number(inFlight / ready)} s of work`;
}

/** The service's own figure, else the estimate. */
export function spendPerHour(endpoint: EndpointStatus): number | null {
  return endpoint.spend_told_per_hour ?? endpoint.spend_per_hour;
}

export function numberOr(value: number | null): string {
  return value === null ? '?' : number(value);
}

export function countsInWords(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([kind, count]) => `${count} ${kind}`)
    .join(', ');
}

export function age(seconds: number): string {
  const whole = Math.max(0, Math.round(seconds));
  if (whole < 120) return `${whole} s`;
  if (whole < 7200) return `${Math.round(whole / 60)} min`;
  return whole < 172_800 ? `${Math.round(whole / 3600)} h` : `${Math.round(whole / 86_400)} days`;
}

export function notesOf(endpoint: EndpointStatus, fleet: FleetStatus, now: number): string[] {
  const { last_sample_at: at, last_error: error, failing_workers: failing, stuck_workers: stuck } = endpoint;
  const isOld = at !== null && now - at > STALE_AFTER_INTERVALS * fleet.sample_interval_seconds;
  const loud = endpoint.findings.filter(({ severity }) => severity !== 'note');
  return [
    ...(error === null ? [] : [`last failure: ${error}`]),
    ...(endpoint.load_meaning === 'unknown' && at !== null
      ? [`the meaning of its load is not known: ${endpoint.load_because}`]
      : []),
    ...(error === null && isOld ? [`what is shown is ${age(now - at)} old`] : []),
    ...Object.values(endpoint.troubles).flatMap((trouble) => trouble?.says ?? []),
    ...(failing > 0 ? [`${counted(failing, 'worker')} failing again and again`] : []),
    ...(stuck > 0 ? [`loading far longer than the others: ${counted(stuck, 'worker')}`] : []),
    ...endpoint.drift.map(
      ({ parameter, actual, wanted }) => `${parameter} is ${actual ?? 'not set'}, configured ${wanted}`,
    ),
    ...loud.map(({ severity, parameter, message }) => `${severity}: ${parameter}: ${message}`),
  ];
}

export function noEndpoints({ fleet, replica: { role } }: Pick<Status, 'fleet' | 'replica'>): string {
  if (role === 'standby') return 'another replica watches the endpoints: ask that one';
  if (fleet.samples) return 'no endpoint of PILOTLIGHT_ENDPOINTS is found';
  return fleet.configured
    ? 'the daemon is just starting, and has not looked at its endpoints yet: ask again soon'
    : 'the daemon watches no endpoint (PILOTLIGHT_ENDPOINTS)';
}

export function fleetNotes({ endpoints, budget_per_hour: budget, ...fleet }: FleetStatus): string[] {
  if (endpoints.length === 0) return [];
  const spend = endpoints.reduce((sum, endpoint) => sum + (spendPerHour(endpoint) ?? 0), 0);
  return [
    ...(budget !== null && spend > budget
      ? [`together ${money(spend)} an hour, above PILOTLIGHT_BUDGET_PER_HOUR (${money(budget)})`]
      : []),
    ...(fleet.history_trouble === null ? [] : [`nothing is being recorded: ${fleet.history_trouble}`]),
  ];
}
