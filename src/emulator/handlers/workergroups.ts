/** Worker groups (§2.7), their workers, and what the service answers of logs. */
import { isRecord } from '../../contract/is-record.ts';
import type { WorkerGroup } from '../../contract/operations/serverless/worker-group-list.ts';
import type { WorkerGroupRequest } from '../../contract/operations/serverless/worker-groups.ts';
import type { Worker } from '../../contract/operations/serverless/workers.ts';
import { OPERATOR_SIGNS } from '../../contract/schemas.ts';
import { resolveDefaults } from '../../scaling/rules/check.ts';
import { badRequest, notFound } from '../answer.ts';
import type { Engine } from '../fleet/engine.ts';
import { noteEvent } from '../fleet/story.ts';
import {
  cancelRoll,
  deleteInstance,
  NO_LOAD,
  recruitWorker,
  rollWorkers,
  workersOf,
  workerView,
} from '../fleet/workers.ts';
import {
  NO_TRAITS,
  type EndpointGroupRecord,
  type EndpointLogs,
  type GroupLog,
  type WorkerGroupRecord,
  type WorkerGroupTraits,
  type WorkerRecord,
} from '../state/serverless.ts';
import { endpointNamed, nextId, referred, type State, type TemplateRecord } from '../state/state.ts';
import { createGroupLog, firstRetained, lineCount, linesBetween } from '../state/worker-log.ts';
import { defined, ownOf, type HandlerContext, type HandlersOf } from './define.ts';
import { findTemplate, visibleTo } from './templates.ts';

export const workerGroupHandlers: HandlersOf<'workergroups'> = {
  'workergroups.logs': ({ id, tail }, context) => {
    const { log } = ownGroup(id, context, 'not_found');
    return answerLog({ info0: log, info1: log }, tail, context);
  },

  'workergroups.list': (_, context) => ({
    results: ownOf(context.state.workerGroups, context).map((group) => shownGroup(group, context)),
  }),

  'workergroups.create': (request, context) => {
    const endpoint = namedEndpoint(request, context);
    if (!endpoint) throw badRequest('endpoint_name', 'needed, or endpoint_id');
    const template = namedTemplate(request, context);
    if (!template && request.launch_args === undefined)
      throw badRequest('template_hash', 'needed, or template_id, or an image in launch_args');
    const traits = { ...traitsOf(request, template), image: workerImage(template) };
    return { id: createWorkerGroup(context.state, endpoint, traits, context.nowMs).id };
  },

  /** Omitted fields stay. */
  'workergroups.update': ({ id, ...request }, context) => {
    const group = ownGroup(id, context, 'no_such_workergroup');
    const endpoint = namedEndpoint(request, context);
    const traits = traitsOf(request, namedTemplate(request, context));
    group.endpointId = endpoint?.id ?? group.endpointId;
    group.traits = { ...group.traits, ...traits };
    return { success: true };
  },

  'workergroups.delete': ({ id }, context) => {
    const { state, nowMs } = context;
    const { endpointId } = ownGroup(id, context, 'no_such_workergroup');
    const endpoint = referred(state.endpointGroups, endpointId);
    const isManaged = endpoint !== undefined && endpoint.deploymentId !== null;
    const workers = isManaged ? deleteManaged(state, endpoint, nowMs) : deleteWorkerGroup(state, id, nowMs);
    if (endpoint) noteEvent(endpoint, `worker group ${id} is deleted, with ${workers.length} workers`, nowMs);
    return { success: true, deleted_workers: workers, failed_workers: [], msg: `deleted worker group ${id}` };
  },

  'workergroups.workers': ({ id }, context) => {
    const { state, fleets } = context;
    const workers = workersOf(state, ownGroup(id, context, 'not_found').id);
    return { workers: shownWorkers(workers, fleets.ofGroup(state, id), context) };
  },

  'workergroups.updateWorkers': ({ workergroup_id: id, cancel_update: cancels }, context) => {
    const { state, nowMs } = context;
    const workers = workersOf(state, ownGroup(id, context, 'not_found').id);
    if (!cancels) return { workers_to_update: rollWorkers(state, workers, nowMs).length };
    cancelRoll(workers, nowMs);
    return { cancelled: true };
  },
};

function ownGroup(id: number, { state, user }: HandlerContext, code: 'not_found' | 'no_such_workergroup') {
  const group = state.workerGroups.get(id);
  if (group?.userId === user.id) return group;
  throw notFound(`worker group ${id}`, 'id', code);
}

function namedEndpoint(
  { endpoint_id: id, endpoint_name: name }: WorkerGroupRequest,
  { state, user }: HandlerContext,
): EndpointGroupRecord | undefined {
  if (id === undefined && name === undefined) return undefined;
  const found = id === undefined ? endpointNamed(state, name, user.id) : state.endpointGroups.get(id);
  if (found?.userId === user.id) return found;
  throw notFound(`endpoint ${id ?? name}`, id === undefined ? 'endpoint_name' : 'endpoint_id');
}

function namedTemplate(
  { template_hash: hash, template_id: id }: WorkerGroupRequest,
  { state, user }: HandlerContext,
): TemplateRecord | undefined {
  if (hash === undefined && id === undefined) return undefined;
  const byId = id === undefined ? undefined : state.templates.get(id);
  const found = hash === undefined ? byId : findTemplate(state, hash, user.id);
  if (found && visibleTo(found, user.id)) return found;
  throw notFound(`template ${hash ?? id}`, hash === undefined ? 'template_id' : 'template_hash');
}

function traitsOf(request: WorkerGroupRequest, template: TemplateRecord | undefined) {
  const { search_params: search, launch_args, gpu_ram, test_workers, cold_workers } = request;
  const search_query = search === undefined ? undefined : searchFilters(search);
  const named = { template_id: template?.id, template_hash: template?.hash_id };
  return defined({ ...named, search_query, launch_args, gpu_ram, test_workers, cold_workers });
}

const CONDITION = /([\w.]+)\s*(>=|<=|!=|==|=|>|<|\bnotin\b|\bin\b)\s*(\[[^\]]*\]|"[^"]*"|\S+)/g;

/** Filters as `{<field>: {<operator>: <value>}}`; null without any. */
export function searchFilters(params: unknown): Record<string, unknown> | null {
  if (isRecord(params)) return params;
  if (typeof params !== 'string') return null;
  const filters: Record<string, Record<string, unknown>> = {};
  for (const [, field = '', sign = '', text = ''] of params.matchAll(CONDITION)) {
    const items = text.startsWith('[') ? text.slice(1, -1).split(',') : [text];
    const [value, ...more] = items.map((item) => searchValue(item.trim().replaceAll('"', '')));
    const isList = sign === 'in' || sign === 'notin';
    filters[field] = {
      ...filters[field],
      [OPERATOR_SIGNS[sign] ?? sign]: isList ? [value, ...more] : value,
    };
  }
  return filters;
}

function searchValue(text: string): string | number | boolean {
  if (text === 'true' || text === 'false') return text === 'true';
  return text !== '' && Number.isFinite(Number(text)) ? Number(text) : text;
}

function shownGroup(group: WorkerGroupRecord, { state }: HandlerContext): WorkerGroup {
  const { id, userId, endpointId, createdMs, traits } = group;
  const endpoint = referred(state.endpointGroups, endpointId);
  const { endpoint_name, min_load, target_util, cold_mult } = resolveDefaults(endpoint?.parameters ?? {});
  return {
    id,
    user_id: userId,
    endpoint_id: endpointId,
    endpoint_name: endpoint_name ?? null,
    ...traits,
    min_load,
    target_util,
    cold_mult,
    api_key: endpoint?.apiKey ?? null,
    created_at: createdMs / 1000,
  };
}

export function shownWorkers(
  workers: readonly WorkerRecord[],
  engine: Engine | undefined,
  { state, nowMs, origin }: HandlerContext,
): Worker[] {
  return workers.map((worker) =>
    workerView(worker, state, nowMs, { origin, load: engine?.loadOf(worker) ?? NO_LOAD }),
  );
}

export function groupsOf(state: State, endpointId: number): WorkerGroupRecord[] {
  return [...state.workerGroups.values()].filter((group) => group.endpointId === endpointId);
}

export const DEFAULT_IMAGE = 'vllm/vllm-openai:latest';

/** `launch_args` are not read. */
function workerImage(template: TemplateRecord | undefined): string {
  if (!template) return DEFAULT_IMAGE;
  const { image, tag } = template.content;
  return `${image}:${tag ?? template.default_tag}`;
}

type NewWorkerGroup = Omit<WorkerGroupRecord, 'traits' | 'linesPerSecond' | 'log'>;

export function newWorkerGroup(
  group: NewWorkerGroup,
  log: Parameters<typeof createGroupLog>[0],
  traits: Partial<WorkerGroupTraits> = {},
): WorkerGroupRecord {
  const { linesPerSecond } = log;
  return { ...group, traits: { ...NO_TRAITS, ...traits }, linesPerSecond, log: createGroupLog(log) };
}

/** First workers come at once, if the endpoint is active and `max_workers` allows. */
export function createWorkerGroup(
  state: State,
  endpoint: EndpointGroupRecord,
  { image, ...traits }: Partial<WorkerGroupTraits> & { readonly image: string },
  nowMs: number,
): WorkerGroupRecord {
  const { settings } = state;
  const id = nextId(state, 'worker group', state.workerGroups.keys());
  const group = newWorkerGroup(
    { id, userId: endpoint.userId, endpointId: endpoint.id, createdMs: nowMs, image },
    {
      source: { kind: 'generated', seed: id + settings.randomSeed },
      linesPerSecond: settings.logLinesPerSecond,
      retainedLines: settings.logRetainedLines,
      sinceMs: nowMs,
    },
    traits,
  );
  state.workerGroups.set(id, group);
  noteEvent(endpoint, `worker group ${id} is there`, nowMs);
  const present = groupsOf(state, endpoint.id).flatMap((one) => workersOf(state, one.id)).length;
  const most = endpoint.state === 'active' ? resolveDefaults(endpoint.parameters).max_workers : 0;
  const wanted = traits.test_workers ?? settings.workersRecruited;
  const count = Math.max(0, Math.min(most - present, wanted));
  const recruited = Array.from({ length: count }, () => recruitWorker(state, group, nowMs));
  if (count > 0) {
    const ids = recruited.map((worker) => worker.id).join(', ');
    noteEvent(endpoint, `recruited ${count} for worker group ${id}, to measure them: ${ids}`, nowMs);
  }
  return group;
}

export function deleteWorkerGroup(state: State, id: number, nowMs: number): number[] {
  const ids = workersOf(state, id).map((worker) => worker.id);
  for (const worker of ids) deleteInstance(state, worker, nowMs);
  state.workerGroups.delete(id);
  return ids;
}

export function deleteEndpoint(state: State, endpoint: EndpointGroupRecord, nowMs: number): number[] {
  const workers = groupsOf(state, endpoint.id).flatMap(({ id }) => deleteWorkerGroup(state, id, nowMs));
  state.endpointGroups.delete(endpoint.id);
  return workers;
}

export function deleteManaged(state: State, endpoint: EndpointGroupRecord, nowMs: number): number[] {
  if (endpoint.deploymentId !== null) state.deployments.delete(endpoint.deploymentId);
  return deleteEndpoint(state, endpoint, nowMs);
}

interface LevelFile {
  readonly log: GroupLog;
  readonly level: keyof EndpointLogs;
}

type LogAnswerContext = Pick<HandlerContext, 'state' | 'nowMs'>;

/** `tail` for all bytes of a file. */
const ALL = -1;
/** Lines read at once, from the end upwards. */
const PIECE = 256;

/** `info0` holds everything: it is the answer without levels. @throws Refused bad_request */
export function answerLog(logs: Partial<EndpointLogs>, tail: number, context: LogAnswerContext) {
  const { tail_unit: unit, log_shape: shape } = context.state.traits;
  if (tail < (unit === 'bytes' ? ALL : 1) || tail === 0)
    throw badRequest('tail', unit === 'bytes' ? 'from 1, or -1 for all' : 'from 1');
  const text = (level: keyof EndpointLogs): string => {
    const log = logs[level];
    return log === undefined ? '' : endOf({ log, level }, tail, context);
  };
  if (shape === 'text') return { logs: text('info0') };
  return { info0: text('info0'), info1: text('info1'), trace: text('trace'), debug: text('debug') };
}

function endOf(file: LevelFile, tail: number, context: LogAnswerContext): string {
  const { state, nowMs } = context;
  const first = firstOfFile(file, context);
  const [end, last] = [lineCount(file.log, nowMs), file.log.unfinished];
  if (state.traits.tail_unit === 'lines') {
    const lines = Math.min(tail, state.settings.logTailMax) - Number(last !== '');
    return textOf(file, Math.max(first, end - lines), end, context) + last;
  }
  const most = tail === ALL ? Infinity : tail;
  const pieces = [last];
  let bytes = Buffer.byteLength(last);
  for (let to = end; to > first && bytes < most; to -= PIECE) {
    const piece = textOf(file, Math.max(first, to - PIECE), to, context);
    pieces.unshift(piece);
    bytes += Buffer.byteLength(piece);
  }
  const text = pieces.join('');
  // A character cut in half becomes a replacement character, as in the service.
  return bytes <= most ? text : Buffer.from(text).subarray(-most).toString();
}

function textOf(file: LevelFile, from: number, to: number, context: LogAnswerContext): string {
  return linesOf(file, from, to, context)
    .map((line) => `${line}\n`)
    .join('');
}

function linesOf({ log, level }: LevelFile, from: number, to: number, context: LogAnswerContext): string[] {
  const lines = linesBetween(log, { from, to }, context.nowMs);
  // Redrawn lines, such as progress bars, show their last state.
  return level === 'info1' ? lines.map((line) => line.replace(/^[^]*\r(?=[^])/, '')) : lines;
}

/** Index of the first line in the file. A line that does not fit starts a new file. */
function firstOfFile(file: LevelFile, context: LogAnswerContext): number {
  const { state, nowMs } = context;
  const { log, level } = file;
  const retained = firstRetained(log, nowMs);
  const most = state.traits.log_file_bytes;
  if (most === 'unlimited') return retained;
  const counted = (log.files[level] ??= { first: retained, end: retained, bytes: 0 });
  if (counted.first < log.clearedBefore)
    Object.assign(counted, { first: log.clearedBefore, end: log.clearedBefore, bytes: 0 });
  let index = Math.max(counted.end, retained);
  for (const line of linesOf(file, index, Infinity, context)) {
    const bytes = Buffer.byteLength(line) + 1;
    if (counted.bytes + bytes > most) Object.assign(counted, { first: index, bytes: 0 });
    counted.bytes += bytes;
    index += 1;
  }
  counted.end = index;
  return Math.max(counted.first, retained);
}
