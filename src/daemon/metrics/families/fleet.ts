/** Metrics of the endpoints: what the last look brought, and what happened to workers in between. */
import { Counter, Histogram, type Registry } from 'prom-client';
import { WORKER_STATUSES } from '../../../contract/operations/serverless/workers.ts';
import type { FleetEvent } from '../../../fleet/view.ts';
import { SEVERITIES } from '../../../scaling/rules/findings.ts';
import type { EndpointStatus, Status } from '../../status/schema.ts';
import { one, PREFIX, type Family, type Labels, type Sample } from '../family.ts';

const ENDPOINT_LABELS = ['endpoint_group'];
const STATUSES = [...WORKER_STATUSES, 'unknown'];
/** Seconds: a stopped worker takes some, a new one that loads a large model up to an hour. */
const START_BUCKETS = [5, 10, 20, 30, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600];
const STARTED_FROM = ['new', 'cold'] as const;
/** A sample that is older than this many intervals tells nothing of now: its series end, rather than go on as they were. */
const STALE_AFTER_INTERVALS = 4;

/** Those of this replica; what it saw before another took over is out of date. */
function endpointsOf({ fleet }: Status): readonly EndpointStatus[] {
  return fleet.samples ? fleet.endpoints : [];
}

function perEndpoint(samples: (endpoint: EndpointStatus) => readonly Sample[]): Family['read'] {
  return (status) =>
    endpointsOf(status).flatMap((endpoint) =>
      samples(endpoint).map(({ labels, value }) => ({
        labels: { endpoint_group: endpoint.endpoint_group, ...labels },
        value,
      })),
    );
}

/** Of the last sample, while that is fresh. */
function perSample(samples: (endpoint: EndpointStatus) => readonly Sample[]): Family['read'] {
  const all = perEndpoint(samples);
  return (status) => {
    const oldest = status.now - STALE_AFTER_INTERVALS * status.fleet.sample_interval_seconds;
    const isFresh = ({ last_sample_at: at }: EndpointStatus): boolean => at !== null && at >= oldest;
    return all({ ...status, fleet: { ...status.fleet, endpoints: status.fleet.endpoints.filter(isFresh) } });
  };
}

function single(value: number | null, labels: Labels = {}): Sample[] {
  return [{ labels, value }];
}

export const fleetFamilies: readonly Family[] = [
  {
    name: 'endpoint_workers',
    type: 'gauge',
    help: 'Workers of the endpoint by status; a status that nobody knows counts as unknown.',
    read: perSample(({ workers }) =>
      workers === null ? [] : STATUSES.map((status) => ({ labels: { status }, value: workers[status] ?? 0 })),
    ),
  },
  {
    name: 'endpoint_load',
    type: 'gauge',
    help: "Work asked of the endpoint's workers, units a second.",
    read: perSample(({ load }) => single(load)),
  },
  {
    name: 'endpoint_capacity',
    type: 'gauge',
    help: "What the endpoint's workers can do, units a second; hot: ready ones, cold: stopped ones.",
    read: perSample(({ capacity_hot: hot, capacity_cold: cold }) => [
      ...single(hot, { state: 'hot' }),
      ...single(cold, { state: 'cold' }),
    ]),
  },
  {
    name: 'endpoint_requests_working',
    type: 'gauge',
    help: "Requests in the endpoint's workers.",
    read: perSample(({ requests_working }) => single(requests_working)),
  },
  {
    name: 'endpoint_cost_per_hour',
    type: 'gauge',
    help: "What the endpoint's workers cost an hour, by the price of their instances and their status.",
    read: perSample(({ cost_per_hour }) => single(cost_per_hour)),
  },
  {
    name: 'endpoint_stuck_workers',
    type: 'gauge',
    help: 'Workers that have been loading far longer than their like.',
    read: perSample(({ stuck_workers }) => single(stuck_workers)),
  },
  {
    name: 'endpoint_failing_workers',
    type: 'gauge',
    help: 'Workers that err again and again.',
    read: perSample(({ failing_workers }) => single(failing_workers)),
  },
  {
    name: 'endpoint_last_sample_timestamp_seconds',
    type: 'gauge',
    help: "When the last look at the endpoint's workers succeeded; 0 before the first.",
    read: perEndpoint(({ last_sample_at }) => single(last_sample_at ?? 0)),
  },
  {
    name: 'endpoint_parameter',
    type: 'gauge',
    help: 'Numeric parameters of the endpoint as the service has them now, defaults filled in.',
    read: perEndpoint(({ parameters }) =>
      Object.entries(parameters).map(([parameter, value]) => ({ labels: { parameter }, value })),
    ),
  },
  {
    name: 'endpoint_parameter_drift',
    type: 'gauge',
    help: '1 for each parameter that is not what PILOTLIGHT_ENDPOINT_GROUPS says.',
    read: perEndpoint(({ drift }) => drift.flatMap(({ parameter }) => single(1, { parameter }))),
  },
  {
    name: 'endpoint_violations',
    type: 'gauge',
    help: 'Rules that the parameters break which the service has, by severity; absent until it was asked.',
    read: perEndpoint(({ parameters, findings }) =>
      Object.keys(parameters).length === 0
        ? []
        : SEVERITIES.map((severity) => ({
            labels: { severity },
            value: findings.filter((finding) => finding.severity === severity).length,
          })),
    ),
  },
  {
    name: 'fleet_sample_interval_seconds',
    type: 'gauge',
    help: 'Time between two looks at the workers of the endpoints.',
    read: one(({ fleet }) => fleet.sample_interval_seconds),
  },
  {
    name: 'fleet_samples',
    type: 'gauge',
    help: '1 where this replica looks at the endpoints, 0 where another has to; absent without PILOTLIGHT_ENDPOINTS.',
    read: one(({ fleet }) => (fleet.configured ? Number(fleet.samples) : null)),
  },
  {
    name: 'fleet_history_stored',
    type: 'gauge',
    help: '1 while the history of endpoints takes what this replica sees, 0 while it does not; absent where it does not look.',
    read: one(({ fleet }) =>
      fleet.configured && fleet.samples ? Number(fleet.history_trouble === null) : null,
    ),
  },
  {
    name: 'fleet_budget_per_hour',
    type: 'gauge',
    help: 'What all endpoints together may cost an hour; absent without PILOTLIGHT_BUDGET_PER_HOUR.',
    read: one(({ fleet }) => fleet.budget_per_hour),
  },
];

/** Takes what happens to workers. The series of an endpoint begin and end with it in the status. */
export function fleetEventMetrics(registry: Registry, status: () => Status): (event: FleetEvent) => void {
  const registers = [registry];
  const starts = new Histogram({
    name: `${PREFIX}endpoint_worker_start_seconds`,
    help: 'Time until a worker was ready; from new: since it was first seen, from cold: since it was started.',
    labelNames: [...ENDPOINT_LABELS, 'from'],
    buckets: START_BUCKETS,
    registers,
    collect: follow,
  });
  const errors = new Counter({
    name: `${PREFIX}endpoint_worker_errors_total`,
    help: 'Workers that went into an error.',
    labelNames: ENDPOINT_LABELS,
    registers,
  });
  const known = new Set<string>();

  function begin(endpoint_group: string): void {
    if (known.has(endpoint_group)) return;
    known.add(endpoint_group);
    errors.inc({ endpoint_group }, 0);
    for (const from of STARTED_FROM) starts.zero({ endpoint_group, from });
  }

  function end(endpoint_group: string): void {
    known.delete(endpoint_group);
    errors.remove({ endpoint_group });
    for (const from of STARTED_FROM) starts.remove({ endpoint_group, from });
  }

  /** At each scrape, before the first of the two is written. */
  function follow(): void {
    const seen = new Set(endpointsOf(status()).map(({ endpoint_group }) => endpoint_group));
    for (const endpoint of seen) begin(endpoint);
    for (const endpoint of known) if (!seen.has(endpoint)) end(endpoint);
  }

  return (event) => {
    const { endpoint: endpoint_group } = event;
    begin(endpoint_group);
    switch (event.kind) {
      case 'worker started':
        return starts.observe({ endpoint_group, from: event.from }, event.seconds);
      case 'worker failed':
        return errors.inc({ endpoint_group });
    }
  };
}
