/** What a test may see and change of instances: `emulator.instances.setStatus(501, 'exited')`. */
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import { setInstanceStatus, statusAt } from '../resources/instances.ts';
import type { World } from '../service/service.ts';
import { existing, settledState } from './existing.ts';

export interface InstanceView {
  readonly id: number;
  readonly status: InstanceStatus;
  readonly machineId: number;
  /** What the image is fetched with, from the request or the template; the token is not kept. */
  readonly registryLogin: { readonly registry: string; readonly user: string } | null;
}

export interface Instances {
  list(): InstanceView[];
  /** This status from now on, for good. */
  setStatus(id: number, status: InstanceStatus): void;
}

export function inspectInstances(world: World): Instances {
  return {
    list: () =>
      [...settledState(world).instances.values()].map((instance) => ({
        id: instance.id,
        status: statusAt(instance, world.now()),
        machineId: instance.machineId,
        registryLogin: instance.launch?.login ?? null,
      })),
    setStatus: (id, status) =>
      setInstanceStatus(existing(settledState(world).instances, id, 'instance'), status, world.now()),
  };
}
