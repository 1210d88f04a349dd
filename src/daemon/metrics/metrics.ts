/** The daemon's metrics, on a registry of their own: what the status shows, and what only events can tell. */
import { Registry } from 'prom-client';
import type { ClientObserver } from '../../client/caller.ts';
import type { LogLevel } from '../../config/types/value-types.ts';
import type { OperationId } from '../../contract/operations.ts';
import type { FleetEvent } from '../../fleet/view.ts';
import type { Status } from '../status/schema.ts';
import { deploymentMetrics } from './families/deployments.ts';
import { logMessageMetric, reloadMetrics, requestMetrics, schedulingLagMetric } from './families/events.ts';
import { fleetEventMetrics, fleetFamilies } from './families/fleet.ts';
import { logFamilies } from './families/logs.ts';
import { processFamilies } from './families/process.ts';
import { watchFamilies } from './families/watches.ts';
import { familyText, type Family } from './family.ts';

/** In the Prometheus text format. */
export interface Exposition {
  /** Of the deployments, and most of it: numbers, and words of ours. */
  readonly deployments: readonly Buffer[];
  /** What has names in it that others chose, or the service. */
  readonly others: string;
}

export interface Metrics {
  exposition(): Promise<Exposition>;
  readonly contentType: string;
  readonly client: ClientObserver;
  readonly logMessages: (level: LogLevel, count: number) => void;
  readonly reloaded: (successful: boolean, atSeconds: number) => void;
  /** What happens to workers between two scrapes. */
  readonly fleet: (event: FleetEvent) => void;
  /** Time between when a heartbeat was due and when it was sent, in ms. */
  readonly schedulingLag: (ms: number) => void;
}

/** What the status shows. */
const FAMILIES: readonly Family[] = [...processFamilies, ...logFamilies, ...watchFamilies, ...fleetFamilies];

/** `status` is asked once a scrape; `operations` are those that this daemon may call. */
export function createMetrics(status: () => Status, operations: readonly OperationId[]): Metrics {
  const registry = new Registry();
  let scraped: Status | undefined;
  const shown = (): Status => (scraped ??= status());

  return {
    async exposition() {
      const moment = status();
      scraped = moment;
      // Who asks for the status has done so before metrics() returns its promise.
      const events = registry.metrics();
      scraped = undefined;
      const [deployments, families] = [
        deploymentMetrics(moment),
        FAMILIES.map((one) => familyText(one, moment)),
      ];
      return { deployments, others: families.join('') + (await events) };
    },
    contentType: registry.contentType,
    client: requestMetrics(registry, operations),
    logMessages: logMessageMetric(registry),
    reloaded: reloadMetrics(registry),
    fleet: fleetEventMetrics(registry, shown),
    schedulingLag: schedulingLagMetric(registry),
  };
}
