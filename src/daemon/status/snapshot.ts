/** The status at a moment, put together from what each part of the daemon tells. */
import type { BuildInfo } from '../../build-info.ts';
import type { RequestQueue } from '../../client/request-queue.ts';
import type { Lifecycle } from '../process/lifecycle.ts';
import type { SharedWork } from '../services/shared-work.ts';
import type { Heartbeats } from '../services/heartbeats.ts';
import type { InForce } from '../services/reloading.ts';
import type { ServiceClock } from '../services/client.ts';
import type { ServiceTraits } from '../services/service-traits.ts';
import { fleetStatus } from './fleet.ts';
import { appStatus, configProblems, heartStatus, rateLimitStatus } from './process.ts';
import type { EndpointLogStatus, Status, WorkerGroupStatus } from './schema.ts';

export interface StatusSources {
  readonly build: BuildInfo;
  /** Unix seconds. */
  readonly startedAt: number;
  /** How many daemons of this heart there were before. */
  readonly restarts: number;
  readonly inForce: InForce;
  readonly lifecycle: Pick<Lifecycle, 'state'>;
  readonly clock: Pick<ServiceClock, 'skewSeconds'>;
  readonly traits: Pick<ServiceTraits, 'findings'>;
  readonly heartbeats: Pick<Heartbeats, 'status' | 'report'>;
  readonly requests: Pick<RequestQueue, 'view'>;
  readonly work: Pick<SharedWork, 'status' | 'fleet'>;
}

export function statusSnapshot(sources: StatusSources): Status {
  const { build, startedAt, restarts, inForce, lifecycle, clock, heartbeats } = sources;
  const { settings, problems } = inForce;
  const report = heartbeats.report();
  const work = sources.work.status();
  // What workers print is for those who are known, or for all if somebody has said so.
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
      clock_skew_seconds: clock.skewSeconds,
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
