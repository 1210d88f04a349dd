/** Instances as lists show them, loaded without the other operations. */
import * as z from 'zod';
import { INTERFACE, PUBLIC_READ, type OperationTable } from '../../define.ts';
import { filterOn, id, timestamp } from '../../schemas.ts';

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
  intended_status: z.string().nullish().describe('running, stopped, or a newer one'),
  machine_id: id.nullish(),
  label: z.string().nullish(),
  gpu_name: z.string().nullish(),
  num_gpus: z.number().nullish(),
  dph_total: z.number().nullish().describe('price in $/h'),
  storage_total_cost: z.number().nullish().describe('of that for storage, in $/h'),
  start_date: timestamp.nullish(),
});
export type Instance = z.output<typeof instance>;

const instanceFilters = z
  .strictObject({
    id: filterOn(id),
    label: filterOn(z.string()),
    actual_status: filterOn(z.string()),
    intended_status: filterOn(z.string()),
    machine_id: filterOn(id),
    gpu_name: filterOn(z.string()),
    verification: filterOn(z.string()),
    start_date: filterOn(z.number()),
  })
  .partial();

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
  'instances.page': {
    ...PUBLIC_READ,
    path: '/api/v1/instances/',
    publicSpacingMs: 1000,
    summary: "List the account's instances that match filters, a page at a time",
    query: z.strictObject({
      limit: z.int().optional().describe('most rows of a page, up to 25; 0 and less count as 5'),
      select_filters: instanceFilters.optional().describe('`{<field>: {<operator>: <value>}}`'),
      after_token: z.string().optional().describe('next_token of the page before'),
      order_by: z.string().optional().describe('the field that rows are sorted by'),
      select_cols: z.array(z.string()).optional().describe('the fields that rows have; all without it'),
    }),
    response: z.looseObject({
      instances: z.array(instance),
      instances_found: z.number().nullish(),
      total_instances: z.number().nullish().describe('how many match, on all pages'),
      label_counts: z.unknown().optional().describe('how many of them have each label'),
      next_token: z.string().nullish().describe('for the next page; null: this is the last one'),
    }),
    example: {
      input: {
        limit: 2,
        after_token: 'YWZ0ZXIgNTAx',
        order_by: 'id',
        select_cols: ['id', 'actual_status', 'machine_id'],
        select_filters: { actual_status: { eq: 'running' } },
      },
      response: {
        success: true,
        instances: [{ id: 501, actual_status: 'running', machine_id: 11 }],
        total_instances: 1,
        label_counts: { steady: 1 },
        next_token: null,
      },
    },
  },
  'instances.filters': {
    ...PUBLIC_READ,
    path: '/api/v0/instances/filters/',
    summary: "List what the account's instances can be filtered by",
    response: z.looseObject({
      filters: z.array(
        z.looseObject({
          actual_status: z.string().nullish(),
          verification: z.string().nullish(),
          gpu_name: z.string().nullish(),
        }),
      ),
    }),
    example: {
      input: {},
      response: {
        success: true,
        filters: [{ actual_status: 'running', verification: 'verified', gpu_name: 'RTX 4090' }],
      },
    },
  },
} as const satisfies OperationTable;
