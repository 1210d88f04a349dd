/** The seed file: its schema, in the names and units of the interface, and how it is read. */
import { readFile } from 'node:fs/promises';
import * as z from 'zod';
import { LIMITS } from '../../contract/limits.ts';
import { INSTANCE_STATUSES } from '../../contract/operations/instances/instance-list.ts';
import { MAINTENANCE_CATEGORIES } from '../../contract/operations/machines.ts';
import { DEFAULT_TAG } from '../../contract/operations/serverless/serverless.ts';
import {
  ENDPOINT_STATES,
  endpointGroupParameters,
} from '../../contract/operations/serverless/endpoint-groups.ts';
import { templateBody } from '../../contract/operations/templates.ts';
import { BACKUP_CODE } from '../../contract/operations/tfa/tfa.ts';
import { PilotlightError } from '../../contract/pilotlight-error.ts';
import { id, phoneNumber, timestamp } from '../../contract/schemas.ts';
import { problemsOf, type InputProblem } from '../../wire/request.ts';
import { defined } from '../handlers/define.ts';
import { loadSchema } from '../state/serverless.ts';
import { settingsSchema, traitsSchema, type Traits } from '../state/settings.ts';
import { BACKING_STORES, SMS_PROVIDERS } from '../state/state.ts';

const seconds = z.number().nonnegative();
const amount = z.int().nonnegative().default(0);
const flag = z.boolean().default(false);

const statusStep = z.strictObject({
  actual_status: z.enum(INSTANCE_STATUSES),
  seconds: seconds.optional().describe('how long it lasts; absent: for good'),
});
const statusSteps = z
  .array(statusStep)
  .min(1)
  .optional()
  .describe('statuses it passes through; absent: created, loading, running, by the settings');

const { docker_login_repo: repo, docker_login_user: loginUser, docker_login_pass: pass } = templateBody.shape;

const templateEntry = z.strictObject({
  id,
  creator_id: id.optional().describe('its owner, who need not exist; absent: the first user'),
  recommended: flag,
  default_tag: z.string().optional(),
  age_seconds: seconds.default(0).describe('how long it has existed at the start'),
  count_created: amount.describe('instances made from it before the start'),
  recent_create_ago: seconds.optional().describe('seconds since the last of them at the start'),
  ...templateBody.shape,
  docker_login_repo: repo.default(''),
  docker_login_user: loginUser.default(''),
  docker_login_pass: pass.default(''),
});

const offerEntry = z.strictObject({
  id,
  machine_id: id,
  gpu_name: z.string().default('RTX 4090'),
  num_gpus: z.int().positive().default(1),
  gpu_ram: z.number().positive().default(24_564).describe('memory of one GPU in MB'),
  dph_total: z.number().nonnegative().default(0.4).describe('price in $/h'),
  disk_space: z.number().positive().default(500).describe('GB'),
  statuses: statusSteps.describe('statuses of an instance made from it; absent: it starts without trouble'),
});

const endpointGroupEntry = z.strictObject({
  id,
  ...endpointGroupParameters.shape,
  endpoint_state: z.enum(ENDPOINT_STATES).default('active'),
  deployment_id: id.optional().describe('the deployment whose endpoint it is, and with which it ends'),
  load: loadSchema.optional().describe('requests that come by themselves from the start on; absent: none'),
});

const tfaMethod = z.strictObject({
  id,
  method: z.enum(['sms', 'totp']),
  label: z.string().max(LIMITS.methodLabelLength).optional(),
  phone_number: z.string().optional().describe('E.164; shown masked'),
  totp_secret: z.string().nullish().describe('base32; absent: made up; null: tfa_method_not_configured'),
  is_primary: flag,
  fail_count: amount,
  locked_for: seconds.optional().describe('seconds from the start for which it is locked'),
});

const backupCode = z.string().regex(BACKUP_CODE, 'three groups of four characters');

export const tfaSection = z.strictObject({
  sms_provider: z.enum(SMS_PROVIDERS).default('up').describe('else twilio_error or twilio_rate_limited'),
  blocked_numbers: z.array(phoneNumber).default([]).describe('high risk of SMS pumping: sms_blocked_number'),
  store: z
    .enum(BACKING_STORES)
    .default('up')
    .describe('else challenge_creation_failed or service_unavailable'),
});

export const apiKeyEntry = z.strictObject({
  name: z.string().min(1).describe('for people: journal and faults call the key by it'),
  key: z.string().min(1).describe('the secret value'),
  permissions: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('flags, or {"api": {"user_read": {}}}; absent: full access'),
  team: flag.describe("used in a team's context"),
});

export const userEntry = z.strictObject({
  id,
  username: z.string().default('dev'),
  email: z.string().optional(),
  email_verified: z.boolean().default(true),
  is_admin: flag,
  team_id: id.optional().describe("the team in whose context its team keys act; absent: the user's id"),
  legacy_2fa: flag.describe('2FA from before methods were stored; without meaning beside tfa_methods'),
  phone_number: phoneNumber.optional().describe('the number on file; codes of a legacy account go there'),
  sms_fraud: flag.describe('flagged for SMS fraud: sms_fraud_detected'),
  tfa_methods: z.array(tfaMethod).default([]),
  backup_codes: z.array(backupCode).optional().describe('those that are unused'),
  backup_codes_remaining: amount.describe('so many are made up where backup_codes is absent'),
  api_keys: z.array(apiKeyEntry).default([]),
});

export const deploymentEntry = z.strictObject({
  id,
  name: z.string().min(1).optional().describe('absent: deployment- and the id'),
  tag: z.string().min(1).default(DEFAULT_TAG),
  endpoint_state: z.string().min(1).default('active').describe('active, suspended, stopped'),
  ttl: z.number().positive().nullish().describe('seconds; null: it never expires; absent: the setting'),
  last_heartbeat_ago: seconds.optional().describe('seconds since the last heartbeat at the start'),
});

export const deploymentChanges = z.strictObject({
  ...deploymentEntry.pick({ name: true, ttl: true }).shape,
  tag: z.string().min(1).optional(),
  endpoint_state: z.string().min(1).optional(),
});

const replay = z.strictObject({ lines: z.array(z.string()).default([]), loop: flag });

export const workerGroupEntry = z.strictObject({
  id,
  lines_per_second: seconds.optional().describe('growth of the log; absent: the setting; 0: none'),
  history_seconds: seconds.default(0).describe('how long it has been growing at the start'),
  retained_lines: z.int().positive().optional(),
  seed: z.int().optional().describe('seed of the generated lines; absent: the group id'),
  endpoint_id: id.optional().describe('the endpoint group that it serves'),
  workers: z.array(id).default([]).describe('instances of the seed that are its workers'),
  replay: replay.optional().describe('lines to write instead of generated ones'),
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

/** The schema of a seed. Omitted sections come from `DEFAULT_SEED`. */
export const seedSchema = z.strictObject({
  $schema: z.string().optional(),
  settings: settingsSchema.partial().optional().describe('numbers that the interface does not show'),
  users: z.array(userEntry).min(1).optional().describe('the first is the user of the default API key'),
  tfa: tfaSection.optional().describe('two-factor authentication, as far as all accounts share it'),
  deployments: z.array(deploymentEntry).optional(),
  workergroups: z.array(workerGroupEntry).optional(),
  machines: z.array(machine).optional(),
  instances: z.array(instance).optional().describe('belong to the first user'),
  templates: z.array(templateEntry).optional(),
  offers: z.array(offerEntry).optional().describe('machine offers that can be rented'),
  endpoint_groups: z.array(endpointGroupEntry).optional().describe('belong to the first user'),
});

/** The content of a seed file. */
export type Seed = z.input<typeof seedSchema>;
export type ParsedSeed = z.output<typeof seedSchema>;

/** An invalid seed. The message names each field and rule. */
export class SeedError extends PilotlightError {
  readonly code = 'invalid_seed';
  readonly actor = 'user';
}

/** Invalid traits. The message names each field, the allowed values and the given one. */
export class TraitsError extends PilotlightError {
  readonly code = 'invalid_traits';
  readonly actor = 'user';
  readonly problems: readonly InputProblem[];

  constructor(message: string, options: ErrorOptions & { readonly problems?: readonly InputProblem[] } = {}) {
    super(message, options);
    this.problems = options.problems ?? [];
  }
}

/** A seed from a JSON file. @throws SeedError for a missing file, invalid JSON, or a seed that does not fit */
export async function readSeedFile(path: string): Promise<Seed> {
  const seed = await readJson(path, SeedError);
  checkSeed(seed);
  return seed as Seed;
}

export function checkSeed(seed: unknown): void {
  const parsed = seedSchema.safeParse(seed);
  if (parsed.success) return;
  const problems = problemsOf(parsed.error, seed);
  const told = problems.map(({ field, message }) => `${field || 'seed'}: ${message}`);
  throw new SeedError(told.join('; '), { cause: parsed.error });
}

/** Traits from a JSON file. @throws TraitsError for a missing file, invalid JSON, or traits that do not fit */
export async function readTraitsFile(path: string): Promise<Partial<Traits>> {
  return readTraits(await readJson(path, TraitsError));
}

export function readTraits(input: unknown): Partial<Traits> {
  const parsed = traitsSchema.safeParse(input);
  // Traits may be undefined in JavaScript.
  if (parsed.success) return defined(parsed.data);
  const problems = problemsOf(parsed.error, input);
  const told = problems.map(({ field, message, value }) => `${field || 'traits'}: ${message}${got(value)}`);
  throw new TraitsError(told.join('; '), { problems, cause: parsed.error });
}

/** Problems inside objects name their field already. */
function got(value: unknown): string {
  return value === undefined || typeof value === 'object' ? '' : ` (got ${JSON.stringify(value)})`;
}

async function readJson(path: string, Failure: typeof SeedError | typeof TraitsError): Promise<unknown> {
  try {
    return JSON.parse(await readFile(path, 'utf8')) as unknown;
  } catch (cause) {
    const problem = cause instanceof SyntaxError ? 'not JSON: ' : '';
    throw new Failure(`${path}: ${problem}${(cause as Error).message}`, { cause });
  }
}

/** API key of the default seed; visibly not a real one. */
export const DEFAULT_API_KEY = 'emulator-key';
/** Key of the same user in a team's context, for team roles. */
export const DEFAULT_TEAM_KEY = 'emulator-team-key';

/** Authenticator secret of the default seed; `emulator.totp(1)` shows its code. */
export const DEFAULT_TOTP_SECRET = 'EMULATOREMULATOREMULATOREMULATOR';

const HOUR = 3600;

/** Each section holds until a seed names it. */
export const DEFAULT_SEED: Seed = {
  users: [
    {
      id: 1,
      username: 'dev',
      email: 'dev@example.com',
      tfa_methods: [
        { id: 1, method: 'totp', label: 'authenticator', totp_secret: DEFAULT_TOTP_SECRET, is_primary: true },
      ],
      backup_codes_remaining: 8,
      api_keys: [
        { name: 'default', key: DEFAULT_API_KEY },
        { name: 'team', key: DEFAULT_TEAM_KEY, team: true },
      ],
    },
  ],
  deployments: [
    { id: 42, name: 'square', ttl: 300 },
    { id: 43, name: 'square', tag: 'blue', ttl: 120 },
  ],
  workergroups: [
    { id: 7, lines_per_second: 2, history_seconds: 120, endpoint_id: 31, workers: [501, 502] },
    { id: 8, lines_per_second: 0.5, endpoint_id: 31 },
  ],
  machines: [
    {
      id: 11,
      maintenances: [{ id: 1, starts_in: 2 * HOUR, duration_hours: 3, maintenance_category: 'power' }],
    },
    {
      id: 12,
      maintenances: [
        { id: 2, starts_in: -30 * HOUR, duration_hours: 6, maintenance_category: 'disk' },
        { id: 3, starts_in: 72 * HOUR, duration_hours: 1, maintenance_category: 'gpu' },
      ],
    },
  ],
  instances: [
    { id: 501, machine_id: 11, label: 'steady', dph_total: 0.4, statuses: [{ actual_status: 'running' }] },
    { id: 502, machine_id: 11, label: 'starting', dph_total: 0.4 },
    {
      id: 503,
      machine_id: 12,
      label: 'ends after a quarter of an hour',
      statuses: [{ actual_status: 'running', seconds: 900 }, { actual_status: 'exited' }],
    },
    {
      id: 504,
      machine_id: 12,
      label: 'never starts',
      statuses: [
        { actual_status: 'created', seconds: 10 },
        { actual_status: 'loading', seconds: 60 },
        { actual_status: 'offline' },
      ],
    },
  ],
  templates: [
    // The contract's examples use it.
    { id: 9, name: 'vllm', image: 'vllm/vllm-openai', env: '-e HF_HOME=/models -p 8000:8000' },
    {
      id: 10,
      name: 'Jupyter Lab',
      image: 'jupyter/scipy-notebook',
      tag: '2024-10-07',
      creator_id: 2,
      recommended: true,
      runtype: 'jupyter',
      use_jupyter_lab: true,
      recommended_disk_space: 32,
      count_created: 120,
      recent_create_ago: HOUR,
      age_seconds: 900 * 24 * HOUR,
    },
    { id: 11, name: 'of somebody else', image: 'private/image', creator_id: 2, private: true },
  ],
  offers: [
    { id: 3001, machine_id: 11 },
    { id: 3002, machine_id: 11, num_gpus: 2, dph_total: 0.8 },
    { id: 3003, machine_id: 12, gpu_name: 'H100 SXM', gpu_ram: 81_559, dph_total: 2.1, disk_space: 2_000 },
    {
      id: 3004,
      machine_id: 12,
      dph_total: 0.15,
      // The cheapest offer, whose instance never runs.
      statuses: [
        { actual_status: 'created', seconds: 10 },
        { actual_status: 'loading', seconds: 60 },
        { actual_status: 'exited' },
      ],
    },
  ],
  endpoint_groups: [
    {
      id: 31,
      endpoint_name: 'chat',
      target_util: 0.9,
      max_workers: 20,
      // Without a load it keeps its two workers and recruits none.
      min_load: 1_500,
      cold_mult: 1,
      cold_workers: 2,
    },
  ],
};
