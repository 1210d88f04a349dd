/** How many instances are in which status (§3). */
import type { ClientOf } from '../client/partial-client.ts';
import {
  FINAL_INSTANCE_STATUSES,
  INSTANCE_STATUSES,
} from '../contract/operations/instances/instance-list.ts';

export interface InstancesWatch {
  run(signal: AbortSignal): Promise<void>;
  /** Status → count: every status that the interface names, at zero too, and any other that was seen. */
  view(): ReadonlyMap<string, number>;
}

/** Called for instances that have reached a status from which they never run. */
export type OnUnhealthy = (instance: { id: number; status: string }) => void;

export function createInstancesWatch(
  client: Pick<ClientOf<'instances.list'>, 'instances'>,
  onUnhealthy: OnUnhealthy = () => {},
): InstancesWatch {
  let counts = countStatuses([]);
  let unhealthy: ReadonlySet<number> = new Set();
  return {
    async run(signal) {
      const { instances } = await client.instances.list({}, { signal });
      counts = countStatuses(instances.map(({ actual_status }) => actual_status ?? 'created'));
      const failed = instances.filter(({ actual_status }) => isFinal(actual_status));
      for (const { id, actual_status } of failed) {
        if (!unhealthy.has(id)) onUnhealthy({ id, status: actual_status ?? 'unknown' });
      }
      unhealthy = new Set(failed.map(({ id }) => id));
    },
    view: () => counts,
  };
}

function isFinal(status: string | null | undefined): boolean {
  return (FINAL_INSTANCE_STATUSES as readonly string[]).includes(status ?? '');
}

function countStatuses(statuses: readonly string[]): Map<string, number> {
  const counts = new Map<string, number>(INSTANCE_STATUSES.map((status) => [status, 0]));
  for (const status of statuses) counts.set(status, (counts.get(status) ?? 0) + 1);
  return counts;
}
