/** Instances by page and by what they are (public dialect). */
import * as z from 'zod';
import { PUBLIC_READ, type OperationTable } from '../../define.ts';
import { filterOn, id } from '../../schemas.ts';
import { instance } from './instance-list.ts';

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

export const instanceSearchOperations = {
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
