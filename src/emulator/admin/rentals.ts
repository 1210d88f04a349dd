/** What is rented and from what: instances, machines and their offers, templates. */
import type { z } from 'zod';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { templateView } from '../handlers/templates.ts';
import { offerOf, templateOf } from '../seed/build.ts';
import { offerEntry, templateEntry } from '../seed/schema.ts';
import { setInstanceStatus, statusAt, type OfferRecord } from '../state/instances.ts';
import { existing, Inspection } from './route.ts';

/** An instance, without the secrets that it was rented with. */
export interface InstanceView {
  readonly id: number;
  readonly status: InstanceStatus;
  readonly machineId: number;
  /** What the image is fetched with, from the request or the template; the token is not kept. */
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

  /** This status from now on, for good. */
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

/** An offer in the units of the interface, and which instance has it; null while it is free. */
export type OfferView = Readonly<Omit<OfferRecord, 'steps'>>;

/** Each offer can be rented once at a time, and is free again when its instance is destroyed. */
export class Offers extends Inspection {
  list(): OfferView[] {
    return [...this.world.state.offers.values()].map((record) => {
      const { steps: _, ...offer } = record;
      return offer;
    });
  }

  /** Adds one that is free, or puts it in the place of the one with this id; `gpu_ram` in MB. */
  add(offer: z.input<typeof offerEntry>): void {
    const record = offerOf(offerEntry.parse(offer));
    this.world.state.offers.set(record.id, record);
  }
}

/** A template as the service answers it. */
export type TemplateView = ReturnType<typeof templateView>;

/** The stored templates. */
export class Templates extends Inspection {
  /** All of them, private ones of all users included. */
  list(): TemplateView[] {
    return [...this.world.state.templates.values()].map(templateView);
  }

  /** Adds one, or puts it in the place of the one with this id. */
  add(template: z.input<typeof templateEntry>): TemplateView {
    const record = templateOf(templateEntry.parse(template), this.beginning);
    this.world.state.templates.set(record.id, record);
    return templateView(record);
  }
}
