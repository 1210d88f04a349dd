/** What a test may see and change of machines: `emulator.machines.maintenances(11)`. */
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import type { World } from '../service/service.ts';
import { existing } from './existing.ts';

export interface Machines {
  maintenances(id: number): readonly MaintenanceWindow[];
  setMaintenances(id: number, windows: readonly MaintenanceWindow[]): void;
}

export function inspectMachines(world: World): Machines {
  return {
    maintenances: (id) => existing(world.state.machines, id, 'machine').maintenances,
    setMaintenances(id, windows) {
      existing(world.state.machines, id, 'machine').maintenances = [...windows];
    },
  };
}
