/** Instances as lists show them, loaded without the other operations. */
import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../../define.ts';
import { id, timestamp } from '../../schemas.ts';

/** Values of `actual_status`: those that the interface names (§3), and those on the way. */
export const INSTANCE_STATUSES = ['created', 'loading', 'running', 'exited', 'unknown', 'offline'] as const;
export type InstanceStatus = (typeof INSTANCE_STATUSES)[number];

/** From these an instance never reaches `running`: destroy it and try again (§3). */
export const FINAL_INSTANCE_STATUSES = [
  'exited',
  'unknown',
  'offline',
] as const satisfies readonly InstanceStatus[];

/** The interface shows `actual_status` only (§3), which may be null; the rest is the public dialect's. */
export const instance = z.looseObject({
  id,
  actual_status: z.string().nullish(),
  intended_status: z.string().nullish().describe('running, stopped, or one that is new'),
  machine_id: id.nullish(),
  label: z.string().nullish(),
  gpu_name: z.string().nullish(),
  num_gpus: z.number().nullish(),
  dph_total: z.number().nullish().describe('price in $/h'),
  storage_total_cost: z.number().nullish().describe('of that for storage, in $/h'),
  start_date: timestamp.nullish(),
});
export type Instance = z.output<typeof instance>;

export const instanceListOperations = {
  'instances.list': {
    ...INTERFACE,
    method: 'GET',
    path: '/api/v0/instances/',
    source: '§4.3',
    summary: "List the account's instances",
    description: 'The response shape is not shown by the interface document; this is the public one.',
    response: z.looseObject({ instances_found: z.int().optional(), instances: z.array(instance) }),
    repeatable: true,
    publicSpacingMs: 20_000,
    example: {
      input: {},
      response: { instances_found: 1, instances: [{ id: 501, actual_status: 'running', machine_id: 11 }] },
    },
  },
} as const satisfies OperationTable;
