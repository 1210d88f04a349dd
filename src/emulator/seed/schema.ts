/**
 * The seed file: what the emulated service contains at its start, as JSON. Field names and units are the
 * interface's (seconds; Unix seconds). A section that is left out is the default one.
 * Its JSON schema is served at `/_emulator/seed-schema`.
 */
import * as z from 'zod';
import { DEFAULT_TAG } from '../../contract/operations/serverless/deployment.ts';
import { MAINTENANCE_CATEGORIES } from '../../contract/operations/machines.ts';
import { id, timestamp } from '../../contract/schemas.ts';
import { endpointGroupEntry, offerEntry, statusSteps, templateEntry } from './resource-schema.ts';
import { tfaSection, tfaUserFields } from './two-factor.ts';
import { settingsSchema } from '../state/settings.ts';

const seconds = z.number().nonnegative();

export const apiKeyEntry = z.strictObject({
  name: z.string().min(1).describe('for people: journal and faults call the key by it'),
  key: z.string().min(1).describe('the secret value'),
  permissions: z
    .record(z.string(), z.unknown())
    .optional()
    .describe(
      'permission flags {"manage_instances": true} or {"api": {"user_read": {}}}; absent: full access',
    ),
  team: z.boolean().default(false).describe("used in a team's context"),
});

const user = z.strictObject({
  id,
  username: z.string().default('dev'),
  email: z.string().optional(),
  email_verified: z.boolean().default(true),
  is_admin: z.boolean().default(false),
  team_id: id.optional().describe("the team in whose context its team keys act; absent: the user's id"),
  ...tfaUserFields,
  api_keys: z.array(apiKeyEntry).default([]),
});

export const deploymentEntry = z.strictObject({
  id,
  name: z.string().min(1).optional().describe('absent: deployment- and the id'),
  tag: z.string().min(1).default(DEFAULT_TAG),
  endpoint_state: z.string().min(1).default('active').describe('active, suspended, stopped'),
  ttl: z
    .number()
    .positive()
    .nullable()
    .optional()
    .describe('seconds without a heartbeat after which it expires; null: never; absent: the setting'),
  last_heartbeat_ago: seconds.optional().describe('seconds since the last heartbeat at the start'),
});

/** What can be changed of one that there is. */
export const deploymentChanges = z.strictObject({
  ...deploymentEntry.pick({ name: true, ttl: true }).shape,
  tag: z.string().min(1).optional(),
  endpoint_state: z.string().min(1).optional(),
});

export const workerGroupEntry = z.strictObject({
  id,
  lines_per_second: seconds.optional().describe('growth of the log; absent: the setting; 0: none'),
  history_seconds: seconds.default(0).describe('how long it has been growing at the start'),
  retained_lines: z.int().positive().optional(),
  seed: z.int().optional().describe('seed of the generated lines; absent: the group id'),
  endpoint_id: id.optional().describe('the endpoint group that it serves'),
  workers: z.array(id).default([]).describe('instances of the seed that are its workers'),
  replay: z
    .strictObject({
      lines: z.array(z.string()).optional(),
      file: z.string().optional().describe('text file to read the lines from; not over the admin API'),
      loop: z.boolean().default(false),
    })
    .optional()
    .describe('lines to write instead of generated ones'),
});

const maintenance = z
  .strictObject({
    id,
    start_time: timestamp.optional().describe('Unix time; or `starts_in`'),
    starts_in: z.number().optional().describe('seconds from the start; negative: before it'),
    duration_hours: z.int().positive(),
    maintenance_category: z.enum(MAINTENANCE_CATEGORIES),
  })
  .refine((window) => (window.start_time === undefined) !== (window.starts_in === undefined), {
    message: 'give either start_time or starts_in',
    path: ['start_time'],
  });

const machine = z.strictObject({ id, maintenances: z.array(maintenance).default([]) });

const instance = z.strictObject({
  id,
  machine_id: id,
  label: z.string().optional(),
  image: z.string().default('vllm/vllm-openai:latest'),
  gpu_name: z.string().default('RTX 4090'),
  num_gpus: z.int().positive().default(1),
  gpu_ram: z.number().positive().optional().describe('memory of one GPU in MB'),
  dph_total: z.number().nonnegative().optional().describe('price in $/h'),
  age_seconds: seconds.default(0).describe('how long it has existed at the start'),
  statuses: statusSteps,
});

export const seedSchema = z.strictObject({
  $schema: z.string().optional(),
  settings: settingsSchema.partial().optional().describe('numbers that the interface does not show'),
  users: z.array(user).min(1).optional().describe('the first is the user of the default API key'),
  tfa: tfaSection.optional().describe('two-factor authentication, as far as all accounts share it'),
  deployments: z.array(deploymentEntry).optional(),
  workergroups: z.array(workerGroupEntry).optional(),
  machines: z.array(machine).optional(),
  instances: z.array(instance).optional().describe('belong to the first user'),
  templates: z.array(templateEntry).optional(),
  offers: z.array(offerEntry).optional().describe('machine offers that can be rented'),
  endpoint_groups: z.array(endpointGroupEntry).optional().describe('belong to the first user'),
});

/** What a seed file contains. */
export type Seed = z.input<typeof seedSchema>;
export type ParsedSeed = z.output<typeof seedSchema>;
