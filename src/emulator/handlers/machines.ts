import type { Input } from '../../contract/operations.ts';
import type { HandlersOf } from './define.ts';

export const machineHandlers: HandlersOf<'machines'> = {
  'machines.maintenances': ({ machine_ids, ctime }, { state, nowMs }) => {
    const nowSeconds = ctime ?? nowMs / 1000;
    // A machine of somebody else, or none at all, has no windows: the interface names no error for it (§4.1).
    return listedIds(machine_ids).flatMap((id) =>
      (state.machines.get(id)?.maintenances ?? []).filter(
        (window) => window.start_time + window.duration_hours * 3600 > nowSeconds,
      ),
    );
  },
};

/** The three ways in which §4.1 lets a client list machines, each machine once. */
function listedIds(ids: Input<'machines.maintenances'>['machine_ids']): number[] {
  if (typeof ids === 'number') return [ids];
  return [...new Set(typeof ids === 'string' ? ids.split(',').map(Number) : ids)];
}
