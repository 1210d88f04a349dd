/** Deployments; endpoints with their loads and engines; worker groups and their logs. */
import * as z from 'zod';
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
import { deleteWorkerGroup } from '../handlers/workergroups.ts';
import { deploymentOf, workerGroupOf } from '../seed/build.ts';
import { deploymentChanges, deploymentEntry, workerGroupEntry } from '../seed/schema.ts';
import type { World } from '../service/service.ts';
import { changeDeployment, viewDeployment, type DeploymentView } from '../state/deployments.ts';
import type { EndpointGroupRecord, EndpointLogs, WorkerGroupRecord } from '../state/endpoints.ts';
import { loadRecord, loadSchema, type LoadInput } from '../state/loads.ts';
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
} from '../worker-log/group-log.ts';
import { existing, Inspection } from './route.ts';

/** What to change of a deployment; fields that are left out stay. */
export type DeploymentChanges = z.input<typeof deploymentChanges>;

/** `emulator.deployments.get(42)` */
export class Deployments extends Inspection {
  /** @throws RangeError for an id that does not exist; so do all methods here that take one, except remove */
  get(id: number): DeploymentView {
    return viewDeployment(existing(this.world.state.deployments, id, 'deployment'), this.world.now());
  }

  list(): DeploymentView[] {
    const nowMs = this.world.now();
    return [...this.world.state.deployments.values()].map((record) => viewDeployment(record, nowMs));
  }

  /** Adds one, or puts it in the place of the one with this id; `ttl` in seconds. */
  add(deployment: z.input<typeof deploymentEntry>): void {
    const record = deploymentOf(deploymentEntry.parse(deployment), this.beginning);
    this.world.state.deployments.set(record.id, record);
  }

  /** Changes what is named; `ttl` in seconds, null: it never expires. */
  change(id: number, changes: DeploymentChanges): void {
    const { ttl, endpoint_state: endpointState, name, tag } = deploymentChanges.parse(changes);
    const ttlMs = typeof ttl === 'number' ? ttl * 1000 : ttl;
    const traits = defined({ name, tag, endpointState, ttlMs });
    const state = this.settled;
    changeDeployment(existing(state.deployments, id, 'deployment'), traits, this.world.now());
    const endpoint = endpointOf(state, id);
    const next = ENDPOINT_STATES.find((one) => one === endpointState);
    if (endpoint && next) moveEndpoint(state, endpoint, next, this.world.now());
  }

  /** `endpoint_state` becomes `stopped`. */
  stop(id: number): void {
    this.change(id, { endpoint_state: 'stopped' });
  }

  /** Deletes it and creates it again, as a redeployment does: only the id is another one, which is returned. */
  redeploy(id: number): number {
    const state = this.settled;
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
    const state = this.settled;
    const deployment = state.deployments.get(id);
    if (deployment) deleteDeployment(state, deployment, this.world.now());
  }
}

/** An endpoint group with its parameters, every default filled in. */
export type EndpointGroupView = ReturnType<typeof groupView>;

/** What is asked of an endpoint now. */
export type EndpointLoadView = Readonly<ReturnType<typeof loadView>>;

function loadView({ id, parameters, load }: EndpointGroupRecord, engine: Engine) {
  return {
    id,
    endpoint: parameters.endpoint_name ?? null,
    /** null: nothing but what comes over /route/. */
    load: load?.spec ?? null,
    /** When it began, Unix ms; null without one. */
    sinceMs: load?.sinceMs ?? null,
    /** Requests of this load that have come so far. */
    requests: engine.loadRequests,
  };
}

/** What the engine of an endpoint did since it began. Times in seconds, rates in work units a second. */
export type EndpointActivity = Readonly<ReturnType<EndpointGroups['get']>>;

/** The endpoint groups, and what their engines do. */
export class EndpointGroups extends Inspection {
  /** With all defaults filled in. */
  list(): EndpointGroupView[] {
    return [...this.settled.endpointGroups.values()].map(groupView);
  }

  /** What is asked of one, by id or name, and what its engine made of it. @throws RangeError for one that does not exist */
  get(named: number | string) {
    const state = this.settled;
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

  /** From now on no start of its workers ends well, or each does again. @throws RangeError for one that does not exist */
  hang(named: number | string, hangs: boolean): void {
    endpointNamed(this.settled, named).hangs = hangs;
  }

  /** A level of its true log, as far as it is retained. @throws RangeError for an endpoint that does not exist */
  lines(named: number | string, level: keyof EndpointLogs): string[] {
    const log = endpointNamed(this.settled, named).logs[level];
    return linesBetween(log, { from: 0, to: Infinity }, this.world.now());
  }
}

/** What goes wrong with a worker; fields that are left out stay. */
export const workerTroubles = z.strictObject({
  perf: z.number().positive().optional().describe('what it can do from now on, units/s'),
  stuck_requests: z.int().nonnegative().optional().describe('requests that it counts and has done'),
  stranded: z.boolean().optional().describe('once it is stopped, another tenant has its GPU'),
});

/** `emulator.workers.set(501, { stuck_requests: 1 })` */
export class Workers extends Inspection {
  set(id: number, troubles: z.input<typeof workerTroubles>): void {
    const { perf, stuck_requests: stuckRequests, stranded: isStranded } = workerTroubles.parse(troubles);
    const worker = existing(this.settled.workers, id, 'worker');
    // Its engine takes it for another machine, as one that it has not seen before.
    const changed = perf === undefined ? {} : { perf, life: null };
    Object.assign(worker, changed, defined({ stuckRequests, isStranded }));
    void this.settled;
  }
}

/** Requests that come by themselves, from now on. An endpoint is named by id or name. */
export class Loads extends Inspection {
  #revision = 0;

  list(): EndpointLoadView[] {
    return [...this.settled.endpointGroups.values()].map((endpoint) => this.#view(endpoint));
  }

  /** In place of the one that it has. @throws RangeError for an endpoint that does not exist */
  set(named: number | string, load: LoadInput): EndpointLoadView {
    const state = this.settled;
    const endpoint = endpointNamed(state, named);
    const parsed = loadSchema.parse(load);
    this.#revision = Math.max(this.#revision, endpoint.load?.revision ?? 0) + 1;
    const around = { sinceMs: this.world.now(), revision: this.#revision, seed: state.settings.randomSeed };
    this.#change(endpoint, loadRecord(parsed, around), `another load: ${parsed.shape}`);
    return this.#view(endpoint);
  }

  /** Of all endpoints if none is named. */
  stop(named?: number | string): void {
    const state = this.settled;
    const stopped = named === undefined ? [...state.endpointGroups.values()] : [endpointNamed(state, named)];
    for (const endpoint of stopped) if (endpoint.load) this.#change(endpoint, null, 'the load is stopped');
  }

  /** At once: the clock may be moved next. */
  #change(endpoint: EndpointGroupRecord, load: EndpointGroupRecord['load'], text: string): void {
    endpoint.load = load;
    noteEvent(endpoint, text, this.world.now());
    void this.settled;
  }

  #view(endpoint: EndpointGroupRecord): EndpointLoadView {
    return loadView(endpoint, engineOf(this.world, endpoint));
  }
}

/** Each endpoint has one since the state was settled. */
function engineOf({ fleets }: World, { id }: EndpointGroupRecord): Engine {
  return fleets.of(id) as Engine;
}

function endpointNamed(state: State, named: number | string): EndpointGroupRecord {
  for (const endpoint of state.endpointGroups.values()) {
    if (endpoint.id === Number(named) || endpoint.parameters.endpoint_name === named) return endpoint;
  }
  throw new RangeError(`no endpoint group ${named}`);
}

/** A worker group and how far its log is. */
export type WorkerGroupView = Readonly<ReturnType<WorkerGroups['get']>>;

/** `emulator.workergroups.append(7, ['a line'])` */
export class WorkerGroups extends Inspection {
  get(id: number) {
    const { log } = this.#group(id);
    const nowMs = this.world.now();
    return {
      id,
      /** Finished lines written so far, also those that the service no longer has. */
      lineCount: lineCount(log, nowMs),
      /** Index of the first line that the service still has. */
      firstRetained: firstRetained(log, nowMs),
      linesPerSecond: growthRate(log),
    };
  }

  list(): WorkerGroupView[] {
    return [...this.settled.workerGroups.keys()].map((id) => this.get(id));
  }

  add(group: z.input<typeof workerGroupEntry>): void {
    const entry = workerGroupEntry.parse(group);
    const state = this.settled;
    state.workerGroups.set(entry.id, workerGroupOf(entry, this.beginning));
    for (const worker of entry.workers) state.workers.set(worker, newWorker(worker, entry.id));
  }

  remove(id: number): void {
    deleteWorkerGroup(this.settled, id, this.world.now());
  }

  /** Writes whole lines now. */
  append(id: number, lines: readonly string[]): void {
    appendLines(this.#group(id).log, lines, this.world.now());
  }

  /** Writes text as a process does; what follows the last line break stays unfinished. Needs a rate of 0. */
  write(id: number, text: string): void {
    writeText(this.#group(id).log, text, this.world.now());
  }

  /** Lines per second from now on; 0 stops the growth. */
  setRate(id: number, linesPerSecond: number): void {
    const group = this.#group(id);
    group.linesPerSecond = linesPerSecond;
    setGrowthRate(group.log, linesPerSecond, this.world.now());
  }

  /** The true log: lines `from` to `to` (excluded) by index, as far as they are retained. */
  lines(id: number, from = 0, to = Infinity): string[] {
    return linesBetween(this.#group(id).log, { from, to }, this.world.now());
  }

  /** Throws away what was written so far, as when a worker is replaced. */
  clear(id: number): void {
    clearLog(this.#group(id).log, this.world.now());
  }

  #group(id: number): WorkerGroupRecord {
    return existing(this.settled.workerGroups, id, 'worker group');
  }
}
