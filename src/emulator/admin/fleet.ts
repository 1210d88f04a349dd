import * as z from 'zod';
import type { InstanceStatus } from '../../contract/operations/instances/instance-list.ts';
import { ENDPOINT_STATES } from '../../contract/operations/serverless/endpoint-groups.ts';
import type { Engine } from '../fleet/engine.ts';
import { noteEvent } from '../fleet/story.ts';
import { countBy, newWorker, workerStatus } from '../fleet/workers.ts';
import { defined } from '../handlers/define.ts';
import {
  deleteDeployment,
  endpointOf,
  endpointWorkers,
  groupView,
  moveEndpoint,
} from '../handlers/endpoint-groups.ts';
import { templateView } from '../handlers/templates.ts';
import { deleteWorkerGroup } from '../handlers/workergroups.ts';
import { deploymentOf, workerGroupOf } from '../seed/build.ts';
import { deploymentChanges, deploymentEntry, workerGroupEntry } from '../seed/seed.ts';
import type { World } from '../service.ts';
import { setInstanceStatus, statusAt, type OfferRecord } from '../state/instances.ts';
import {
  changeDeployment,
  loadRecord,
  loadSchema,
  viewDeployment,
  type DeploymentView,
  type EndpointGroupRecord,
  type EndpointLogs,
  type LoadInput,
  type WorkerGroupRecord,
} from '../state/serverless.ts';
import { nextId, type State } from '../state/state.ts';
import {
  appendLines,
  clearLog,
  firstRetained,
  growthRate,
  lineCount,
  linesBetween,
  setGrowthRate,
  writeText,
} from '../state/worker-log.ts';
import { existing, Inspection } from './control.ts';

/** Changes of a deployment. Fields that are left out stay. */
export type DeploymentChanges = z.input<typeof deploymentChanges>;

/** `emulator.deployments.get(42)` */
export class Deployments extends Inspection {
  /** @throws RangeError for an unknown id, as do all methods here except remove */
  get(id: number): DeploymentView {
    return viewDeployment(existing(this.world.state.deployments, id, 'deployment'), this.world.now());
  }

  list(): DeploymentView[] {
    const nowMs = this.world.now();
    return [...this.world.state.deployments.values()].map((record) => viewDeployment(record, nowMs));
  }

  /** Adds or replaces a deployment; `ttl` in seconds. */
  add(deployment: z.input<typeof deploymentEntry>): void {
    const record = deploymentOf(deploymentEntry.parse(deployment), this.beginning);
    this.world.state.deployments.set(record.id, record);
  }

  /** `ttl` in seconds; null: it never expires. */
  change(id: number, changes: DeploymentChanges): void {
    const { ttl, endpoint_state: endpointState, name, tag } = deploymentChanges.parse(changes);
    const ttlMs = typeof ttl === 'number' ? ttl * 1000 : ttl;
    const traits = defined({ name, tag, endpointState, ttlMs });
    const state = this.current;
    changeDeployment(existing(state.deployments, id, 'deployment'), traits, this.world.now());
    const endpoint = endpointOf(state, id);
    const next = ENDPOINT_STATES.find((one) => one === endpointState);
    if (endpoint && next) moveEndpoint(state, endpoint, next, this.world.now());
  }

  /** Deletes it and creates it again, as a redeployment does. Returns the new id. */
  redeploy(id: number): number {
    const state = this.current;
    const { name, tag, endpointState, ttlMs, versions } = existing(state.deployments, id, 'deployment');
    const newId = nextId(state, 'deployment', state.deployments.keys());
    const endpoint = endpointOf(state, id);
    if (endpoint) endpoint.deploymentId = newId;
    state.deployments.delete(id);
    const ttl = ttlMs === null ? null : ttlMs / 1000;
    this.add({ id: newId, name, tag, endpoint_state: endpointState, ttl });
    existing(state.deployments, newId, 'deployment').versions = versions;
    return newId;
  }

  remove(id: number): void {
    const state = this.current;
    const deployment = state.deployments.get(id);
    if (deployment) deleteDeployment(state, deployment, this.world.now());
  }
}

/** An endpoint group with its parameters, defaults filled in. */
export type EndpointGroupView = ReturnType<typeof groupView>;

/** The current load of an endpoint. */
export type EndpointLoadView = Readonly<ReturnType<typeof loadView>>;

function loadView({ id, parameters, load }: EndpointGroupRecord, engine: Engine) {
  return {
    id,
    endpoint: parameters.endpoint_name ?? null,
    /** null: only requests by /route/. */
    load: load?.spec ?? null,
    /** Unix ms; null without a load. */
    sinceMs: load?.sinceMs ?? null,
    /** Requests of this load so far. */
    requests: engine.loadRequests,
  };
}

/** What the engine did since it began. Times in seconds, rates in work units a second. */
export type EndpointActivity = Readonly<ReturnType<EndpointGroups['get']>>;

/** The endpoint groups, and what their engines do. */
export class EndpointGroups extends Inspection {
  /** All defaults are filled in. */
  list(): EndpointGroupView[] {
    return [...this.current.endpointGroups.values()].map(groupView);
  }

  /** Load and engine of one, by id or name. @throws RangeError for an unknown endpoint */
  get(named: number | string) {
    const state = this.current;
    const endpoint = endpointNamed(state, named);
    const engine = engineOf(this.world, endpoint);
    const workers = endpointWorkers(state, endpoint.id);
    return {
      ...loadView(endpoint, engine),
      state: endpoint.state,
      /** By status. */
      workers: countBy(workers.map((worker) => workerStatus(worker, state, this.world.now()))),
      ...engine.activity(),
    };
  }

  /** While `hangs`, no start of its workers ends. @throws RangeError for an unknown endpoint */
  hang(named: number | string, hangs: boolean): void {
    endpointNamed(this.current, named).hangs = hangs;
  }

  /** One level of its full log, as far as retained. @throws RangeError for an unknown endpoint */
  lines(named: number | string, level: keyof EndpointLogs): string[] {
    const log = endpointNamed(this.current, named).logs[level];
    return linesBetween(log, { from: 0, to: Infinity }, this.world.now());
  }
}

/** Troubles of a worker. Fields that are left out stay. */
export const workerTroubles = z.strictObject({
  perf: z.number().positive().optional().describe('what it can do from now on, units/s'),
  stuck_requests: z.int().nonnegative().optional().describe('requests that it counts and has done'),
  stranded: z.boolean().optional().describe('once it is stopped, another tenant has its GPU'),
});

/** `emulator.workers.set(501, { stuck_requests: 1 })` */
export class Workers extends Inspection {
  set(id: number, troubles: z.input<typeof workerTroubles>): void {
    const { perf, stuck_requests: stuckRequests, stranded: isStranded } = workerTroubles.parse(troubles);
    const worker = existing(this.current.workers, id, 'worker');
    // The engine treats it as a machine that it has not seen before.
    const changed = perf === undefined ? {} : { perf, life: null };
    Object.assign(worker, changed, defined({ stuckRequests, isStranded }));
    void this.current;
  }
}

/** Requests that come by themselves. Endpoints are named by id or name. */
export class Loads extends Inspection {
  list(): EndpointLoadView[] {
    return [...this.current.endpointGroups.values()].map((endpoint) => this.#view(endpoint));
  }

  /** Replaces the load. @throws RangeError for an unknown endpoint */
  set(named: number | string, load: LoadInput): EndpointLoadView {
    const state = this.current;
    const endpoint = endpointNamed(state, named);
    const record = loadRecord(loadSchema.parse(load), state.settings, this.world.now());
    this.#change(endpoint, record, `another load: ${record.spec.shape}`);
    return this.#view(endpoint);
  }

  /** Without a name: stops all. */
  stop(named?: number | string): void {
    const state = this.current;
    const stopped = named === undefined ? [...state.endpointGroups.values()] : [endpointNamed(state, named)];
    for (const endpoint of stopped) if (endpoint.load) this.#change(endpoint, null, 'the load is stopped');
  }

  #change(endpoint: EndpointGroupRecord, load: EndpointGroupRecord['load'], text: string): void {
    endpoint.load = load;
    noteEvent(endpoint, text, this.world.now());
    void this.current;
  }

  #view(endpoint: EndpointGroupRecord): EndpointLoadView {
    return loadView(endpoint, engineOf(this.world, endpoint));
  }
}

/** Settling the state gave each endpoint an engine. */
function engineOf({ fleets }: World, { id }: EndpointGroupRecord): Engine {
  return fleets.of(id) as Engine;
}

function endpointNamed(state: State, named: number | string): EndpointGroupRecord {
  for (const endpoint of state.endpointGroups.values()) {
    if (endpoint.id === Number(named) || endpoint.parameters.endpoint_name === named) return endpoint;
  }
  throw new RangeError(`no endpoint group ${named}`);
}

/** A worker group and the length of its log. */
export type WorkerGroupView = Readonly<ReturnType<WorkerGroups['get']>>;

/** `emulator.workergroups.append(7, ['a line'])` */
export class WorkerGroups extends Inspection {
  get(id: number) {
    const { log } = this.#group(id);
    const nowMs = this.world.now();
    return {
      id,
      /** Finished lines so far, including those no longer retained. */
      lineCount: lineCount(log, nowMs),
      /** Index of the oldest retained line. */
      firstRetained: firstRetained(log, nowMs),
      linesPerSecond: growthRate(log),
    };
  }

  list(): WorkerGroupView[] {
    return [...this.current.workerGroups.keys()].map((id) => this.get(id));
  }

  add(group: z.input<typeof workerGroupEntry>): void {
    const entry = workerGroupEntry.parse(group);
    const state = this.current;
    state.workerGroups.set(entry.id, workerGroupOf(entry, this.beginning));
    for (const worker of entry.workers) state.workers.set(worker, newWorker(worker, entry.id));
  }

  remove(id: number): void {
    deleteWorkerGroup(this.current, id, this.world.now());
  }

  /** Appends whole lines. */
  append(id: number, lines: readonly string[]): void {
    appendLines(this.#group(id).log, lines, this.world.now());
  }

  /** Writes text; what follows the last line break stays unfinished. Needs a rate of 0. */
  write(id: number, text: string): void {
    writeText(this.#group(id).log, text, this.world.now());
  }

  /** Lines per second; 0 stops the growth. */
  setRate(id: number, linesPerSecond: number): void {
    const group = this.#group(id);
    group.linesPerSecond = linesPerSecond;
    setGrowthRate(group.log, linesPerSecond, this.world.now());
  }

  /** Retained lines `from` to `to` (excluded) of the full log. */
  lines(id: number, from = 0, to = Infinity): string[] {
    return linesBetween(this.#group(id).log, { from, to }, this.world.now());
  }

  /** Discards the log so far, as when a worker is replaced. */
  clear(id: number): void {
    clearLog(this.#group(id).log, this.world.now());
  }

  #group(id: number): WorkerGroupRecord {
    return existing(this.current.workerGroups, id, 'worker group');
  }
}

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
    return [...this.current.instances.values()].map((instance) => ({
      id: instance.id,
      status: statusAt(instance, this.world.now()),
      machineId: instance.hardware.machine_id,
      registryLogin: instance.launch?.login ?? null,
    }));
  }

  /** It keeps this status for good. */
  setStatus(id: number, status: InstanceStatus): void {
    setInstanceStatus(existing(this.current.instances, id, 'instance'), status, this.world.now());
  }
}

/** An offer in the units of the interface. `rented_by`: id of its instance; null while free. */
export type OfferView = Readonly<Omit<OfferRecord, 'statuses'>>;

/** Each offer can be rented once, and is free again when its instance is destroyed. */
export class Offers extends Inspection {
  list(): OfferView[] {
    return [...this.world.state.offers.values()].map((record) => {
      const { statuses: _, ...offer } = record;
      return offer;
    });
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
}
