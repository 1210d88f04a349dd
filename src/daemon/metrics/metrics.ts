import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import type { ClientObserver } from '../../client/caller.ts';
import { LOG_LEVELS, type LogLevel } from '../../config/value-types.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { FleetEvent } from '../../fleet/workers/lives.ts';
import type { Status } from '../status/schema.ts';
import { FAMILIES, PREFIX, registerFamily } from './families.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** Others, such as the heart's liveness question, wait this long at most. */
const TURN_MS = 20;

/** Asks for `status` once a scrape. */
export function createMetrics(status: () => Status, operations: readonly OperationId[]) {
  const registry = new Registry();
  let moment: Status | undefined;
  const shown = (): Status => moment ?? status();
  for (const family of FAMILIES) registerFamily(registry, family, shown);
  registerProcess(registry);
  let underWay: Promise<readonly string[]> | undefined;

  /** One family at a time: 10,000 deployments have 350,000 series. */
  async function write(): Promise<readonly string[]> {
    moment = status();
    const texts: string[] = [];
    let turnFrom = performance.now();
    for (const { name } of registry.getMetricsAsArray()) {
      texts.push(`${await registry.getSingleMetricAsString(name)}\n`);
      if (performance.now() - turnFrom < TURN_MS) continue;
      await nextTurn();
      turnFrom = performance.now();
    }
    return texts;
  }

  return {
    /** A text for each family. Concurrent scrapes share one. */
    exposition(): Promise<readonly string[]> {
      underWay ??= write().finally(() => {
        moment = underWay = undefined;
      });
      return underWay;
    },
    contentType: registry.contentType,
    client: requestMetrics(registry, operations),
    ...processMetrics(registry),
    fleet: fleetEventMetrics(registry, shown),
  };
}

/** A part of each delay shown; 10 ms would take 0.3% of a core. */
const EVENT_LOOP_STEP_MS = 100;

/** `promtool check metrics` refuses gauges whose name ends in total. */
function registerProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_STEP_MS });
  for (const { name } of registry.getMetricsAsArray())
    if (name.endsWith('_total') && registry.getSingleMetric(name) instanceof Gauge)
      registry.removeSingleMetric(name);
}

/** Seconds. The attempt timeout is 10 s. */
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
/** Seconds. A new worker that loads a large model may take an hour. */
const START_BUCKETS = [5, 10, 20, 30, 60, 90, 120, 180, 300, 600, 1200, 1800, 3600];
const STARTED_FROM = ['new', 'cold'] as const;
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

function metricsOf(registry: Registry) {
  const common = (name: string, help: string, labelNames: string[]) => ({
    name: PREFIX + name,
    help,
    labelNames,
    registers: [registry],
  });
  return {
    counter: (name: string, help: string, labels: string[] = []) => new Counter(common(name, help, labels)),
    gauge: (name: string, help: string) => new Gauge(common(name, help, [])),
    histogram: (name: string, help: string, buckets: number[], labels: string[] = []) =>
      new Histogram({ ...common(name, help, labels), buckets }),
  };
}

/** The series of these operations exist from the start. */
function requestMetrics(registry: Registry, operations: readonly OperationId[]): ClientObserver {
  const { counter, histogram } = metricsOf(registry);
  const requests = counter(
    'api_requests_total',
    'Requests to the service, by operation and HTTP status or error.',
    ['operation', 'code'],
  );
  const retries = counter('api_retries_total', 'Requests that were repeated after a failure.', ['operation']);
  const throttleWait = counter(
    'api_throttle_wait_seconds_total',
    'Time spent waiting because the service asked for it (429).',
  );
  const duration = histogram(
    'api_request_duration_seconds',
    'Time of a request to the service, from name lookup to the last byte.',
    REQUEST_BUCKETS,
    ['operation'],
  );
  for (const operation of operations) {
    requests.inc({ operation, code: '200' }, 0);
    retries.inc({ operation }, 0);
    duration.zero({ operation });
  }
  return {
    exchange({ operation, code, durationMs }) {
      requests.inc({ operation, code });
      duration.observe({ operation }, durationMs / 1000);
    },
    retry({ operation, waitMs, throttled }) {
      retries.inc({ operation });
      if (throttled) throttleWait.inc(waitMs / 1000);
    },
  };
}

function processMetrics(registry: Registry) {
  const { counter, gauge, histogram } = metricsOf(registry);
  const lag = histogram(
    'heartbeat_scheduling_lag_seconds',
    'How much later than due heartbeats were sent.',
    LAG_BUCKETS,
  );
  const messages = counter('log_messages_total', "The daemon's own log messages, by level.", ['level']);
  for (const level of LOG_LEVELS) messages.inc({ level }, 0);
  const success = gauge(
    'config_last_reload_successful',
    'Whether the last load of the configuration succeeded.',
  );
  const time = gauge(
    'config_last_reload_success_timestamp_seconds',
    'When the configuration was last loaded with success.',
  );
  return {
    schedulingLag: (ms: number): void => lag.observe(ms / 1000),
    logMessages: (level: LogLevel, count: number): void => messages.inc({ level }, count),
    reloaded(successful: boolean, atSeconds: number): void {
      success.set(Number(successful));
      if (successful) time.set(atSeconds);
    },
  };
}

/** The series of an endpoint begin and end with it in the status. */
function fleetEventMetrics(registry: Registry, status: () => Status): (event: FleetEvent) => void {
  const { counter } = metricsOf(registry);
  const starts = new Histogram({
    name: `${PREFIX}endpoint_worker_start_seconds`,
    help: 'Time until a worker was ready; from new: since it was first seen, from cold: since it was started.',
    labelNames: ['endpoint_group', 'from'],
    buckets: START_BUCKETS,
    registers: [registry],
    collect: follow,
  });
  const labels = ['endpoint_group'];
  const errors = counter('endpoint_worker_errors_total', 'Workers that went into an error.', labels);
  const churned = counter(
    'endpoint_churned_workers_total',
    'Workers that were replaced before they were ever ready.',
    labels,
  );
  const churnedSpend = counter(
    'endpoint_churned_spend_total',
    'Dollars that workers cost which were replaced before they were ever ready, as far as their prices are known.',
    labels,
  );
  const counts = [errors, churned, churnedSpend];
  const known = new Set<string>();

  function begin(endpoint_group: string): void {
    if (known.has(endpoint_group)) return;
    known.add(endpoint_group);
    for (const count of counts) count.inc({ endpoint_group }, 0);
    for (const from of STARTED_FROM) starts.zero({ endpoint_group, from });
  }

  function end(endpoint_group: string): void {
    known.delete(endpoint_group);
    for (const count of counts) count.remove({ endpoint_group });
    for (const from of STARTED_FROM) starts.remove({ endpoint_group, from });
  }

  function follow(): void {
    const seen = new Set(status().fleet.endpoints.map(({ endpoint_group }) => endpoint_group));
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
      case 'worker churned':
        churned.inc({ endpoint_group });
        return churnedSpend.inc({ endpoint_group }, event.dollars ?? 0);
    }
  };
}
