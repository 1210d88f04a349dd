/** Maintenance windows of the machines that the user named (§4.1). */
import type { ClientOf } from '../client/caller.ts';
import type { ListedWindow } from '../contract/operations/machines.ts';

export interface MaintenanceView {
  readonly machineId: number;
  readonly category: string;
  /** Unix seconds. */
  readonly startsAt: number;
  /** Unix seconds; undefined where the service does not say how long it takes. */
  readonly endsAt: number | undefined;
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
      windows = answer.map((window) => viewOf(window)).sort((a, b) => a.startsAt - b.startsAt);
    },
    /** Windows as of the last successful run, earliest first, without those that have ended since. */
    view: () => windows.filter(({ endsAt = Infinity }) => endsAt > nowSeconds()),
  };
}

function viewOf(window: ListedWindow): MaintenanceView {
  const hours = window.duration_hours;
  return {
    machineId: window.machine_id,
    category: window.maintenance_category ?? 'other',
    startsAt: window.start_time,
    endsAt: hours === undefined ? undefined : window.start_time + hours * 3600,
  };
}
