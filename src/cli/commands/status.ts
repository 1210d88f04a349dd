import { Command } from 'commander';
import { localToken } from '../../config/command-settings.ts';
import type {
  AppStatus,
  DeploymentStatus,
  Status,
  EndpointLogStatus,
  WorkerGroupStatus,
} from '../../daemon/status/schema.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { daemonAddress, daemonUrlOption } from '../flag-types.ts';
import { endpointInWords, fleetNotes } from '../fleet/words.ts';
import { examples } from '../text/examples.ts';
import { legibleLine } from '../text/legible.ts';

export function statusCommand(console: Console): Command {
  return new Command('status')
    .description('Show the status of a running daemon')
    .addOption(daemonUrlOption())
    .option('--json', 'print the whole status as JSON')
    .addHelpText('after', examples('status', 'status --url http://10.0.0.7:9847 --json'))
    .action(async (options: { url?: string; json?: boolean }) => {
      const { environment } = console;
      const daemon = {
        url: daemonAddress(console, options),
        token: localToken(environment),
      };
      const { fetchJson, fetchStatus } = await import('../fleet/daemon.ts');
      const { statusSchema } = await import('../../daemon/status/schema.ts');
      const { signal } = new AbortController();
      if (options.json) return printJson(console, await fetchJson(daemon, '/api/status', signal));
      for (const line of describeStatus(await fetchStatus(daemon, statusSchema, signal)))
        printLine(console, legibleLine(line));
    });
}

/** For a person, a line for each thing. */
export function describeStatus(status: Status): string[] {
  const remaining = (expiresAt: number | null) =>
    expiresAt === null ? 'TTL unknown' : `${(expiresAt - status.now).toFixed(0)} s left`;
  return [
    `pilotlight ${status.version}, ${status.state}, up ${(status.now - status.started_at).toFixed(0)} s, ${status.service.base_url}`,
    ...status.config_problems.map(({ problem }) => `configuration ${problem}`),
    ...(status.app ? [describeApp(status.app)] : []),
    ...(status.replica.last_error ? [`replicas: ${status.replica.last_error}`] : []),
    ...status.deployments.map(
      (deployment) =>
        `deployment ${named(deployment)}: ${deployment.state}, ${remaining(deployment.expires_at)}, ` +
        `${deployment.heartbeats} heartbeats, ${deployment.lapses} lapses` +
        (deployment.last_error ? `, last failure: ${deployment.last_error}` : ''),
    ),
    ...status.worker_groups.map((log) => `worker group ${log.workergroup_id}: ${describeLog(log)}`),
    ...status.endpoint_logs.map((log) => `log of endpoint ${log.endpoint_group}: ${describeLog(log)}`),
    ...status.sinks.map(
      (sink) =>
        `log sink ${sink.sink}: ${sink.delivered_lines} delivered, ${sink.lag_lines} waiting` +
        (sum(sink.dropped_lines) > 0 ? `, ${counted(sink.dropped_lines)} dropped` : '') +
        (sink.last_error ? `, last failure: ${sink.last_error}` : ''),
    ),
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

/** `42`, `square (42)` */
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
  const failure = log.last_error ? `, last failure: ${log.last_error}` : '';
  return `${log.lines} lines, ${log.lines_per_second.toFixed(1)} lines/s${describeGaps(log)}${failure}`;
}

function describeGaps({ gaps, lost_lines_estimate: lost, unknown_gaps: unknown }: LogStatus): string {
  if (sum(gaps) === 0) return ', no gaps';
  const isKnown = lost > 0 || unknown === 0;
  const more = unknown > 0 && `${unknown} of unknown size`;
  return [`, gaps: ${counted(gaps)}`, more, isKnown && `about ${lost} lines lost`].filter(Boolean).join(', ');
}

/** `2 overrun, 1 reset` */
function counted(byReason: Readonly<Record<string, number>>): string {
  return Object.entries(byReason)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => `${count} ${reason}`)
    .join(', ');
}

function sum(byReason: Readonly<Record<string, number>>): number {
  return Object.values(byReason).reduce((total, count) => total + count, 0);
}
