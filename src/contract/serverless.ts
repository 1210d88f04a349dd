import * as z from 'zod';
import { BEARER_ONLY, type OperationTable } from './define.ts';
import { id, timestamp } from './schemas.ts';

export const serverlessOperations = {
  'deployments.heartbeat': {
    method: 'POST',
    path: '/api/v0/deployment/{id}/heartbeat',
    base: 'main',
    origin: 'interface',
    source: '§4.6',
    summary: "Refreshes a deployment's heartbeat, so that its TTL does not expire",
    verification: BEARER_ONLY,
    permission: 'instance_write',
    params: z.strictObject({ id: id.describe('deployment id') }),
    response: z.looseObject({ success: z.boolean(), deployment_id: id }),
    errors: ['not_found'],
    repeatable: true,
    example: { input: { id: 42 }, response: { success: true, deployment_id: 42 } },
  },
  'deployments.get': {
    method: 'GET',
    path: '/api/v0/deployment/{id}/',
    base: 'main',
    origin: 'public dialect',
    source: 'public dialect',
    summary: 'A deployment, with its TTL and last client heartbeat',
    verification: BEARER_ONLY,
    params: z.strictObject({ id: id.describe('deployment id') }),
    response: z.looseObject({
      id: id.optional(),
      ttl: z.number().nullish().describe('seconds without a heartbeat after which the deployment expires'),
      last_client_heartbeat: timestamp.nullish(),
    }),
    errors: ['not_found'],
    repeatable: true,
    example: { input: { id: 42 }, response: { id: 42, ttl: 300, last_client_heartbeat: 1_790_000_000 } },
  },
  'workergroups.logs': {
    method: 'POST',
    path: '/get_workergroup_logs',
    base: 'serverless',
    origin: 'interface',
    source: '§4.6',
    summary: "The end of a worker group's log",
    verification: BEARER_ONLY,
    keyInBody: 'api_key',
    body: z.strictObject({
      id: id.describe('worker group id'),
      tail: z.int().positive().describe('how many of the most recent log units to return'),
    }),
    // A map of levels (info0, info1, trace, debug) is what older addresses of the public service answer.
    response: z.union([
      z.looseObject({ logs: z.string().nullish() }),
      z.looseObject({ info0: z.string().nullish() }),
    ]),
    errors: ['not_found'],
    repeatable: true,
    example: { input: { id: 7, tail: 200 }, response: { logs: 'model loaded\nready\n' } },
  },
} as const satisfies OperationTable;
