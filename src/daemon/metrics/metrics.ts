/** The daemon's metrics: what the status shows, and, on a registry of their own, what only events can tell. */

import type { ClientObserver } from '../../client/caller.ts';
import type { OperationId } from '../../contract/operations.ts';
import { LOG_LEVELS, type LogLevel } from '../../config/types/log-levels.ts';
import { Exposition } from './exposition.ts';
import { STATUS_FAMILIES } from './families.ts';
import { Counter, Gauge, Histogram, Registry } from './prom-client.ts';
import type { Scrape } from './scrape.ts';
import { expose, PREFIX } from './series.ts';

/** Seconds; a heartbeat answered after 10 s is the attempt timeout's own limit. */
const REQUEST_BUCKETS = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30];
const LAG_BUCKETS = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 5];

export interface Metrics {
  /** Prometheus text format. To be released when its bytes have been read. */
  exposition(): Promise<ReadableExposition>;
  readonly contentType: string;
  readonly client: ClientObserver;
  logMessages(level: LogLevel, count: number): void;
  reloaded(successful: boolean, atSeconds: number): void;
  /** Time between when a heartbeat was due and when it was sent, in ms. */
  schedulingLag(ms: number): void;
}

export interface ReadableExposition {
  readonly bytes: Uint8Array;
  /** The bytes will not be read any more: another exposition may use their memory. */
  readonly release: () => void;
}

/** `snapshot` is asked once a scrape; `operations` are those that this daemon may call. */
export function createMetrics(snapshot: () => Scrape, operations: readonly OperationId[]): Metrics {
  const registry = new Registry();

  function counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return new Counter({ name: PREFIX + name, help, labelNames: [...labelNames], registers: [registry] });
  }
  const requests = counter(
    'api_requests_total',
    'Requests to the service, by operation and HTTP status or error.',
    ['operation', 'code'],
  );
  const retries = counter('api_retries_total', 'Requests that were repeated after a failure.', ['operation']);
  const throttleWait = counter(
    'api_throttle_wait_seconds_total',
    'Time spent waiting because the service asked for it (429).',
    [],
  );
  const messages = counter('log_messages_total', "The daemon's own log messages, by level.", ['level']);
  const duration = new Histogram({
    name: `${PREFIX}api_request_duration_seconds`,
    help: 'Time of a request to the service, from name lookup to the last byte.',
    labelNames: ['operation'],
    buckets: REQUEST_BUCKETS,
    registers: [registry],
  });
  const lag = new Histogram({
    name: `${PREFIX}heartbeat_scheduling_lag_seconds`,
    help: 'How much later than due heartbeats were sent.',
    buckets: LAG_BUCKETS,
    registers: [registry],
  });
  const reloadSuccessful = new Gauge({
    name: `${PREFIX}config_last_reload_successful`,
    help: 'Whether the last load of the configuration succeeded.',
    registers: [registry],
  });
  const reloadTime = new Gauge({
    name: `${PREFIX}config_last_reload_success_timestamp_seconds`,
    help: 'When the configuration was last loaded with success.',
    registers: [registry],
  });
  let free: Buffer | undefined;
  for (const operation of operations) {
    requests.inc({ operation, code: '200' }, 0);
    retries.inc({ operation }, 0);
    duration.zero({ operation });
  }
  for (const level of LOG_LEVELS) messages.inc({ level }, 0);

  return {
    async exposition() {
      const [scrape, events] = [snapshot(), await registry.metrics()];
      const text = new Exposition(free);
      free = undefined;
      expose(STATUS_FAMILIES, scrape, text);
      text.add(events);
      return { bytes: text.bytes(), release: () => (free = text.memory) };
    },
    contentType: registry.contentType,
    client: {
      exchange({ operation, code, durationMs }) {
        requests.inc({ operation, code });
        duration.observe({ operation }, durationMs / 1000);
      },
      retry({ operation, waitMs, throttled }) {
        retries.inc({ operation });
        if (throttled) throttleWait.inc(waitMs / 1000);
      },
    },
    logMessages: (level, count) => messages.inc({ level }, count),
    reloaded(successful, atSeconds) {
      reloadSuccessful.set(Number(successful));
      if (successful) reloadTime.set(atSeconds);
    },
    schedulingLag: (ms) => lag.observe(ms / 1000),
  };
}
