/** What a test may see and change of the emulated service, in process: `emulator.deployments.get(42)`. */
import type { z } from 'zod';
import type { InstanceStatus } from '../../contract/operations/instance-list.ts';
import type { MaintenanceWindow } from '../../contract/operations/machines.ts';
import { addKey, deleteKey, resetKey } from '../resources/api-keys.ts';
import { deploymentOf, logOf } from '../seed/build.ts';
import { changeDeployment, viewDeployment, type DeploymentView } from '../resources/deployments.ts';
import { nextId } from '../state/next-id.ts';
import {
  appendLines,
  clearLog,
  firstRetained,
  growthRate,
  lineCount,
  linesBetween,
  setGrowthRate,
  writeText,
} from '../worker-log/group-log.ts';
import { setInstanceStatus, statusAt } from '../resources/instances.ts';
import {
  apiKeyEntry,
  deploymentChanges,
  deploymentEntry,
  workerGroupEntry,
  type Seed,
} from '../seed/schema.ts';
import type { World } from '../service/service.ts';

type SeedEntry<Section extends keyof Seed> = NonNullable<Seed[Section]> extends (infer One)[] ? One : never;

/** Keys by their names; values go in and never come out. */
export interface ApiKeys {
  list(): { readonly name: string; readonly userId: number }[];
  /** A further key of the first user. @throws Error for a name or value that is taken */
  add(entry: z.input<typeof apiKeyEntry>): void;
  /** A new value: the old one answers 401 at once. @throws RangeError for a name that does not exist */
  reset(name: string, newValue: string): void;
  /** Later requests with it get 401. @throws RangeError for a name that does not exist */
  remove(name: string): void;
}

export interface Deployments {
  /** @throws RangeError for an id that does not exist; so do all methods here that take one */
  get(id: number): DeploymentView;
  list(): DeploymentView[];
  /** Adds one, or puts it in the place of the one with this id; `ttl` in seconds. */
  add(deployment: SeedEntry<'deployments'>): void;
  /** Changes what is named; `ttl` in seconds, null: it never expires. */
  change(id: number, changes: DeploymentChanges): void;
  /** `endpoint_state` becomes `stopped`. */
  stop(id: number): void;
  /** Deletes it and makes it anew, as a redeployment does: all of it is the same but the id, which is answered. */
  redeploy(id: number): number;
  remove(id: number): void;
}

export type DeploymentChanges = z.input<typeof deploymentChanges>;

export interface WorkerGroupView {
  readonly id: number;
  /** Finished lines written so far, also those that the service no longer has. */
  readonly lineCount: number;
  /** Index of the first line that the service still has. */
  readonly firstRetained: number;
  readonly linesPerSecond: number;
}

export interface WorkerGroups {
  get(id: number): WorkerGroupView;
  list(): WorkerGroupView[];
  add(group: SeedEntry<'workergroups'>): void;
  remove(id: number): void;
  /** Writes whole lines now. */
  append(id: number, lines: readonly string[]): void;
  /** Writes text as a process does; what follows the last line break stays unfinished. Needs a rate of 0. */
  write(id: number, text: string): void;
  /** Lines per second from now on; 0 stops the growth. */
  setRate(id: number, linesPerSecond: number): void;
  /** The true log: lines `from` to `to` (excluded) by index, as far as they are retained. */
  lines(id: number, from?: number, to?: number): string[];
  /** Throws away what was written so far, as when a worker is replaced. */
  clear(id: number): void;
}

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

export interface Machines {
  maintenances(id: number): readonly MaintenanceWindow[];
  setMaintenances(id: number, windows: readonly MaintenanceWindow[]): void;
}

export function inspectApiKeys(world: World): ApiKeys {
  return {
    list: () => [...world.state.keys.values()].map(({ name, userId }) => ({ name, userId })),
    add(entry) {
      const { key, name, permissions, team } = apiKeyEntry.parse(entry);
      const userId = world.state.users.keys().next().value ?? 0;
      addKey(world.state, key, { name, userId, permissions: permissions ?? null, team });
    },
    reset: (name, newValue) => resetKey(world.state, name, newValue),
    remove: (name) => deleteKey(world.state, name),
  };
}

export function inspectDeployments(world: World): Deployments {
  function add(entry: SeedEntry<'deployments'>): void {
    const parsed = deploymentEntry.parse(entry);
    world.state.deployments.set(parsed.id, deploymentOf(parsed, world.state.settings, world.now()));
  }

  function change(id: number, changes: DeploymentChanges): void {
    const { ttl, endpoint_state: endpointState, name, tag } = deploymentChanges.parse(changes);
    const traits = {
      ...(name !== undefined && { name }),
      ...(tag !== undefined && { tag }),
      ...(endpointState !== undefined && { endpointState }),
      ...(ttl !== undefined && { ttlMs: ttl === null ? null : ttl * 1000 }),
    };
    changeDeployment(existing(world.state.deployments, id, 'deployment'), traits, world.now());
  }

  return {
    get: (id) => viewDeployment(existing(world.state.deployments, id, 'deployment'), world.now()),
    list: () => [...world.state.deployments.values()].map((record) => viewDeployment(record, world.now())),
    add,
    change,
    stop: (id) => change(id, { endpoint_state: 'stopped' }),
    redeploy(id) {
      const { state } = world;
      const { name, tag, endpointState, ttlMs } = existing(state.deployments, id, 'deployment');
      const newId = nextId(state, 'deployment', state.deployments.keys());
      const entry = { id: newId, name, tag, endpoint_state: endpointState };
      state.deployments.delete(id);
      add({ ...entry, ttl: ttlMs === null ? null : ttlMs / 1000 });
      return newId;
    },
    remove: (id) => void world.state.deployments.delete(id),
  };
}

export function inspectWorkerGroups(world: World): WorkerGroups {
  const logOfGroup = (id: number) => existing(world.state.workerGroups, id, 'worker group').log;
  function get(id: number): WorkerGroupView {
    const log = logOfGroup(id);
    const nowMs = world.now();
    return {
      id,
      lineCount: lineCount(log, nowMs),
      firstRetained: firstRetained(log, nowMs),
      linesPerSecond: growthRate(log),
    };
  }
  return {
    get,
    list: () => [...world.state.workerGroups.keys()].map(get),
    add(entry) {
      const parsed = workerGroupEntry.parse(entry);
      const log = logOf(parsed, world.state.settings, world.now());
      world.state.workerGroups.set(parsed.id, { id: parsed.id, log });
    },
    remove: (id) => void world.state.workerGroups.delete(id),
    append: (id, lines) => appendLines(logOfGroup(id), lines, world.now()),
    write: (id, text) => writeText(logOfGroup(id), text, world.now()),
    setRate: (id, linesPerSecond) => setGrowthRate(logOfGroup(id), linesPerSecond, world.now()),
    lines: (id, from = 0, to = Infinity) =>
      linesBetween(logOfGroup(id), from, to, world.now(), world.inferenceLog),
    clear: (id) => clearLog(logOfGroup(id), world.now()),
  };
}

export function inspectInstances(world: World): Instances {
  return {
    list: () =>
      [...world.state.instances.values()].map((instance) => ({
        id: instance.id,
        status: statusAt(instance, world.now()),
        machineId: instance.machineId,
        registryLogin: instance.launch?.login ?? null,
      })),
    setStatus: (id, status) =>
      setInstanceStatus(existing(world.state.instances, id, 'instance'), status, world.now()),
  };
}

export function inspectMachines(world: World): Machines {
  return {
    maintenances: (id) => existing(world.state.machines, id, 'machine').maintenances,
    setMaintenances(id, windows) {
      existing(world.state.machines, id, 'machine').maintenances = [...windows];
    },
  };
}

function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}
