/** What keeps a deployment alive, which the heart loads; the interface has only the id of a deployment. */
import * as z from 'zod';
import { id, timestamp, byId, success, tail } from '../../schemas.ts';
import { INTERFACE, PUBLIC_READ, type OperationTable } from '../../define.ts';

export const DEFAULT_TAG = 'default';

export const deployment = z.looseObject({
  id,
  name: z.string().nullish(),
  tag: z.string().nullish().describe(`absent: ${DEFAULT_TAG}`),
  image: z.string().nullish(),
  file_hash: z.string().nullish(),
  current_version_id: z.union([z.int(), z.string()]).nullish(),
  last_healthy_version_id: z.union([z.int(), z.string()]).nullish(),
  s3_key: z.string().nullish(),
  env: z.unknown().optional(),
  storage: z.unknown().optional(),
  search_params: z.unknown().optional(),
  endpoint_id: id.nullish(),
  endpoint_state: z.string().nullish().describe('active, suspended, stopped, or a newer one'),
  worker_count: z.number().nullish(),
  ttl: z
    .number()
    .nullish()
    .describe('seconds without a heartbeat after which it expires; null: it lives until it is deleted'),
  last_client_heartbeat: timestamp.nullish(),
  created_at: timestamp.nullish(),
  updated_at: timestamp.nullish(),
});
export type Deployment = z.output<typeof deployment>;

const EXAMPLE = {
  id: 42,
  name: 'square',
  tag: 'default',
  image: 'vllm/vllm-openai:latest',
  endpoint_state: 'active',
  ttl: 300,
  last_client_heartbeat: 1_790_000_000,
};

/** One text, as the interface says, or a text for each level (public dialect). */
export const logAnswer = z.looseObject({
  logs: z.string().nullish(),
  info0: z.string().nullish(),
  info1: z.string().nullish(),
  trace: z.string().nullish(),
  debug: z.string().nullish(),
});

export const serverlessOperations = {
  'deployments.heartbeat': {
    ...INTERFACE,
    method: 'POST',
    path: '/api/v0/deployment/{id}/heartbeat',
    source: '§4.6',
    summary: "Refresh a deployment's heartbeat, so that its TTL does not expire",
    permission: 'instance_write',
    ...byId('deployment'),
    response: success.extend({ deployment_id: id }),
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: { id: 42 }, response: { success: true, deployment_id: 42 } },
  },
  'deployments.list': {
    ...PUBLIC_READ,
    path: '/api/v0/deployments',
    summary: "List the account's deployments, with names, TTLs and states",
    description: 'A deployment that was deleted or has expired is not among them.',
    response: z.looseObject({ deployments: z.array(deployment) }),
    publicSpacingMs: 2000,
    example: { input: {}, response: { success: true, deployments: [EXAMPLE] } },
  },
  'deployments.get': {
    ...PUBLIC_READ,
    path: '/api/v0/deployment/{id}/',
    summary: 'Show a deployment, with its TTL and last client heartbeat',
    ...byId('deployment'),
    response: z.looseObject({
      deployment: deployment
        .partial({ id: true })
        .refine((row) => 'id' in row || 'ttl' in row, 'neither id nor ttl'),
    }),
    publicSpacingMs: 2000,
    example: { input: { id: 42 }, response: { success: true, deployment: EXAMPLE } },
  },
  'workergroups.logs': {
    ...INTERFACE,
    base: 'serverless',
    method: 'POST',
    path: '/get_workergroup_logs',
    source: '§4.6',
    summary: "Show the end of a worker group's log",
    keyInBody: 'api_key',
    body: z.strictObject({
      id: id.describe('worker group id'),
      tail: tail.describe('how many of the most recent log units to return'),
    }),
    response: logAnswer,
    errors: ['not_found'],
    repeatable: true,
    example: { input: { id: 7, tail: 200 }, response: { logs: 'model loaded\nready\n' } },
  },
} as const satisfies OperationTable;
