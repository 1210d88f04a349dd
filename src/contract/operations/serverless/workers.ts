/** Endpoints and workers at the serverless address (public dialect). */
import * as z from 'zod';
import { PUBLIC_DIALECT, type OperationTable } from '../../define.ts';
import { LIMITS } from '../../limits.ts';
import { logAnswer } from './serverless.ts';
import { id, tail, timestamp } from '../../schemas.ts';

/** The last four are undocumented; others may come, in either case. */
export const WORKER_STATUSES = [
  'pending',
  'creating',
  'created',
  'loading',
  'model_loading',
  'starting',
  'idle',
  'stopping',
  'stopped',
  'rebooting',
  'update_ready',
  'update_rebooting',
  'update_starting',
  'error',
  'destroying',
  'ready',
  'running',
  'offline',
  'exited',
] as const;

const rate = z.number().nullish();

const worker = z.looseObject({
  id: id.describe('of its instance'),
  status: z.string().nullish().describe(WORKER_STATUSES.join(', ')),
  ready_ever: z.boolean().nullish(),
  cur_load: rate.describe('work in flight, in units; of workers built before November 2025, units a second'),
  new_load: rate.describe('units that it received since its last report'),
  cur_load_rolling_avg: rate,
  cur_perf: rate.describe('units that it served since its last report'),
  perf: rate.describe('work that it is taken to be able to do'),
  measured_perf: rate.describe('from its own benchmark; a guess until it has been idle once'),
  dlperf: z.number().nullish(),
  reliability: z.number().nullish().describe('a fraction'),
  reqs_working: z.number().nullish().describe('requests in it'),
  disk_usage: z.number().nullish().describe('GB'),
  loaded_at: timestamp.nullish().describe('0: never'),
  started_at: timestamp.nullish().describe('0: never'),
  gpu_name: z.string().nullish(),
  url: z.string().nullish(),
});
export type Worker = z.output<typeof worker>;

/** A bare list is read as if it were wrapped. */
const workersAnswer = z.preprocess(
  (body) => (Array.isArray(body) ? { workers: body as unknown[] } : body),
  z.looseObject({ workers: z.array(worker) }),
);

/** A signed place, or why there is none yet. */
const routeAnswer = z.looseObject({
  request_idx: z.int().nullish(),
  endpoint: z.string().nullish(),
  status: z.string().nullish().describe('why no worker takes it yet'),
  url: z.string().nullish().describe('of the worker; absent: ask again with this request_idx'),
  reqnum: z.int().nullish(),
  cost: z.number().nullish(),
  signature: z.string().nullish().describe('base64 of RSA PKCS#1 v1.5 with SHA-256 over {"url": …}'),
});

const shared = {
  ...PUBLIC_DIALECT,
  method: 'POST',
  base: 'serverless',
  errors: ['not_found'],
} as const;

const EXAMPLE = { id: 501, status: 'idle', cur_load: 0, perf: 1000, reqs_working: 0 };

export const endpointWorkerOperations = {
  'endpointGroups.logs': {
    ...shared,
    path: '/get_endpoint_logs/',
    summary: 'Show what the engine decided for an endpoint, and why',
    body: z.strictObject({
      id: id.describe('endpoint group id'),
      tail: tail.optional().describe(`how many of the most recent log units; default ${LIMITS.logTailMax}`),
    }),
    response: logAnswer,
    repeatable: true,
    example: { input: { id: 31, tail: 100 }, response: { info0: '', info1: '', trace: '', debug: '' } },
  },
  'endpointGroups.workers': {
    ...shared,
    path: '/get_endpoint_workers/',
    summary: 'List the workers of an endpoint, with their statuses, loads and performances',
    description: 'A list is read as {workers: list}.',
    body: z.strictObject({ id: id.describe('endpoint group id') }),
    response: workersAnswer,
    repeatable: true,
    example: { input: { id: 31 }, response: { workers: [EXAMPLE] } },
  },
  'endpointGroups.route': {
    ...shared,
    path: '/route/',
    summary: 'Ask for a worker that has room for a request',
    body: z.strictObject({
      endpoint: z.string().min(1).describe('endpoint name'),
      cost: z.number().nonnegative().describe('work units that the request will cost'),
      request_idx: z
        .int()
        .nonnegative()
        .optional()
        .describe('absent or 0 at first, then that of the last answer'),
      replay_timeout: z
        .number()
        .nonnegative()
        .optional()
        .describe('seconds for which the answer may be used'),
    }),
    response: routeAnswer,
    // Not repeatable: asked twice without its request_idx, it is two requests.
    example: {
      input: { endpoint: 'chat', cost: 100, request_idx: 0, replay_timeout: 60 },
      response: { request_idx: 1, endpoint: 'chat', status: 'no worker is ready' },
    },
  },
} as const satisfies OperationTable;

export const groupWorkerOperations = {
  'workergroups.workers': {
    ...shared,
    path: '/get_workergroup_workers/',
    summary: 'List the workers of a worker group, with their statuses, loads and performances',
    body: z.strictObject({ id: id.describe('worker group id') }),
    response: workersAnswer,
    repeatable: true,
    example: { input: { id: 7 }, response: { workers: [EXAMPLE] } },
  },
  'workergroups.updateWorkers': {
    ...shared,
    path: '/update_workers/',
    summary: 'Update the ready workers of a worker group one after the other, or stop doing so',
    permission: 'instance_write',
    body: z.strictObject({
      workergroup_id: id.describe('worker group id'),
      cancel_update: z.boolean().optional().describe('those whose turn has not come stay as they are'),
    }),
    response: z.looseObject({
      workers_to_update: z.unknown().optional().describe('how many'),
      cancelled: z.unknown().optional().describe('true'),
    }),
    example: { input: { workergroup_id: 7 }, response: { success: true, workers_to_update: 1 } },
  },
} as const satisfies OperationTable;
