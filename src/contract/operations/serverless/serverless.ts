import * as z from 'zod';
import { BEARER_ONLY, type OperationTable } from '../../define.ts';
import { deployment, deploymentAnswer } from './deployment.ts';
import { id, success, tail } from '../../schemas.ts';
import { logAnswer } from './log-answer.ts';

const EXAMPLE = {
  id: 42,
  name: 'square',
  tag: 'default',
  image: 'vllm/vllm-openai:latest',
  endpoint_state: 'active',
  ttl: 300,
  last_client_heartbeat: 1_790_000_000,
};

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
    response: success.extend({ deployment_id: id }),
    errors: ['not_found'],
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: { id: 42 }, response: { success: true, deployment_id: 42 } },
  },
  'deployments.list': {
    method: 'GET',
    path: '/api/v0/deployments',
    base: 'main',
    origin: 'public dialect',
    source: 'public dialect',
    summary: "The account's deployments, with names, TTLs and states",
    description: 'A deployment that was deleted or has expired is not among them.',
    verification: BEARER_ONLY,
    response: z.looseObject({ deployments: z.array(deployment) }),
    errors: [],
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: {}, response: { success: true, deployments: [EXAMPLE] } },
  },
  'deployments.get': {
    method: 'GET',
    path: '/api/v0/deployment/{id}/',
    base: 'main',
    origin: 'public dialect',
    source: 'public dialect',
    summary: 'A deployment, with its TTL and last client heartbeat',
    description: 'Read wrapped, as shown, and flat alike.',
    verification: BEARER_ONLY,
    params: z.strictObject({ id: id.describe('deployment id') }),
    response: deploymentAnswer,
    errors: ['not_found'],
    repeatable: true,
    publicSpacingMs: 2000,
    example: { input: { id: 42 }, response: { success: true, deployment: EXAMPLE } },
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
      tail: tail.describe('how many of the most recent log units to return'),
    }),
    response: logAnswer,
    errors: ['not_found'],
    repeatable: true,
    example: { input: { id: 7, tail: 200 }, response: { logs: 'model loaded\nready\n' } },
  },
} as const satisfies OperationTable;
