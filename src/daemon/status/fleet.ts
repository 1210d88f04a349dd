/** The endpoints as the status has them, from the view that the fleet watch keeps. */
import type { Settings } from '../../config/options.ts';
import type { EndpointView, FleetView } from '../../fleet/view.ts';
import type { EndpointStatus, FleetStatus } from './schema.ts';

export type FleetSettings = Pick<Settings, 'endpoints' | 'fleetInterval' | 'budgetPerHour'>;

/** In seconds and by the published names; what is not known is null. */
export function fleetStatus(view: FleetView, settings: FleetSettings): FleetStatus {
  const { endpoints, fleetInterval, budgetPerHour } = settings;
  return {
    configured: endpoints.length > 0,
    samples: view.samples,
    sample_interval_seconds: fleetInterval / 1000,
    budget_per_hour: budgetPerHour ?? null,
    history: view.history,
    history_trouble: view.historyTrouble ?? null,
    endpoints: view.endpoints.map((endpoint) => endpointStatus(endpoint)),
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

function endpointStatus(endpoint: EndpointView): EndpointStatus {
  const { sample, sampledAtMs } = endpoint;
  return {
    endpoint_group: endpoint.endpoint,
    endpoint_id: endpoint.id,
    state: endpoint.state ?? null,
    last_sample_at: sampledAtMs === undefined ? null : sampledAtMs / 1000,
    last_error: endpoint.lastError ?? null,
    ...(sample?.measures ?? NOTHING_MEASURED),
    workers: sample?.workers ?? null,
    parameters: endpoint.parameters,
    drift: endpoint.drift,
    findings: endpoint.findings,
    stuck_workers: endpoint.stuckWorkers,
    failing_workers: endpoint.failingWorkers,
  };
}
