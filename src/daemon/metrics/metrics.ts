/** The daemon's metrics, in one registry: what the status shows, and what only events can tell. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { ClientObserver } from '../../client/caller.ts';
import type { LogLevel } from '../../config/types/value-types.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { FleetEvent } from '../../fleet/view.ts';
import type { Status } from '../status/schema.ts';
import {
  fleetEventMetrics,
  logMessageMetric,
  reloadMetrics,
  requestMetrics,
  schedulingLagMetric,
} from './events.ts';
import { FAMILIES, registerFamily } from './families.ts';

export interface Metrics {
  /** In the Prometheus text format, a text for each family. Who asks while one is written gets that one. */
  exposition(): Promise<readonly string[]>;
  readonly contentType: string;
  readonly client: ClientObserver;
  readonly logMessages: (level: LogLevel, count: number) => void;
  readonly reloaded: (successful: boolean, atSeconds: number) => void;
  /** What happens to workers between two scrapes. */
  readonly fleet: (event: FleetEvent) => void;
  /** Time between when a heartbeat was due and when it was sent, in ms. */
  readonly schedulingLag: (ms: number) => void;
}

/** What else waits, such as the heart's question whether this process lives, waits for so long, or for one family, ms. */
const TURN_MS = 20;

/** `status` is asked once a scrape; `operations` are those that this daemon may call. */
export function createMetrics(status: () => Status, operations: readonly OperationId[]): Metrics {
  const registry = new Registry();
  let moment: Status | undefined;
  const shown = (): Status => moment ?? status();
  for (const family of FAMILIES) registerFamily(registry, family, shown);
  registerProcess(registry);
  let underWay: Promise<readonly string[]> | undefined;

  /** One family after the other: 10,000 deployments have 350,000 series. */
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
    exposition() {
      underWay ??= write().finally(() => {
        moment = underWay = undefined;
      });
      return underWay;
    },
    contentType: registry.contentType,
    client: requestMetrics(registry, operations),
    logMessages: logMessageMetric(registry),
    reloaded: reloadMetrics(registry),
    fleet: fleetEventMetrics(registry, shown),
    schedulingLag: schedulingLagMetric(registry),
  };
}

/** The event loop is looked at so often, ms, which is a part of each delay shown: 10 ms would take 0.3% of a core. */
const EVENT_LOOP_STEP_MS = 100;

/** This process under its usual names, less the gauges that are called totals: `promtool check metrics` refuses them. */
function registerProcess(registry: Registry): void {
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: EVENT_LOOP_STEP_MS });
  for (const { name } of registry.getMetricsAsArray())
    if (name.endsWith('_total') && registry.getSingleMetric(name) instanceof Gauge)
      registry.removeSingleMetric(name);
}
