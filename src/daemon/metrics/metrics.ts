import { setImmediate as nextTurn } from 'node:timers/promises';
import { collectDefaultMetrics, Gauge, Registry } from 'prom-client';
import type { OperationId } from '../../contract/operations.ts';
import type { Status } from '../status/schema.ts';
import { fleetEventMetrics, processMetrics, requestMetrics } from './events.ts';
import { FAMILIES, registerFamily } from './families.ts';

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
