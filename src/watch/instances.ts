/** How many instances are in which status (§3). */
import { listInstances, type InstancesClient } from '../client/flows/lists.ts';
import {
  FINAL_INSTANCE_STATUSES,
  INSTANCE_STATUSES,
  type Instance,
} from '../contract/operations/instances/instance-list.ts';

/** Instances that are meant to be stopped, and are: they can be started again, and nothing is wrong with them. */
const STOPPED = 'stopped';

/** What statuses and prices are made of. */
const COLUMNS = ['id', 'actual_status', 'intended_status', 'dph_total', 'storage_total_cost'] as const;

/** @param onUnhealthy Called for instances that have reached a status from which they never run. */
export function createInstancesWatch(
  client: InstancesClient,
  onUnhealthy: (instance: { id: number; status: string }) => void = () => {},
) {
  let counts: ReadonlyMap<string, number> = new Map();
  let unhealthy: ReadonlySet<number> = new Set();
  let prices: ReadonlyMap<number, ReturnType<typeof priceOf>> = new Map();
  return {
    async run(signal: AbortSignal): Promise<void> {
      const turn = { everyMs: 60_000, need: 'watch' } as const;
      const instances = await listInstances(client, { signal, turn, columns: COLUMNS });
      const statuses = instances.map((instance) => ({ id: instance.id, status: statusOf(instance) }));
      counts = countStatuses(statuses.map(({ status }) => status));
      const failed = statuses.filter(({ status }) => isFinal(status));
      for (const instance of failed) if (!unhealthy.has(instance.id)) onUnhealthy(instance);
      unhealthy = new Set(failed.map(({ id }) => id));
      prices = new Map(instances.map((instance) => [instance.id, priceOf(instance)]));
    },
    /** By instance id, as of the last successful run. */
    prices: () => prices,
    /**
     * Status → count: `stopped` and every status that the interface names, at zero too, and any other that was seen. Empty
     * before the first successful run: nothing is known then.
     */
    view: () => counts,
  };
}

/** One that has ended as its owner wants is stopped, whatever it is called then (public dialect). */
function statusOf({ actual_status: actual, intended_status: intended }: Instance): string {
  const status = actual?.toLowerCase() ?? 'created';
  return isFinal(status) && intended?.toLowerCase() === STOPPED ? STOPPED : status;
}

/** Of an hour; undefined where the service does not say. While it runs, its storage is included. */
function priceOf(instance: Instance) {
  const running = instance.dph_total ?? undefined;
  const storage = instance.storage_total_cost ?? undefined;
  const status = statusOf(instance);
  if (status === 'running' || status === 'loading') return { running, storage, now: running };
  // What is broken is not billed.
  return { running, storage, now: [STOPPED, 'created', 'exited'].includes(status) ? storage : 0 };
}

function isFinal(status: string): boolean {
  return (FINAL_INSTANCE_STATUSES as readonly string[]).includes(status);
}

function countStatuses(statuses: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>([...INSTANCE_STATUSES, STOPPED].map((status) => [status, 0]));
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
