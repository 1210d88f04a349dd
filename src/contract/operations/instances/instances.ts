/** Offers of machines (public dialect), and instances that are rented by them. */
import * as z from 'zod';
import {
  PUBLIC_DIALECT,
  INTERFACE,
  PUBLIC_READ,
  PUBLIC_WRITE,
  IMAGE_OR_TEMPLATE,
  NEW_VOLUME_HAS_SIZE,
  type OperationTable,
} from '../../define.ts';
import {
  filterOn,
  id,
  memoryIn,
  byId,
  extraFilters,
  mayHoldSecrets,
  shownOnce,
  success,
  textUpTo,
} from '../../schemas.ts';
import { envEntryProblem } from '../../text/env-flags.ts';
import { instance, instanceListOperations } from './instance-list.ts';
import { LIMITS } from '../../limits.ts';
import { EXAMPLE_HASH, templateBody } from '../templates.ts';

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

/** §2.3. With an existing volume `size` has no effect. */
export const volumeInfo = z.strictObject({
  create_new: z.boolean().describe('true creates a new volume, false links an existing one'),
  volume_id: id.describe('existing volume when linking; a volume offer when creating'),
  size: z.int().positive().optional().describe('GB; used only when create_new is true'),
  mount_path: z.string().startsWith('/').describe('mount point inside the container'),
  name: z.string().optional().describe('public dialect: name of a new volume'),
});

/** §2.3: name → value, and `-p host:container` → `1` for ports. */
export const envMap = mayHoldSecrets(
  z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).superRefine((entries, context) => {
    for (const [key, value] of Object.entries(entries)) {
      const message = envEntryProblem(key, value);
      if (message !== undefined) context.addIssue({ code: 'custom', message, path: [key] });
    }
  }),
);

/** §2.3 does not show all fields. */
const createBody = z.strictObject({
  template_hash_id: z.string().min(1).optional().describe("the template's hash_id, not its numeric id"),
  image: z.string().min(1).optional().describe("overrides the template's image; needed without a template"),
  env: envMap
    .optional()
    .describe('name → value; a port mapping is a key "-p host:container" with the value 1'),
  onstart: mayHoldSecrets(textUpTo(LIMITS.onstartLength))
    .optional()
    .describe('start script, at most 4048 characters; the command line and launchInstance pack a longer one'),
  volume_info: volumeInfo.optional().describe('a volume to attach; that of a template is never applied'),
  disk: z.number().positive().optional().describe('GB'),
  runtype: z
    .string()
    .optional()
    .describe('ssh, jupyter, args, or several words as the public dialect has them'),
  args: z.array(z.string()).optional().describe('arguments of the image, as a list; replaces args_str'),
  label: z.string().optional().describe('a name of your own for the instance'),
  price: z.number().positive().optional().describe('bid in $/h for an interruptible instance'),
  target_state: z.enum(['running', 'stopped']).optional().describe('the state to bring it into'),
  cancel_unavail: z.boolean().optional().describe('fail rather than wait when the offer is gone'),
  extra_filters: extraFilters
    .optional()
    .describe('machine search filters: {field: {operator: value}}; they win over those of the template'),
  ...templateBody.pick({
    args_str: true,
    use_jupyter_lab: true,
    use_ssh: true,
    ssh_direct: true,
    jup_direct: true,
  }).shape,
  jupyter_dir: z.string().optional().describe('directory to launch Jupyter from'),
  image_login: z
    .string()
    .meta({ format: 'password' })
    .optional()
    .describe('registry login in container-flag format: -u <user> -p <token> <registry>'),
});
export type InstanceRequest = z.output<typeof createBody>;

const CREATE_RULES = [IMAGE_OR_TEMPLATE, NEW_VOLUME_HAS_SIZE];

const create = {
  ...INTERFACE,
  path: '/api/v0/asks/{offer_id}/',
  source: '§4.3',
  permission: 'instance_write',
  params: z.strictObject({ offer_id: id.describe('offer to rent') }),
  body: createBody,
  rules: CREATE_RULES,
  response: z.looseObject({ new_contract: shownOnce(id).describe('the new instance id') }),
  errors: ['invalid_offer', 'not_found'],
  publicSpacingMs: 4500,
  example: {
    input: { offer_id: 3001, template_hash_id: EXAMPLE_HASH, env: { HF_TOKEN: 'x', '-p 8001:8001': '1' } },
    response: { success: true, new_contract: 505 },
  },
} as const;

/** A row as `instances.create` answers it; a bare id or sentence is read as one. */
const bulkEntry = z.preprocess(
  (entry) => {
    if (typeof entry === 'number') return { new_contract: entry };
    if (typeof entry !== 'string' || entry === '') return entry;
    return /^\d+$/.test(entry) ? { new_contract: entry } : { msg: entry };
  },
  z.looseObject({
    ask_id: id.nullish(),
    success: z.boolean().nullish(),
    new_contract: shownOnce(id).nullish().describe('the new instance id'),
    error: z.string().nullish(),
    msg: z.string().nullish(),
  }),
);

const one = { ...PUBLIC_WRITE, ...byId('instance'), path: '/api/v0/instances/{id}/' } as const;

export const instanceOperations = {
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
  'instances.create': {
    ...create,
    method: 'PUT',
    summary: 'Rent an offer: create an instance',
    description: 'The new instance id is new_contract; a field id of the answer is something else.',
  },
  // Stands before `instances.createByPost`, whose placeholder would match `bulk`.
  'instances.createBulk': {
    ...PUBLIC_DIALECT,
    permission: 'instance_write',
    method: 'POST',
    path: '/api/v0/asks/bulk/',
    summary: 'Rent several offers in the same way',
    description: 'Each is rented or refused by itself: look at every result.',
    body: createBody.extend({
      ids: z.array(id).min(1).max(LIMITS.bulkOffersMax).describe('offers to rent, at most 64'),
    }),
    rules: CREATE_RULES,
    response: z.looseObject({
      results: z
        .union([z.array(bulkEntry), z.record(z.string(), bulkEntry)])
        .describe('a row for each offer, or by offer id'),
      created: z.array(id).nullish().describe('instances that were made'),
      failed: z.array(id).nullish().describe('offers that were not rented'),
      elapsed: z.number().nullish().describe('seconds'),
    }),
    example: {
      input: { ids: [3001, 3002], image: 'vllm/vllm-openai', disk: 40 },
      response: {
        success: true,
        results: [
          { ask_id: 3001, success: true, new_contract: 505, state: 'running' },
          { ask_id: 3002, success: false, error: 'no_such_ask', msg: 'Instance type 3002 is not available.' },
        ],
        created: [505],
        failed: [3002],
        elapsed: 1,
      },
    },
  },
  'instances.createByPost': {
    ...create,
    method: 'POST',
    summary: 'Rent an offer: the same operation by the method that the overview names',
    description: 'The interface states PUT and POST for the same operation; instances.create uses PUT.',
  },
  ...instanceListOperations,
  'instances.get': {
    ...PUBLIC_READ,
    path: one.path,
    params: one.params,
    publicSpacingMs: 2000,
    summary: 'Show an instance; null if there is none of this id',
    nullIfNone: 'instances',
    response: z.looseObject({ instances: instance.nullable() }),
    example: {
      input: { id: 501 },
      response: { success: true, instances: { id: 501, actual_status: 'running', machine_id: 11 } },
    },
  },
  'instances.update': {
    ...one,
    method: 'PUT',
    summary: 'Label, stop or start an instance',
    description: 'One that is stopped costs its storage only, and keeps it.',
    body: z.strictObject({
      label: z.string().optional().describe('empty: none'),
      state: z.enum(['running', 'stopped']).optional().describe('what it is to be'),
    }),
    response: success,
    example: { input: { id: 501, state: 'stopped' }, response: { success: true } },
  },
  'instances.destroy': {
    ...one,
    method: 'DELETE',
    summary: 'Destroy an instance',
    response: success,
    example: { input: { id: 501 }, response: { success: true } },
  },
} as const satisfies OperationTable;
