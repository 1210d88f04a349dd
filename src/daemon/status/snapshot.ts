import type { BuildInfo } from '../../build-info.ts';
import type { RequestQueue } from '../../client/request-queue.ts';
import { describeProblem, isError, type ConfigProblem } from '../../config/problem.ts';
import { withoutCredentials } from '../../config/addresses.ts';
import type { Report } from '../../heartbeat/process/link.ts';
import type { AppSnapshot } from '../../heartbeat/view/snapshot.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { ClockSkew } from '../services/client.ts';
import type { Heartbeats } from '../services/heartbeats.ts';
import type { CurrentSettings } from '../services/reloading.ts';
import type { ServiceTraits } from '../services/service-traits.ts';
import type { SharedWork } from '../services/shared-work.ts';
import { fleetStatus } from './fleet.ts';
import type { AppStatus, EndpointLogStatus, Status, WorkerGroupStatus } from './schema.ts';

interface StatusSources {
  readonly build: BuildInfo;
  readonly startedAt: number;
  readonly restarts: number;
  readonly current: CurrentSettings;
  readonly lifecycle: Pick<Lifecycle, 'state'>;
  readonly clockSkew: Pick<ClockSkew, 'seconds'>;
  readonly traits: Pick<ServiceTraits, 'findings'>;
  readonly heartbeats: Pick<Heartbeats, 'status' | 'report'>;
  readonly requests: Pick<RequestQueue, 'view'>;
  readonly work: Pick<SharedWork, 'status' | 'fleet'>;
}

export function statusSnapshot(sources: StatusSources): Status {
  const { build, startedAt, restarts, current, lifecycle, clockSkew, heartbeats } = sources;
  const { settings, problems } = current;
  const report = heartbeats.report();
  const work = sources.work.status();
  const limit = sources.requests.view();
  // Lines of workers are for those with a token, or for all if PUBLIC_STATUS says so.
  const shown = settings.publicStatus || settings.metricsToken !== undefined;
  return {
    version: build.version,
    revision: build.revision,
    node_version: process.versions.node,
    state: lifecycle.state,
    now: Date.now() / 1000,
    started_at: startedAt,
    ...work,
    heart: heartStatus(restarts, report),
    rate_limit: {
      allowed_requests_per_second: limit.allowedPerSecond ?? null,
      wanted_requests_per_second: limit.wantedPerSecond,
      stretch_ratio: limit.stretchRatio,
      waiting_requests: limit.waiting,
      paused_seconds: limit.closedMs / 1000,
    },
    app: appStatus(settings.appHealth, report?.app),
    config_problems: configProblems(problems),
    service: {
      traits: sources.traits.findings(),
      base_url: settings.baseUrl,
      serverless_url: settings.serverlessUrl ?? settings.baseUrl,
      clock_skew_seconds: clockSkew.seconds,
    },
    deployments: heartbeats.status(),
    missing_deployments: (report?.missing ?? []).map(({ name, reason = null }) => ({
      deployment: name,
      reason,
    })),
    worker_groups: shown ? work.worker_groups : work.worker_groups.map(withoutLines),
    endpoint_logs: shown ? work.endpoint_logs : work.endpoint_logs.map(withoutLines),
    log_lines_shown: shown,
    endpoint_groups: settings.endpointGroups.map(({ label, parameters, findings }) => ({
      endpoint_group: label,
      parameters: { ...parameters },
      findings,
    })),
    fleet: fleetStatus(sources.work.fleet.view(), settings),
  };
}

function withoutLines<Log extends WorkerGroupStatus | EndpointLogStatus>(log: Log): Log {
  return { ...log, last_lines: [] };
}

function heartStatus(restarts: number, report: Report | undefined): Status['heart'] {
  const { openConnections = 0, vitals, avoided = [] } = report ?? {};
  return {
    daemon_restarts: restarts,
    open_connections: openConnections,
    resident_memory_bytes: vitals?.residentBytes ?? null,
    cpu_seconds: vitals?.cpuSeconds ?? null,
    event_loop_lag_max_seconds: vitals ? vitals.lagMs / 1000 : null,
    avoided_addresses: avoided.map(({ origin, address, reason, since }) => {
      return { origin, address, reason, since: since / 1000 };
    }),
  };
}

/** Null without an app, and before the first report. */
export function appStatus(address: string | undefined, snapshot: AppSnapshot | undefined): AppStatus | null {
  if (address === undefined || snapshot === undefined) return null;
  return {
    address: withoutCredentials(address),
    state: snapshot.state,
    unhealthy_seconds: snapshot.unhealthyMs / 1000,
    grace_seconds: snapshot.graceMs / 1000,
    last_error: snapshot.why ?? null,
  };
}

/** A finding of a rule is shown with its group. */
function configProblems(problems: readonly ConfigProblem[]): Status['config_problems'] {
  return problems
    .filter((problem) => problem.failsCheck || (isError(problem) && problem.rule === undefined))
    .map((problem) => ({
      variable: problem.variable,
      severity: isError(problem) ? 'error' : 'warning',
      problem: describeProblem(problem),
    }));
}
