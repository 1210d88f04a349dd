/** Offers of machines (public dialect). */
import * as z from 'zod';
import { PUBLIC_DIALECT, type OperationTable } from '../../define.ts';
import { filterOn, id, memoryIn } from '../../schemas.ts';

const number = filterOn(z.number()).optional();
const megabytes = filterOn(memoryIn('MB')).optional();

/** The most used fields; others go into `extra`. */
const searchBody = z.strictObject({
  limit: z.int().positive().optional().describe('most offers that are answered'),
  order: z
    .array(z.tuple([z.string(), z.enum(['asc', 'desc'])]))
    .optional()
    .describe('fields to sort by, each with asc or desc: [["dph_total","asc"]]'),
  id: filterOn(id).optional().describe('offer id'),
  machine_id: filterOn(id).optional().describe('machine id'),
  gpu_name: filterOn(z.string()).optional().describe('such as RTX 4090'),
  num_gpus: number.describe('GPUs of the offer'),
  gpu_ram: megabytes.describe('MB of one GPU'),
  gpu_total_ram: megabytes.describe('MB of all GPUs'),
  dph_total: number.describe('$/h'),
  disk_space: number.describe('GB'),
  reliability: number.describe('a fraction'),
  verified: filterOn(z.boolean()).optional().describe('whether the service has verified the machine'),
  rentable: filterOn(z.boolean()).optional().describe('whether it can be rented; default: only those'),
  rented: filterOn(z.boolean()).optional().describe('whether it is rented'),
});

const offer = z.looseObject({
  id,
  machine_id: id.nullish(),
  gpu_name: z.string().nullish(),
  num_gpus: z.number().nullish(),
  gpu_ram: z.number().nullish().describe('MB'),
  dph_total: z.number().nullish().describe('$/h'),
  disk_space: z.number().nullish().describe('GB'),
  reliability: z.number().nullish(),
  rentable: z.boolean().nullish(),
});
export const offerOperations = {
  'offers.search': {
    ...PUBLIC_DIALECT,
    method: 'POST',
    path: '/api/v0/bundles/',
    summary: 'Find offers that match filters; only those that can be rented, unless a filter says otherwise',
    body: searchBody,
    response: z.looseObject({ offers: z.array(offer) }),
    repeatable: true,
    publicSpacingMs: 2000,
    example: {
      input: {
        num_gpus: { eq: 1 },
        dph_total: { lte: 0.5 },
        gpu_name: { in: ['RTX 4090', 'RTX 5090'] },
        order: [['dph_total', 'asc']],
        limit: 3,
      },
      response: { success: true, offers: [{ id: 3001, gpu_name: 'RTX 4090', num_gpus: 1, dph_total: 1 }] },
    },
  },
} as const satisfies OperationTable;
