/** Machines, and what of them can be rented. */
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import type { InstanceStep } from './instances.ts';

export interface MachineRecord {
  readonly id: number;
  maintenances: MaintenanceWindow[];
}

export interface OfferRecord {
  readonly id: number;
  readonly machineId: number;
  readonly gpuName: string;
  readonly gpuCount: number;
  /** Memory of one GPU, in MB (§1). */
  readonly gpuRamMb: number;
  /** Price in $/h. */
  readonly dphTotal: number;
  readonly diskSpaceGb: number;
  /** What an instance goes through that is made from it; null: it starts without trouble. */
  readonly steps: readonly InstanceStep[] | null;
  /** The instance that holds it. */
  rentedBy: number | null;
}
