/** Costs now, and charges of the past (public dialect, evidence 9). Money is in dollars. */
import * as z from 'zod';
import { PUBLIC_READ, DAY_RANGE, type OperationTable } from '../define.ts';
import { LIMITS } from '../limits.ts';
import { filterOn, id, timestamp } from '../schemas.ts';

const rates = z.array(
  z.looseObject({ id, hourly_spend: z.number().nullish().describe('$/h; null: not known') }),
);
const asOf = { data_timestamp: timestamp.nullish().describe('when the service worked it out') };
const cost = z.number().nullish();

const shared = {
  ...PUBLIC_READ,
  permission: 'user_read',
  publicSpacingMs: 2000,
} as const;

const amount = z.number().describe('$, with three decimals');
const chargeFields = {
  type: z.string().nullish().describe('instance, volume or serverless; of a part: gpu, disk, bwd, bwu'),
  source: z.string().nullish().describe('instance-501, endpoint-31, workergroup-7'),
  description: z.string().nullish(),
  start: timestamp.nullish(),
  end: timestamp.nullish(),
  metadata: z.looseObject({ endpoint_id: id.nullish(), workergroup_id: id.nullish() }).nullish(),
};

/** A contract over the asked days, or with `format` tree an endpoint with all below it. */
const charge = z.looseObject({
  ...chargeFields,
  amount,
  items: z
    .array(
      z.looseObject({ ...chargeFields, amount: amount.nullish(), items: z.array(z.unknown()).nullish() }),
    )
    .nullish()
    .describe('what it is made of'),
});
export type Charge = z.output<typeof charge>;

export const spendOperations = {
  'serverless.endpointsSpend': {
    ...shared,
    path: '/api/v0/serverless/endpoints/spend',
    summary: 'Show what each endpoint costs an hour now',
    response: z.looseObject({ endpoints: rates, ...asOf }),
    example: {
      input: {},
      response: {
        success: true,
        endpoints: [{ id: 31, hourly_spend: 2 }],
        data_timestamp: 1_780_000_000,
      },
    },
  },
  'serverless.workergroupsSpend': {
    ...shared,
    path: '/api/v0/serverless/workergroups/spend',
    summary: 'Show what each worker group costs an hour now',
    response: z.looseObject({ workergroups: rates, ...asOf }),
    example: {
      input: {},
      response: {
        success: true,
        workergroups: [{ id: 7, hourly_spend: 2 }],
        data_timestamp: 1_780_000_000,
      },
    },
  },
  'users.spendRate': {
    ...shared,
    path: '/api/v0/users/spend-rate/',
    summary: 'Show what all instances and volumes of the account cost an hour now',
    response: z.looseObject({
      gpu_cost_per_hour: cost,
      container_storage_cost_per_hour: cost,
      volume_storage_cost_per_hour: cost,
      has_active_resources: z.boolean().nullish(),
    }),
    example: {
      input: {},
      response: {
        success: true,
        gpu_cost_per_hour: 5,
        container_storage_cost_per_hour: 1,
        volume_storage_cost_per_hour: 0,
        has_active_resources: true,
      },
    },
  },
  'charges.list': {
    ...shared,
    path: '/api/v0/charges/',
    summary: 'List what was charged in some days, a page at a time',
    description:
      'Each row is the sum over all days asked for. Ask for each day to learn the cost of each day.',
    permission: 'billing_read',
    query: z.strictObject({
      select_filters: z
        .strictObject({
          day: filterOn(timestamp),
          type: filterOn(z.enum(['instance', 'volume', 'serverless'])).optional(),
        })
        .describe('the days, Unix seconds in UTC, with gte and lte; and which types'),
      format: z
        .enum(['table', 'tree'])
        .optional()
        .meta({ default: 'table', description: 'tree: by endpoint, worker group and instance' }),
      latest_first: z.boolean().optional().meta({ default: true, description: 'the newest rows first' }),
      limit: z
        .int()
        .min(1)
        .max(LIMITS.chargesPageMax)
        .optional()
        .meta({ default: 100, description: 'most rows of a page' }),
      after_token: z.string().optional().describe('next_token of the page before'),
    }),
    rules: [DAY_RANGE],
    response: z.looseObject({
      results: z.array(charge),
      count: z.number().nullish().describe('rows of this page'),
      total: z.number().nullish().describe('rows on all pages'),
      next_token: z.string().nullish().describe('for the next page; null: this is the last one'),
    }),
    publicSpacingMs: 1000,
    example: {
      input: {
        select_filters: {
          day: { gte: 1_780_272_000, lte: 1_780_358_399 },
          type: { in: ['serverless'] },
        },
        format: 'tree',
        latest_first: true,
        limit: 100,
        after_token: 'YWZ0ZXIgMTAw',
      },
      response: {
        success: true,
        count: 1,
        total: 1,
        results: [{ type: 'serverless', source: 'endpoint-31', amount: 48, metadata: { endpoint_id: 31 } }],
        next_token: null,
      },
    },
  },
} as const satisfies OperationTable;
