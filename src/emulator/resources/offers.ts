/** Machine offers, pure: each can be rented once at a time, and is free again when its instance is destroyed. */
import type { OfferRecord } from '../state/machines.ts';
import type { State } from '../state/state.ts';

/** What a test may know of an offer, in the units of the interface. */
export interface OfferView {
  readonly id: number;
  readonly machine_id: number;
  readonly gpu_name: string;
  readonly num_gpus: number;
  /** MB (§1). */
  readonly gpu_ram: number;
  /** $/h. */
  readonly dph_total: number;
  /** GB. */
  readonly disk_space: number;
  /** The instance that holds it; null while it is free. */
  readonly rented_by: number | null;
}

export function viewOffer(offer: OfferRecord): OfferView {
  return {
    id: offer.id,
    machine_id: offer.machineId,
    gpu_name: offer.gpuName,
    num_gpus: offer.gpuCount,
    gpu_ram: offer.gpuRamMb,
    dph_total: offer.dphTotal,
    disk_space: offer.diskSpaceGb,
    rented_by: offer.rentedBy,
  };
}

/** Frees the offer that an instance held. */
export function returnOffer(state: State, instanceId: number): void {
  for (const offer of state.offers.values()) if (offer.rentedBy === instanceId) offer.rentedBy = null;
}
