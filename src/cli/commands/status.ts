import { Command } from 'commander';
import type {
  AppStatus,
  DeploymentStatus,
  Status,
  EndpointLogStatus,
  WorkerGroupStatus,
} from '../../daemon/status/schema.ts';
import { printJson, printLine, type Console } from '../console.ts';
import { daemonOf, daemonUrlOption, type DaemonFlags } from '../flag-types.ts';
import { countsInWords, endpointInWords, fleetNotes } from '../fleet/words.ts';
import { examples } from '../text/examples.ts';
import { counted } from '../text/numbers.ts';
import { legibleLine } from '../text/legible.ts';

export function statusCommand(console: Console): Command {
  return new Command('status')
    .description('Show the status of a running daemon')
    .addOption(daemonUrlOption())
    .option('--json', 'print the whole status as JSON')
    .addHelpText('after', examples('status', 'status --url http://10.0.0.7:9847 --json'))
    .action(async (options: DaemonFlags & { json?: boolean }) => {
      const daemon = daemonOf(console, options);
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
    ...status.deployments.map((deployment) =>
      told(
        `deployment ${named(deployment)}: ${deployment.state}`,
        remaining(deployment.expires_at),
        counted(deployment.heartbeats, 'heartbeat'),
        counted(deployment.lapses, 'lapse'),
        failureOf(deployment),
      ),
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
