/** The daemon's metrics, in one registry: what the status shows, and what only events can tell. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { OperationId } from '../../contract/operations.ts';
import type { Status } from '../status/schema.ts';
import { fleetEventMetrics, processMetrics, requestMetrics } from './events.ts';
import { FAMILIES, registerFamily } from './families.ts';

export type Metrics = ReturnType<typeof createMetrics>;

/** What else waits, such as the heart's question whether this process lives, waits for so long, or for one family, ms. */
const TURN_MS = 20;

/** `status` is asked once a scrape; `operations` are those that this daemon may call. */
export function createMetrics(status: () => Status, operations: readonly OperationId[]) {
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
    /** In the Prometheus text format, a text for each family. Who asks while one is written gets that one. */
    exposition(): Promise<readonly string[]> {
      underWay ??= write().finally(() => {
        moment = underWay = undefined;
      });
      return underWay;
    },
    contentType: registry.contentType,
    client: requestMetrics(registry, operations),
    ...processMetrics(registry),
    /** What happens to workers between two scrapes. */
    fleet: fleetEventMetrics(registry, shown),
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
