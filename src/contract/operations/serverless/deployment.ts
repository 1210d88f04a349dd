/** A deployment (public dialect); the interface has its id only. */
import * as z from 'zod';
import { isRecord } from '../../is-record.ts';
import { id, timestamp } from '../../schemas.ts';

export const DEFAULT_TAG = 'default';

const fields = {
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
  endpoint_state: z.string().nullish().describe('active, suspended, stopped, or one that is new'),
  worker_count: z.number().nullish(),
  ttl: z
    .number()
    .nullish()
    .describe('seconds without a heartbeat after which it expires; null: it lives until it is deleted'),
  last_client_heartbeat: timestamp.nullish(),
  created_at: timestamp.nullish(),
  updated_at: timestamp.nullish(),
};

export const deployment = z.looseObject({ id, ...fields });
export type Deployment = z.output<typeof deployment>;

/** The answer need not repeat the id; but it must say something. */
const askedFor = z
  .looseObject({ id: id.optional(), ...fields })
  .refine((row) => 'id' in row || 'ttl' in row, 'neither id nor ttl: no deployment');

/** A flat answer is read as if it were wrapped. */
export const deploymentAnswer = z.preprocess(
  (body) => (isRecord(body) && !('deployment' in body) ? { deployment: body } : body),
  z.looseObject({ deployment: askedFor }),
);
