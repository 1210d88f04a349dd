import type { z } from 'zod';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { templateView } from '../handlers/templates.ts';
import { offerOf, templateOf } from '../seed/build.ts';
import { offerEntry, templateEntry } from '../seed/schema.ts';
import { setInstanceStatus, statusAt, type OfferRecord } from '../state/instances.ts';
import { existing, Inspection } from './route.ts';

/** An instance without its secrets. */
export interface InstanceView {
  readonly id: number;
  readonly status: InstanceStatus;
  readonly machineId: number;
  /** Login of the registry, from request or template; the token is not kept. */
  readonly registryLogin: { readonly registry: string; readonly user: string } | null;
}

/** `emulator.instances.setStatus(501, 'exited')` */
export class Instances extends Inspection {
  list(): InstanceView[] {
    return [...this.settled.instances.values()].map((instance) => ({
      id: instance.id,
      status: statusAt(instance, this.world.now()),
      machineId: instance.hardware.machine_id,
      registryLogin: instance.launch?.login ?? null,
    }));
  }

  /** It keeps this status for good. */
  setStatus(id: number, status: InstanceStatus): void {
    setInstanceStatus(existing(this.settled.instances, id, 'instance'), status, this.world.now());
  }
}

/** `emulator.machines.maintenances(11)` */
export class Machines extends Inspection {
  maintenances(id: number): readonly MaintenanceWindow[] {
    return existing(this.world.state.machines, id, 'machine').maintenances;
  }

  setMaintenances(id: number, windows: readonly MaintenanceWindow[]): void {
    existing(this.world.state.machines, id, 'machine').maintenances = [...windows];
  }
}

/** An offer in the units of the interface. `rented_by`: id of its instance; null while free. */
export type OfferView = Readonly<Omit<OfferRecord, 'steps'>>;

/** Each offer can be rented once, and is free again when its instance is destroyed. */
export class Offers extends Inspection {
  list(): OfferView[] {
    return [...this.world.state.offers.values()].map((record) => {
      const { steps: _, ...offer } = record;
      return offer;
    });
  }

  /** Adds or replaces an offer, which is then free; `gpu_ram` in MB. */
  add(offer: z.input<typeof offerEntry>): void {
    const record = offerOf(offerEntry.parse(offer));
    this.world.state.offers.set(record.id, record);
  }
}

/** A template as the service answers it. */
export type TemplateView = ReturnType<typeof templateView>;

/** The stored templates. */
export class Templates extends Inspection {
  /** Includes private templates of all users. */
  list(): TemplateView[] {
    return [...this.world.state.templates.values()].map(templateView);
  }

  /** Adds or replaces a template. */
  add(template: z.input<typeof templateEntry>): TemplateView {
    const record = templateOf(templateEntry.parse(template), this.beginning);
    this.world.state.templates.set(record.id, record);
    return templateView(record);
  }
}
