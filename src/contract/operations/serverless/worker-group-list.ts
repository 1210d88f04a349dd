/** The list of worker groups (public dialect), loaded without the other operations. */
import * as z from 'zod';
import { PUBLIC_READ, type OperationTable } from '../../define.ts';
import { id, timestamp } from '../../schemas.ts';

const workerGroup = z.looseObject({
  id,
  endpoint_id: id.nullish(),
  endpoint_name: z.string().nullish(),
  template_hash: z.string().nullish(),
  template_id: id.nullish(),
  search_query: z.unknown().optional().describe('which machines will do, as an object or as text'),
  launch_args: z.string().nullish(),
  gpu_ram: z.number().nullish().describe('GB'),
  test_workers: z.number().nullish(),
  api_key: z.string().meta({ format: 'password' }).nullish().describe("the endpoint's own"),
  created_at: timestamp.nullish(),
});
export type WorkerGroup = z.output<typeof workerGroup>;

export const workerGroupListOperations = {
  'workergroups.list': {
    ...PUBLIC_READ,
    path: '/api/v0/workergroups/',
    summary: 'List the worker groups of the account',
    response: z.looseObject({ results: z.array(workerGroup) }),
    publicSpacingMs: 2000,
    example: { input: {}, response: { success: true, results: [{ id: 7, endpoint_id: 31 }] } },
  },
} as const satisfies OperationTable;
