/** Maintenance windows of the machines that the user named (§4.1). */
import type { ClientOf } from '../client/caller.ts';
import type { ListedWindow } from '../contract/operations/machines.ts';

/** As the status publishes it. */
interface MaintenanceView {
  readonly machine_id: number;
  readonly category: string;
  /** Unix seconds. */
  readonly starts_at: number;
  /** Unix seconds; null if the service does not say how long it takes. */
  readonly ends_at: number | null;
}

/** `nowSeconds` is Unix time in seconds. */
export function createMaintenanceWatch(
  client: Pick<ClientOf<'machines.maintenances'>, 'machines'>,
  machineIds: readonly number[],
  nowSeconds: () => number,
) {
  let windows: readonly MaintenanceView[] = [];
  return {
    async run(signal: AbortSignal): Promise<void> {
      const answer = await client.machines.maintenances(
        { machine_ids: [...machineIds] },
        { signal, turn: { everyMs: 300_000, need: 'watch' } },
      );
      windows = answer.map((window) => viewOf(window)).sort((a, b) => a.starts_at - b.starts_at);
    },
    /** Windows as of the last successful run, earliest first, without those that have ended since. */
    view: () => windows.filter(({ ends_at: end }) => (end ?? Infinity) > nowSeconds()),
  };
}

function viewOf(window: ListedWindow): MaintenanceView {
  const hours = window.duration_hours;
  return {
    machine_id: window.machine_id,
    category: window.maintenance_category ?? 'other',
    starts_at: window.start_time,
    ends_at: hours === undefined ? null : window.start_time + hours * 3600,
  };
}
