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
import { loadSchema } from '../state/endpoints.ts';
import { settingsSchema } from '../state/settings.ts';
import { traitsSchema, type Traits } from '../state/traits.ts';
import { BACKING_STORES, SMS_PROVIDERS } from '../state/users.ts';

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

export const templateEntry = z.strictObject({
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

const user = z.strictObject({
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
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (cause) {
    throw new Failure(`${path}: ${(cause as Error).message}`, { cause });
  }
  try {
    return JSON.parse(text) as unknown;
  } catch (cause) {
    throw new Failure(`${path}: not JSON: ${(cause as Error).message}`, { cause });
  }
}
