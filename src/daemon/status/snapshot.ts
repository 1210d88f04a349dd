import type { BuildInfo } from '../../build-info.ts';
import type { RequestQueue } from '../../client/request-queue.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { SharedWork } from '../services/shared-work.ts';
import type { Heartbeats } from '../services/heartbeats.ts';
import type { CurrentSettings } from '../services/reloading.ts';
import type { ClockSkew } from '../services/client.ts';
import type { ServiceTraits } from '../services/service-traits.ts';
import { fleetStatus } from './fleet.ts';
import { appStatus, configProblems, heartStatus, rateLimitStatus } from './process.ts';
import type { EndpointLogStatus, Status, WorkerGroupStatus } from './schema.ts';

export interface StatusSources {
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
    rate_limit: rateLimitStatus(sources.requests.view()),
    app: appStatus(settings.appHealth, report?.app),
    config_problems: configProblems(problems),
    service: {
      traits: sources.traits.findings(),
      base_url: settings.baseUrl,
      serverless_url: settings.serverlessUrl ?? settings.baseUrl,
      clock_skew_seconds: clockSkew.seconds,
    },
    deployments: heartbeats.status(),
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
