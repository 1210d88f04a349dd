/** Worker groups, pure: made for an endpoint, with their first workers; deleted with all that they have. */
import { createGroupLog } from '../worker-log/group-log.ts';
import type { EndpointGroupRecord } from '../state/endpoints/endpoint-groups.ts';
import { nextId } from '../state/next-id.ts';
import type { State } from '../state/state.ts';
import type { TemplateRecord } from '../state/templates.ts';
import type { WorkerGroupRecord, WorkerGroupTraits } from '../state/endpoints/worker-groups.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import { noteEvent } from '../fleet/events.ts';
import { destroyWorkers, recruitWorker, workersOf } from '../fleet/workers.ts';

export const DEFAULT_IMAGE = 'vllm/vllm-openai:latest';

export const NO_TRAITS: WorkerGroupTraits = {
  templateHash: null,
  templateId: null,
  searchQuery: null,
  launchArgs: null,
  gpuRam: null,
  testWorkers: null,
  coldWorkers: null,
};

export function groupsOf(state: State, endpointId: number): WorkerGroupRecord[] {
  return [...state.workerGroups.values()].filter((group) => group.endpointId === endpointId);
}

/** Its first workers come at once, as far as the endpoint is active and its `max_workers` allows. */
export function createWorkerGroup(
  state: State,
  endpoint: EndpointGroupRecord,
  { image, ...traits }: Partial<WorkerGroupTraits> & { readonly image: string },
  nowMs: number,
): WorkerGroupRecord {
  const { settings } = state;
  const { userId } = endpoint;
  const id = nextId(state, 'worker group', state.workerGroups.keys());
  const group: WorkerGroupRecord = {
    id,
    userId,
    endpointId: endpoint.id,
    createdMs: nowMs,
    traits: { ...NO_TRAITS, ...traits },
    image,
    linesPerSecond: settings.logLinesPerSecond,
    log: createGroupLog({
      source: { kind: 'generated', seed: id + settings.randomSeed },
      linesPerSecond: settings.logLinesPerSecond,
      retainedLines: settings.logRetainedLines,
      sinceMs: nowMs,
    }),
  };
  state.workerGroups.set(id, group);
  noteEvent(endpoint, `worker group ${id} is there`, nowMs);
  const room = roomFor(state, endpoint);
  const count = Math.min(room, traits.testWorkers ?? settings.workersRecruited);
  const recruited = Array.from({ length: count }, () => recruitWorker(state, group, nowMs));
  if (count > 0) {
    const ids = recruited.map((worker) => worker.id).join(', ');
    noteEvent(endpoint, `recruited ${count} for worker group ${id}, to measure them: ${ids}`, nowMs);
  }
  return group;
}

/** How many more workers the endpoint may have. */
function roomFor(state: State, endpoint: EndpointGroupRecord): number {
  if (endpoint.state !== 'active') return 0;
  const present = groupsOf(state, endpoint.id).flatMap(({ id }) => workersOf(state, id)).length;
  return Math.max(0, resolveDefaults(endpoint.parameters).max_workers - present);
}

/** Returns the ids of the workers that went with it. */
export function deleteWorkerGroup(state: State, id: number): number[] {
  const workers = workersOf(state, id);
  destroyWorkers(state, workers);
  state.workerGroups.delete(id);
  return workers.map((worker) => worker.id);
}

/** What the workers of a template run; without one, what `launch_args` say is not read. */
export function workerImage(template: TemplateRecord | undefined): string {
  if (!template) return DEFAULT_IMAGE;
  const { image, tag } = template.content;
  return `${image}:${tag ?? template.defaultTag}`;
}
