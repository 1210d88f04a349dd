/** Sections of the seed for what users create or rent: templates, offers, endpoint groups. */
import * as z from 'zod';
import {
  ENDPOINT_STATES,
  endpointGroupParameters,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { id } from '../../contract/schemas.ts';
import { loadSchema } from '../state/endpoints/loads.ts';
import { templateBody } from '../../contract/operations/templates.ts';

const seconds = z.number().nonnegative();

export const statusSteps = z
  .array(
    z.strictObject({
      actual_status: z.enum(INSTANCE_STATUSES),
      seconds: seconds.optional().describe('how long it lasts; absent: for good'),
    }),
  )
  .min(1)
  .optional()
  .describe('statuses it passes through; absent: created, loading, running with the times of the settings');

const { docker_login_repo: repo, docker_login_user: user, docker_login_pass: pass } = templateBody.shape;

export const templateEntry = z.strictObject({
  id,
  creator_id: id
    .optional()
    .describe('user who owns it, also one that does not exist; absent: the first user'),
  recommended: z.boolean().default(false),
  default_tag: z.string().optional(),
  age_seconds: seconds.default(0).describe('how long it has existed at the start'),
  count_created: z.int().nonnegative().default(0).describe('instances made from it before the start'),
  recent_create_ago: seconds.optional().describe('seconds since the last of them at the start'),
  ...templateBody.shape,
  docker_login_repo: repo.default(''),
  docker_login_user: user.default(''),
  docker_login_pass: pass.default(''),
});

export const offerEntry = z.strictObject({
  id,
  machine_id: id,
  gpu_name: z.string().default('RTX 4090'),
  num_gpus: z.int().positive().default(1),
  gpu_ram: z.number().positive().default(24_564).describe('memory of one GPU in MB'),
  dph_total: z.number().nonnegative().default(0.4).describe('price in $/h'),
  disk_space: z.number().positive().default(500).describe('GB'),
  statuses: statusSteps.describe('statuses of an instance made from it; absent: it starts without trouble'),
});

export const endpointGroupEntry = z.strictObject({
  id,
  ...endpointGroupParameters.shape,
  endpoint_state: z.enum(ENDPOINT_STATES).default('active'),
  deployment_id: id.optional().describe('the deployment whose endpoint it is, and with which it ends'),
  load: loadSchema.optional().describe('requests that come by themselves from the start on; absent: none'),
});
