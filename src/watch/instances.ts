/** How many instances are in which status (§3). */
import { listInstances, type InstancesClient } from '../client/flows/instances.ts';
import {
  FINAL_INSTANCE_STATUSES,
  INSTANCE_STATUSES,
  type Instance,
} from '../contract/operations/instances/instance-list.ts';

/** Of an instance, an hour; undefined where the service does not say. */
export interface InstancePrice {
  /** While it runs, storage included. */
  readonly running: number | undefined;
  readonly storage: number | undefined;
}

export interface InstancesWatch {
  run(signal: AbortSignal): Promise<void>;
  /** By instance id, as of the last successful run. */
  prices(): ReadonlyMap<number, InstancePrice>;
  /**
   * Status → count: `stopped` and every status that the interface names, at zero too, and any other that was seen. Empty
   * before the first successful run: nothing is known then.
   */
  view(): ReadonlyMap<string, number>;
}

/** Instances that are meant to be stopped, and are: they can be started again, and nothing is wrong with them. */
const STOPPED = 'stopped';

/** Called for instances that have reached a status from which they never run. */
export type OnUnhealthy = (instance: { id: number; status: string }) => void;

export function createInstancesWatch(
  client: InstancesClient,
  onUnhealthy: OnUnhealthy = () => {},
): InstancesWatch {
  let counts: ReadonlyMap<string, number> = new Map();
  let unhealthy: ReadonlySet<number> = new Set();
  let prices: ReadonlyMap<number, InstancePrice> = new Map();
  return {
    async run(signal) {
      const turn = { everyMs: 60_000, need: 'watch' } as const;
      const instances = await listInstances(client, { signal, turn });
      const statuses = instances.map((instance) => ({ id: instance.id, status: statusOf(instance) }));
      counts = countStatuses(statuses.map(({ status }) => status));
      const failed = statuses.filter(({ status }) => isFinal(status));
      for (const instance of failed) if (!unhealthy.has(instance.id)) onUnhealthy(instance);
      unhealthy = new Set(failed.map(({ id }) => id));
      prices = new Map(instances.map((instance) => [instance.id, priceOf(instance)]));
    },
    prices: () => prices,
    view: () => counts,
  };
}

/** One that has ended as its owner wants is stopped, whatever it is called then (public dialect). */
function statusOf({ actual_status: actual, intended_status: intended }: Instance): string {
  const status = actual?.toLowerCase() ?? 'created';
  return isFinal(status) && intended?.toLowerCase() === STOPPED ? STOPPED : status;
}

function priceOf({ dph_total: running, storage_total_cost: storage }: Instance): InstancePrice {
  return { running: running ?? undefined, storage: storage ?? undefined };
}

function isFinal(status: string): boolean {
  return (FINAL_INSTANCE_STATUSES as readonly string[]).includes(status);
}

function countStatuses(statuses: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>([...INSTANCE_STATUSES, STOPPED].map((status) => [status, 0]));
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
