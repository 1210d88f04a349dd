/** Making and changing deployments (public dialect); the heart does not load this. */
import * as z from 'zod';
import { PUBLIC_READ, PUBLIC_WRITE, type OperationTable } from '../../define.ts';
import { byId, id, mayHoldSecrets, secretText, success, timestamp } from '../../schemas.ts';
import { DEFAULT_TAG } from './serverless.ts';
import { endpointGroupParameters } from './endpoint-groups.ts';

const deploymentVersion = z.looseObject({
  id: z.union([z.int(), z.string()]),
  version_label: z.string().nullish(),
  image: z.string().nullish(),
  file_hash: z.string().nullish(),
  file_size: z.number().nullish().describe('bytes'),
  created_at: timestamp.nullish(),
  last_used_at: timestamp.nullish().describe('when it was last put in force'),
});
export type DeploymentVersion = z.output<typeof deploymentVersion>;

const one = byId('deployment');

const deployBody = z.strictObject({
  name: z.string().min(1).describe('deployment name'),
  image: z.string().min(1).describe('container image that runs it'),
  file_hash: z.string().min(1).describe('hash of its code: another one makes a new version'),
  file_size: z.int().nonnegative().describe('size of the archive with its code, in bytes'),
  tag: z.string().min(1).optional().describe(`which of several of this name; absent: ${DEFAULT_TAG}`),
  env: mayHoldSecrets(z.unknown()).optional().describe('environment of its workers'),
  search_params: z.unknown().optional().describe('which machines will do, as text or an object'),
  storage: z.unknown().optional().describe('GB, or as an object'),
  ttl: z
    .number()
    .refine((seconds) => seconds !== 0, 'more than 0; or negative: it never expires')
    .optional()
    .describe(
      'seconds without a heartbeat after which it expires; absent or negative: it lives until it is deleted',
    ),
  version_label: z.string().optional().describe('a name of your own for the version'),
  docker_login_user: z.string().optional().describe('registry user'),
  docker_login_pass: secretText.optional().describe('registry access token'),
  docker_login_repo: z.string().optional().describe('private registry'),
  ...endpointGroupParameters.shape,
});
export type DeployRequest = z.output<typeof deployBody>;

const stateAnswer = z.looseObject({ endpoint_state: z.string().nullish() });

export const deployOperations = {
  'deployments.versions': {
    ...PUBLIC_READ,
    ...one,
    path: '/api/v0/deployment/{id}/versions/',
    summary: 'List the versions of a deployment that are kept, newest first',
    response: z.looseObject({ versions: z.array(deploymentVersion) }),
    example: {
      input: { id: 42 },
      response: { success: true, versions: [{ id: 42, image: 'vllm/vllm-openai:latest' }] },
    },
  },
  'deployments.create': {
    ...PUBLIC_WRITE,
    method: 'PUT',
    path: '/api/v0/deployments/',
    summary: 'Make a deployment, or bring the one of this name and tag up to date',
    description:
      'Where the answer has upload_url and upload_fields, the archive is to be posted there as multipart, after those fields.',
    body: deployBody,
    response: z.looseObject({
      // `soft_update`: another version. `autoscale_update`: only other parameters. `exists`: nothing changed.
      action: z.string().optional().describe('created, soft_update, autoscale_update, exists'),
      deployment_id: id,
      endpoint_id: id.nullish(),
      workergroup_id: id.nullish(),
      upload_url: z.string().nullish(),
      upload_fields: z.record(z.string(), z.unknown()).nullish(),
      evicted_versions: z.array(z.unknown()).nullish().describe('versions that are no longer kept'),
    }),
    example: {
      input: {
        name: 'circle',
        image: 'vllm/vllm-openai:latest',
        file_hash: '9f86d081',
        file_size: 1024,
        ttl: 300,
      },
      response: { success: true, action: 'created', deployment_id: 44, endpoint_id: 32, workergroup_id: 9 },
    },
  },
  'deployments.stop': {
    ...PUBLIC_WRITE,
    ...one,
    method: 'POST',
    path: '/api/v0/deployment/{id}/stop/',
    summary: 'Stop the workers of a deployment; its TTL goes on',
    response: stateAnswer,
    example: { input: { id: 42 }, response: { success: true, endpoint_state: 'stopped' } },
  },
  'deployments.start': {
    ...PUBLIC_WRITE,
    ...one,
    method: 'POST',
    path: '/api/v0/deployment/{id}/start/',
    summary: 'Start the workers of a stopped deployment',
    response: stateAnswer,
    example: { input: { id: 42 }, response: { success: true, endpoint_state: 'active' } },
  },
  'deployments.delete': {
    ...PUBLIC_WRITE,
    ...one,
    method: 'DELETE',
    path: '/api/v0/deployment/{id}/',
    summary: 'Delete a deployment with its endpoint, worker group and workers',
    response: success,
    example: { input: { id: 42 }, response: { success: true } },
  },
  'deployments.deleteByName': {
    ...PUBLIC_WRITE,
    errors: ['not_found'],
    method: 'DELETE',
    path: '/api/v0/deployments/',
    summary: 'Delete the deployments of a name, or only the one with this tag',
    body: z.strictObject({
      name: z.string().min(1).describe('deployment name'),
      tag: z.string().min(1).optional().describe('absent: all tags'),
    }),
    response: success.extend({ count: z.int().nonnegative().optional().describe('how many were deleted') }),
    example: { input: { name: 'square', tag: 'blue' }, response: { success: true, count: 1 } },
  },
} as const satisfies OperationTable;
