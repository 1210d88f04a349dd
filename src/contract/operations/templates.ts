/** Templates (§2.2, §4.2): stored launch configurations. */
import * as z from 'zod';
import { INTERFACE, type OperationTable } from '../define.ts';
import { parseEnvFlags } from '../text/env-flags.ts';
import { LIMITS } from '../limits.ts';
import {
  emptyWhenUnused,
  extraFilters,
  filterOn,
  id,
  mayHoldSecrets,
  success,
  timestamp,
} from '../schemas.ts';
import { FlagError } from '../text/shell-words.ts';

/** §2.2 */
const RUNTYPES = ['ssh', 'jupyter', 'args'] as const;

export const TEMPLATE_DEFAULTS = {
  tag: 'latest',
  runtype: 'args',
  recommended_disk_space: LIMITS.recommendedDiskSpaceGb,
} as const;

const envFlags = mayHoldSecrets(
  z.string().superRefine((text, context) => {
    try {
      parseEnvFlags(text);
    } catch (error) {
      if (!(error instanceof FlagError)) throw error;
      context.addIssue({ code: 'custom', message: error.message });
    }
  }),
);

const templateFields = {
  name: z.string().min(1).describe('human-readable name'),
  image: z.string().min(1).describe('container image path'),
  tag: z.string().optional().meta({ default: 'latest', description: 'image tag' }),
  desc: z.string().optional().describe('description'),
  readme: z.string().optional().describe('longer documentation text'),
  env: envFlags
    .optional()
    .describe('environment and ports in container-flag format: "-e NAME=value -p host:container"'),
  onstart: mayHoldSecrets(z.string()).optional().describe('shell commands run when the instance starts'),
  runtype: z.enum(RUNTYPES).optional().meta({ default: 'args', description: 'how the container is started' }),
  args_str: z
    .string()
    .optional()
    .describe("replaces the image's command, or becomes its entrypoint's arguments; used with runtype args"),
  ssh_direct: z.boolean().optional().describe('direct SSH connection (recommended with runtype ssh)'),
  use_ssh: z.boolean().optional().describe('SSH access'),
  jup_direct: z.boolean().optional().describe('direct Jupyter connection'),
  jupyter_dir: z.string().nullable().optional().describe('directory to launch Jupyter from'),
  use_jupyter_lab: z.boolean().optional().describe('JupyterLab instead of Jupyter Notebook'),
  docker_login_repo: emptyWhenUnused.describe('private registry URL; empty when not needed'),
  docker_login_user: emptyWhenUnused.describe('registry user; empty when not needed'),
  docker_login_pass: emptyWhenUnused
    .meta({ format: 'password' })
    .describe('registry access token; empty when not needed'),
  href: z.string().optional().describe('link to the image documentation'),
  repo: z.string().optional().describe('repository identifier'),
  extra_filters: extraFilters
    .optional()
    .describe('default machine search filters: {field: {operator: value}}'),
  recommended_disk_space: z
    .number()
    .positive()
    .optional()
    .meta({ default: LIMITS.recommendedDiskSpaceGb, description: 'GB' }),
  private: z.boolean().optional().describe('whether the template is private'),
  volume_info: z
    .record(z.string(), z.unknown())
    .nullable()
    .optional()
    .describe('interface hint only; has no effect on instance creation'),
} as const;

export const templateBody = z.strictObject(templateFields);
export type TemplateFields = z.output<typeof templateBody>;

const text = z.string().nullish();
const flag = z.boolean().nullish();

export const template = z.looseObject({
  id: id.optional(),
  hash_id: z.string(),
  name: z.string().optional(),
  image: text,
  tag: text,
  desc: text,
  readme: text,
  env: text.describe('in container-flag format'),
  onstart: text,
  runtype: text,
  args_str: text,
  ssh_direct: flag,
  use_ssh: flag,
  jup_direct: flag,
  jupyter_dir: text,
  use_jupyter_lab: flag,
  docker_login_repo: text,
  href: text,
  repo: text,
  extra_filters: z.record(z.string(), z.unknown()).nullish(),
  recommended_disk_space: z.number().nullish().describe('GB'),
  private: flag,
  creator_id: id.nullish(),
  created_at: timestamp.nullish(),
  recent_create_date: timestamp.nullish(),
  count_created: z.int().nullish().describe('how many instances were made from it'),
});

const epoch = z.number().describe('UTC epoch seconds');

export const templateFilters = z
  .strictObject({
    creator_id: filterOn(id),
    created_at: filterOn(epoch),
    count_created: filterOn(z.int()),
    default_tag: filterOn(z.string()),
    docker_login_repo: filterOn(z.string()),
    id: filterOn(id),
    image: filterOn(z.string()),
    jup_direct: filterOn(z.boolean()),
    hash_id: filterOn(z.string()),
    name: filterOn(z.string()),
    recent_create_date: filterOn(epoch),
    recommended_disk_space: filterOn(z.number()),
    recommended: filterOn(z.boolean()),
    ssh_direct: filterOn(z.boolean()),
    tag: filterOn(z.string()),
    use_ssh: filterOn(z.boolean()),
  })
  .partial();

/** The emulator's hash of the example, so that examples run there. */
export const EXAMPLE_HASH = 'fdcd94746ad83adcbc38b87929b9ef6f';

const example = {
  name: 'vllm',
  image: 'vllm/vllm-openai',
  env: '-e HF_HOME=/models -p 8000:8000',
  docker_login_repo: '',
  docker_login_user: '',
  docker_login_pass: '',
};

const shared = { ...INTERFACE, path: '/api/v0/template/', source: '§4.2' } as const;

export const templateOperations = {
  'templates.search': {
    ...shared,
    method: 'GET',
    summary: 'Find templates that match filters',
    description: 'There is no free-text search. Needs a key with the permission user_read.',
    permission: 'user_read',
    query: z.strictObject({
      select_filters: templateFilters
        .optional()
        .describe('{field: {operator: value}}; operators eq, neq, lt, lte, gt, gte, in, notin'),
    }),
    response: z.looseObject({ templates: z.array(template) }),
    otherWords: [{ says: /^no templates found/i, means: () => ({ templates: [] }) }],
    repeatable: true,
    publicSpacingMs: 1900,
    example: {
      input: { select_filters: { name: { eq: 'vllm' } } },
      response: { templates: [{ id: 9, hash_id: EXAMPLE_HASH, name: 'vllm' }] },
    },
  },
  'templates.create': {
    ...shared,
    method: 'POST',
    summary: 'Store a launch configuration',
    body: templateBody,
    response: z.looseObject({ template }),
    otherWords: [
      { says: /^existing template found/i, means: ({ template: found }) => ({ template: found }) },
    ],
    example: { input: example, response: { template: { id: 9, hash_id: EXAMPLE_HASH, ...example } } },
  },
  'templates.edit': {
    ...shared,
    method: 'PUT',
    summary: 'Change fields of a template, which gets a new hash_id',
    description:
      'Fields that are not sent keep their values. The hash_id in the answer replaces the one that was sent; it is derived from the content, so only an edit that changes nothing leaves it as it was.',
    body: z.strictObject({
      hash_id: z.string().min(1).describe('the current hash_id'),
      ...templateBody.partial().shape,
    }),
    response: z.looseObject({ template }),
    errors: ['not_found'],
    // A repetition would not find the old hash.
    example: {
      input: { hash_id: EXAMPLE_HASH, desc: 'serves chat' },
      response: {
        template: { id: 9, hash_id: '4050ca3002148f8457eb056fb11c58ba', name: 'vllm', desc: 'serves chat' },
      },
    },
  },
  'templates.delete': {
    ...shared,
    method: 'DELETE',
    summary: 'Delete a template by its numeric id',
    body: z.strictObject({ template_id: id.describe('the numeric id, not the hash_id') }),
    response: success,
    errors: ['not_found'],
    example: { input: { template_id: 9 }, response: { success: true } },
  },
} as const satisfies OperationTable;
