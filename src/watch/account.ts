import type { ClientOf } from '../client/caller.ts';
import { type InstancesClient, listInstances } from '../client/flows/lists.ts';
import {
  FINAL_INSTANCE_STATUSES,
  type Instance,
  INSTANCE_STATUSES,
} from '../contract/operations/instances/instance-list.ts';
import type { ListedWindow } from '../contract/operations/machines.ts';

const TURN = { everyMs: 900_000, need: 'watch' } as const;

/** Whether 2FA is on, backup codes, locked methods (§2.4, §4.4). `nowSeconds`: Unix time in seconds. */
export function createAccountWatch(
  client: Pick<ClientOf<'users.current' | 'tfa.status'>, 'users' | 'tfa'>,
  nowSeconds: () => number,
) {
  async function look(signal: AbortSignal) {
    const [user, status] = await Promise.all([
      client.users.current({}, { signal, turn: TURN }),
      client.tfa.status({}, { signal, turn: TURN }),
    ]);
    const locked = status.methods.filter(({ locked_until: until }) => (until ?? 0) > nowSeconds());
    return {
      tfa_enabled: status.tfa_enabled ?? status.methods.length > 0,
      /** `enabled`, `disabled` or `legacy`; null: the service does not tell. */
      tfa_status: user.tfa_status ?? null,
      backup_codes_remaining: status.backup_codes_remaining ?? null,
      locked_methods: locked.length,
    };
  }
  let view: Awaited<ReturnType<typeof look>> | undefined;
  return {
    async run(signal: AbortSignal): Promise<void> {
      view = await look(signal);
    },
    view: () => view,
  };
}

const STOPPED = 'stopped';

const COLUMNS = ['id', 'actual_status', 'intended_status', 'dph_total', 'storage_total_cost'] as const;

/** Instances by status (§3). `onUnhealthy`: an instance reached a status from which it never runs. */
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
      const found = new Map([...INSTANCE_STATUSES, STOPPED].map((status): [string, number] => [status, 0]));
      for (const { status } of statuses) found.set(status, (found.get(status) ?? 0) + 1);
      counts = found;
      const failed = statuses.filter(({ status }) => isFinal(status));
      for (const instance of failed) if (!unhealthy.has(instance.id)) onUnhealthy(instance);
      unhealthy = new Set(failed.map(({ id }) => id));
      prices = new Map(instances.map((instance) => [instance.id, priceOf(instance)]));
    },
    prices: () => prices,
    /** Status → count, with each named status at zero too. Empty before the first successful run. */
    view: () => counts,
  };
}

/** An instance that ended as its owner wants counts as stopped. */
function statusOf({ actual_status: actual, intended_status: intended }: Instance): string {
  const status = actual?.toLowerCase() ?? 'created';
  return isFinal(status) && intended?.toLowerCase() === STOPPED ? STOPPED : status;
}

/** Of an hour; undefined: the service does not say. While it runs, its storage is included. */
function priceOf(instance: Instance) {
  const running = instance.dph_total ?? undefined;
  const storage = instance.storage_total_cost ?? undefined;
  const status = statusOf(instance);
  if (status === 'running' || status === 'loading') return { running, storage, now: running };
  // Broken instances are not billed.
  return { running, storage, now: [STOPPED, 'created', 'exited'].includes(status) ? storage : 0 };
}

function isFinal(status: string): boolean {
  return (FINAL_INSTANCE_STATUSES as readonly string[]).includes(status);
}

/** Maintenance windows of the machines that the user named (§4.1). `nowSeconds`: Unix time in seconds. */
export function createMaintenanceWatch(
  client: Pick<ClientOf<'machines.maintenances'>, 'machines'>,
  machineIds: readonly number[],
  nowSeconds: () => number,
) {
  let windows: readonly ReturnType<typeof viewOf>[] = [];
  return {
    async run(signal: AbortSignal): Promise<void> {
      const answer = await client.machines.maintenances(
        { machine_ids: [...machineIds] },
        { signal, turn: { everyMs: 300_000, need: 'watch' } },
      );
      windows = answer.map((window) => viewOf(window)).sort((a, b) => a.starts_at - b.starts_at);
    },
    /** As of the last successful run, earliest first, without those that have ended since. */
    view: () => windows.filter(({ ends_at: end }) => (end ?? Infinity) > nowSeconds()),
  };
}

function viewOf({ machine_id, maintenance_category, start_time, duration_hours: hours }: ListedWindow) {
  return {
    machine_id,
    category: maintenance_category ?? 'other',
    starts_at: start_time,
    /** Unix seconds; null: the service does not say how long it takes. */
    ends_at: hours === undefined ? null : start_time + hours * 3600,
  };
}
