/** The status of a daemon in words, for `status` and `fleet`. Troubles have the sentences of the page. */
import type {
  DeploymentStatus,
  EndpointStatus,
  Status,
  WorkerGroupStatus,
} from '../../daemon/status/schema.ts';
import { spendPerHour, summaryOf } from '../../daemon/status/page/status-summary.js';
import {
  counted,
  deploymentName,
  logName,
  lostLines,
  plural,
  seconds,
  short,
} from '../../daemon/status/page/status-words.js';
import { money, percent } from '../text.ts';
import { isoTime } from '../../contract/schemas.ts';

/** Says whether all is well, lists the troubles, and then has a line for each deployment, log and endpoint. */
export function describeStatus(status: Status): string[] {
  const { now, fleet } = status;
  const { sentence, troubles } = summaryOf(status, now);
  return [
    `pilotlight ${status.version}, ${status.state}, up ${seconds(now - status.started_at)}, ${status.service.base_url}`,
    sentence,
    ...troubles.map((trouble) => `- ${trouble}`),
    ...(status.app ? [`app ${status.app.address}: ${status.app.state}`] : []),
    ...(status.replica.last_error ? [`replicas: ${status.replica.last_error}`] : []),
    ...status.deployments.map((deployment) => describeDeployment(deployment, now)),
    ...[...status.worker_groups, ...status.endpoint_logs].map(
      (log) => `log of ${logName(log).replace(/^./, (first) => first.toLowerCase())}: ${describeLog(log)}`,
    ),
    ...status.sinks.map(
      (sink) => `log sink ${sink.sink}: ${sink.delivered_lines} delivered, ${sink.lag_lines} waiting`,
    ),
    ...fleet.endpoints.map(
      (endpoint) => `endpoint ${endpoint.endpoint_group}: ${endpointInWords(endpoint, now)}`,
    ),
    ...status.maintenance_windows.map(
      (window) =>
        `machine ${window.machine_id}: ${window.category} maintenance at ${isoTime(window.starts_at)}`,
    ),
  ];
}

function describeDeployment(deployment: DeploymentStatus, now: number): string {
  const { state, expires_at: at, heartbeats, lapses } = deployment;
  const left = at === null ? 'TTL unknown' : `${(at - now).toFixed(0)} s left`;
  return `deployment ${deploymentName(deployment)}: ${state}, ${left}, ${plural(heartbeats, 'heartbeat')}, ${plural(lapses, 'lapse')}`;
}

function describeLog(log: Omit<WorkerGroupStatus, 'workergroup_id'>): string {
  const gaps = counted(log.gaps);
  const lost = gaps === '' ? 'no gaps' : `gaps: ${gaps}, ${lostLines(log)}`;
  return `${log.lines} lines, ${log.lines_per_second.toFixed(1)} lines/s, ${lost}`;
}

export function endpointInWords(endpoint: EndpointStatus, now: number): string {
  const { last_sample_at: at, state, requests_working: requests, workers } = endpoint;
  const spend = spendPerHour(endpoint);
  return [
    state ?? 'state not known',
    loadInWords(endpoint),
    ...(requests === null ? [] : [`${plural(requests, 'request')} at work`]),
    workers === null ? 'workers not known' : counted(workers) || 'no workers',
    spend === null ? 'price not known' : `${money(spend)} an hour`,
    at === null ? 'never seen' : `seen ${seconds(Math.max(0, now - at))} ago`,
    ...(endpoint.load_meaning === 'unknown' && at !== null
      ? [`the meaning of its load is not known: ${endpoint.load_because}`]
      : []),
  ].join(', ');
}

function loadInWords({ load, load_in_flight: inFlight, capacity_hot: ready }: EndpointStatus): string {
  if (inFlight !== null)
    return `${short(inFlight)} units in flight, ${ready ? `${seconds(inFlight / ready)} of work` : 'none ready'}`;
  if (load === null) return 'load not known';
  return `load ${short(load)} of ${short(ready)} ready${ready ? ` (${percent(load / ready)})` : ''}`;
}
