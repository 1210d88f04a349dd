/** The endpoints as the status has them, from the view that the fleet watch keeps. */
import type { Settings } from '../../config/options/options.ts';
import type { EndpointView, FleetView } from '../../fleet/view.ts';
import { autotuneStatus, unwatchedStatus, type OnUntold } from './autotune.ts';
import type { Advice } from '../../scaling/advice/advice.ts';
import { adviceStatus } from './advice.ts';
import type { EndpointStatus, FleetStatus } from './schema.ts';

export type FleetSettings = Pick<Settings, 'endpoints' | 'fleetInterval' | 'budgetPerHour'> &
  Partial<Pick<Settings, 'autotune' | 'autotuneBounds'>>;

/** In seconds and by the published names; what is not known is null. */
export function fleetStatus(
  view: FleetView,
  settings: FleetSettings,
  latest: (endpoint: string) => Advice | undefined = () => undefined,
  onUntold?: OnUntold,
): FleetStatus {
  const { endpoints, fleetInterval, budgetPerHour, autotune, autotuneBounds = {} } = settings;
  return {
    configured: endpoints.length > 0,
    samples: view.samples,
    sample_interval_seconds: fleetInterval / 1000,
    budget_per_hour: budgetPerHour ?? null,
    history: view.history,
    history_trouble: view.historyTrouble ?? null,
    history_aside: view.historyAside
      ? { file: view.historyAside.path, at: view.historyAside.atMs / 1000 }
      : null,
    autotune: {
      apply: autotune === 'apply',
      bounds: Object.keys(autotuneBounds),
      unwatched: (view.unwatched ?? []).map((one) => unwatchedStatus(one, onUntold)),
    },
    endpoints: view.endpoints.map((endpoint) =>
      endpointStatus(endpoint, latest(endpoint.endpoint), onUntold),
    ),
  };
}

const NOTHING_MEASURED = {
  load: null,
  load_average: null,
  capacity_hot: null,
  capacity_cold: null,
  requests_working: null,
  cost_per_hour: null,
} as const;

function endpointStatus(
  endpoint: EndpointView,
  advice: Advice | undefined,
  onUntold: OnUntold | undefined,
): EndpointStatus {
  const { sample, sampledAtMs, parametersSinceMs } = endpoint;
  return {
    endpoint_group: endpoint.endpoint,
    endpoint_id: endpoint.id,
    state: endpoint.state ?? null,
    last_sample_at: sampledAtMs === undefined ? null : sampledAtMs / 1000,
    last_error: endpoint.lastError ?? null,
    ...(sample?.measures ?? NOTHING_MEASURED),
    workers: sample?.workers ?? null,
    parameters: endpoint.parameters,
    parameters_since: parametersSinceMs === undefined ? null : parametersSinceMs / 1000,
    drift: endpoint.drift,
    findings: endpoint.findings,
    ...(endpoint.steering && { autotune: autotuneStatus(endpoint.steering, onUntold) }),
    stuck_workers: endpoint.stuckWorkers,
    failing_workers: endpoint.failingWorkers,
    advice: advice ? adviceStatus(advice) : null,
  };
}
