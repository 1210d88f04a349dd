/** Worker groups (public dialect): they make the workers of an endpoint. */
import * as z from 'zod';
import { PUBLIC_DIALECT, PUBLIC_WRITE, type OperationTable } from '../../define.ts';
import { isRecord } from '../../is-record.ts';
import { byId, id, memoryIn, success, workersDeleted } from '../../schemas.ts';
import { EXAMPLE_HASH } from '../templates.ts';
import { workerGroupListOperations } from './worker-group-list.ts';

const fields = z.strictObject({
  endpoint_name: z.string().min(1).optional().describe('of the endpoint that it serves; or endpoint_id'),
  endpoint_id: id.optional().describe('of the endpoint that it serves; or endpoint_name'),
  template_hash: z
    .string()
    .min(1)
    .optional()
    .describe('hash_id of the template of its workers; or template_id'),
  template_id: id.optional().describe('numeric id of the template of its workers; or template_hash'),
  search_params: z
    .union([z.string(), z.record(z.string(), z.unknown())])
    .optional()
    .describe('which machines will do, as text or an object'),
  launch_args: z.string().optional().describe('how its instances are rented, as command-line flags'),
  gpu_ram: memoryIn('GB').min(0).optional().describe('GB that its machines have at least'),
  test_workers: z.int().nonnegative().optional().describe('workers that it begins with, to measure them'),
  cold_workers: z
    .int()
    .nonnegative()
    .optional()
    .describe('workers kept cold when there is no load; the engine takes that of the endpoint'),
});
export type WorkerGroupRequest = z.output<typeof fields>;

/** The service may call the id `result` (evidence 4.12). */
const created = z.preprocess(
  (body) => (isRecord(body) && !('id' in body) && 'result' in body ? { ...body, id: body['result'] } : body),
  z.looseObject({ id: id.describe('the new worker group id') }),
);

const one = { params: byId('worker group').params, path: '/api/v0/workergroups/{id}/' } as const;

export const workerGroupOperations = {
  ...workerGroupListOperations,
  'workergroups.create': {
    ...PUBLIC_DIALECT,
    method: 'POST',
    path: '/api/v0/workergroups/',
    summary: 'Make a worker group for an endpoint',
    permission: 'instance_write',
    body: fields,
    response: created,
    errors: ['not_found'],
    publicSpacingMs: 2000,
    example: {
      input: {
        endpoint_name: 'chat',
        template_hash: EXAMPLE_HASH,
        search_params: 'gpu_ram>=24',
        test_workers: 1,
      },
      response: { success: true, id: 9 },
    },
  },
  'workergroups.update': {
    ...PUBLIC_WRITE,
    method: 'PUT',
    summary: 'Change a worker group; its workers stay as they are until they are updated',
    ...one,
    body: fields,
    response: success,
    otherWords: [{ says: /\bnot found\b/i, means: 'not-found' }],
    errors: ['no_such_workergroup', 'not_found'],
    publicSpacingMs: 2000,
    example: { input: { id: 7, test_workers: 2 }, response: { success: true } },
  },
  'workergroups.delete': {
    ...PUBLIC_WRITE,
    method: 'DELETE',
    summary: 'Delete a worker group with its workers',
    ...one,
    response: success.extend(workersDeleted),
    errors: ['no_such_workergroup'],
    publicSpacingMs: 3000,
    example: { input: { id: 7 }, response: { success: true, deleted_workers: [501], failed_workers: [] } },
  },
} as const satisfies OperationTable;
