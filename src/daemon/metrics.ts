import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Counter, Gauge, Histogram, Registry } from 'prom-client';
import * as z from 'zod';
import type { ClientObserver } from '../client/caller.ts';
import { LOG_LEVELS, type LogLevel } from '../config/value-types.ts';
import type { OperationId } from '../contract/operations.ts';
import type { FleetEvent } from '../fleet/workers/lives.ts';
import { LABELS, METRICS, type Metric, type Shown } from './status/fact.ts';
import { statusSchema, type Status } from './status/schema.ts';

const PREFIX = 'pilotlight_';

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

/** A part of each delay shown. Each look wakes the process. */
const EVENT_LOOP_STEP_MS = 500;

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

/* The families of the status, found by walking through its schema. */

type Labels = Record<string, string | number>;
type Fields = Readonly<Record<string, string | number | null>>;

/** prom-client formats a labels object once, so all families of a thing share it. */
interface Sample {
  readonly value: number;
  readonly labels: Labels;
  readonly sharedLabels: Labels;
}

interface Family extends Pick<Metric, 'name' | 'help'> {
  readonly labels: readonly string[];
  /** Empty if the value is not known. */
  readonly read: (status: Status) => readonly Sample[];
}

interface Found {
  readonly fact: unknown;
  readonly thing: unknown;
  readonly labels: Labels;
}

interface Place {
  readonly labels: readonly string[];
  readonly find: (status: Status) => readonly Found[];
}

const BUILD_LABELS = ['version', 'revision', 'node_version'] as const;

const FAMILIES: readonly Family[] = merged([
  {
    name: 'build_info',
    help: 'Version, revision and Node version of this build; always 1.',
    labels: BUILD_LABELS,
    read: (status) => [{ value: 1, labels: labelsOf(status, BUILD_LABELS), sharedLabels: {} }],
  },
  ...familiesIn(statusSchema, {
    labels: [],
    find: (status) => [{ fact: status, thing: status, labels: {} }],
  }),
]);

/** Several kinds of things may have the same fact: one family has all their series. */
function merged(families: readonly Family[]): Family[] {
  const byName = new Map<string, Family>();
  for (const family of families) {
    const { labels = [], read } = byName.get(family.name) ?? {};
    byName.set(family.name, {
      ...family,
      labels: [...new Set([...labels, ...family.labels])],
      read: (status) => [...(read?.(status) ?? []), ...family.read(status)],
    });
  }
  return [...byName.values()];
}

function familiesIn(type: z.ZodType, place: Place): Family[] {
  if (type instanceof z.ZodNullable && !METRICS.has(type))
    return familiesIn(type.unwrap() as z.ZodType, place);
  const { labels: own = [] } = LABELS.get(type) ?? {};
  const here = own.length === 0 ? place : labelled(place, own);
  const shown = METRICS.get(type);
  const families = shown ? [familyOf(shown, here)] : [];
  const into = (part: z.ZodType, step: (fact: unknown) => readonly unknown[]) =>
    familiesIn(part, within(here, step));
  if (type instanceof z.ZodArray)
    return [...families, ...into(type.element as z.ZodType, (list) => list as unknown[])];
  if (!(type instanceof z.ZodObject)) return families;
  const fields = Object.entries(type.shape).map(([name, field]) =>
    into(field, (object) => [(object as Record<string, unknown>)[name]]),
  );
  return families.concat(...fields);
}

function within(place: Place, step: (fact: unknown) => readonly unknown[]): Place {
  const into = ({ fact: thing, labels }: Found): Found[] =>
    thing === null ? [] : step(thing).map((fact) => ({ fact, thing, labels }));
  return { ...place, find: (status) => place.find(status).flatMap(into) };
}

/** Finds the things once for all families. Of two with the same labels the later one counts. */
function labelled(place: Place, own: readonly string[]): Place {
  const known = new WeakMap<Status, readonly Found[]>();
  const find = (status: Status): readonly Found[] => {
    const found = new Map<string, Found>();
    for (const { fact, thing, labels } of place.find(status)) {
      const all = Object.assign(labelsOf(fact, own), labels);
      found.set(JSON.stringify(all), { fact, thing, labels: all });
    }
    return [...found.values()];
  };
  return {
    labels: [...place.labels, ...own],
    find(status) {
      const found = known.get(status) ?? find(status);
      known.set(status, found);
      return found;
    },
  };
}

/** Prometheus reads an absent label as an empty one. */
function labelsOf(thing: unknown, names: readonly string[]): Labels {
  const labels: Labels = {};
  for (const name of names) {
    const value = (thing as Fields)[name] ?? null;
    if (value !== null) labels[name] = value;
  }
  return labels;
}

function familyOf({ name, help, label, value }: Metric, { labels, find }: Place): Family {
  return {
    name,
    help,
    labels: label === undefined ? labels : [...labels, label],
    read: (status) =>
      find(status).flatMap(({ fact, thing, labels: own }) =>
        samplesOf(value(fact, thing, status), own, label ?? ''),
      ),
  };
}

function samplesOf(shown: Shown, sharedLabels: Labels, label: string): Sample[] {
  if (shown === null) return [];
  if (typeof shown !== 'object') return [{ value: Number(shown), labels: {}, sharedLabels }];
  return Object.entries(shown).flatMap(([key, value]) =>
    value === null ? [] : [{ value, labels: { [label]: key }, sharedLabels }],
  );
}

/** Read at each scrape: prom-client keeps no sample, so nothing stale is shown. */
function registerFamily(registry: Registry, family: Family, shown: () => Status): void {
  const { help, labels, read } = family;
  const name = `${PREFIX}${family.name}`;
  const config = { name, help, labelNames: labels, registers: [registry] };
  const kept = name.endsWith('_total') ? new Counter(config) : new Gauge(config);
  const empty = kept.get.bind(kept);
  kept.get = async () => Object.assign(await empty(), { values: read(shown()) });
}
