import * as z from 'zod';
import { LIMITS } from '../../contract/limits.ts';

const count = (value: number, is: string) => z.int().nonnegative().default(value).describe(is);
const countFrom1 = (value: number, is: string) => z.int().positive().default(value).describe(is);
const amount = (value: number, is: string) => z.number().nonnegative().default(value).describe(is);
const amountAbove0 = (value: number, is: string) => z.number().positive().default(value).describe(is);

/** Numbers that the interface does not show, with default and unit. */
export const settingsSchema = z.strictObject({
  randomSeed: z.int().default(1).describe('seed of all random choices: log lines, probabilities of faults'),
  deploymentTtlSeconds: amountAbove0(300, 'TTL of a deployment for which the seed gives none'),
  deploymentTtlStarts: z
    .enum(['created', 'first heartbeat'])
    .default('created')
    .describe('from when the TTL of a deployment that never had a heartbeat counts'),
  logLinesPerSecond: amount(2, 'how fast the log of a worker group grows, where the seed does not say'),
  logRetainedLines: countFrom1(100_000, 'lines of a worker group that the service keeps'),
  logTailMax: countFrom1(LIMITS.logTailMax, 'most lines of one answer, if `tail` counts lines'),
  instanceCreatedSeconds: amount(5, 'how long a new instance stays `created`'),
  instanceLoadingSeconds: amount(25, 'how long a new instance stays `loading` before it runs'),
  instanceDiskGb: amountAbove0(10, 'disk in GB, where neither request nor template says'),
  diskPriceShare: z
    .number()
    .min(0)
    .max(1)
    .default(0.04)
    .describe('share of the price that is for the disk, also while it is stopped'),

  workersRecruited: count(3, 'workers that a new worker group begins with, where test_workers is not given'),
  workerUpdateSeconds: amount(60, 'how long a rolling update takes for each worker, one after the other'),
  workerPerformanceLeast: amountAbove0(900, 'units/s that a worker can do; drawn evenly from here …'),
  workerPerformanceMost: amountAbove0(1100, '… to here'),
  workerSlots: countFrom1(1, 'requests that share the performance of a worker at a time'),
  workerPriceLeast: amount(0.36, 'price in $/h of a worker that is recruited; drawn evenly from here …'),
  workerPriceMost: amount(0.44, '… to here'),
  workerModelLoadingSeconds: amount(30, 'how long a new worker loads its model (model_loading)'),
  workerColdStartSeconds: amount(20, 'how long a stopped worker takes to be ready again (starting)'),
  workerErrorSeconds: amount(60, 'how long a worker that has died stays in `error` before it is destroyed'),
  workerDestroyingSeconds: amount(5, 'how long a worker that is given up stays `destroying`'),
  engineDecisionSeconds: amountAbove0(5, 'how often the engine of an endpoint looks at its load and decides'),
  engineLoadWindowSeconds: amountAbove0(60, 'its estimate of the load is the mean over this time'),
  engineScaleDownSeconds: amount(60, 'it stops a ready worker once it has not wanted it for this time'),
  engineDestroySeconds: amount(1800, 'it destroys a stopped worker that it did not want for this time'),
  requestGiveUpSeconds: amountAbove0(600, 'how long the clients of a load wait for a worker'),

  deploymentVersionsKept: countFrom1(10, 'versions of a deployment that are kept; the oldest go first'),

  tfaFailuresAllowed: count(5, 'wrong codes in a row that a 2FA method stands; one more locks it'),
  totpSteps: count(1, 'periods of 30 s before and after now whose authenticator codes are taken'),
  methodsPerType: countFrom1(1, '2FA methods of a type that an account may add; then duplicate_tfa_method'),
  smsPerWindow: countFrom1(5, 'SMS that an account gets within smsWindowSeconds; then sms_rate_limited'),
  smsWindowSeconds: amountAbove0(600, 'seconds that smsPerWindow counts'),
  phoneCap: countFrom1(10, 'SMS that a number gets before anybody is authorized; then preauth_phone_cap'),
  phoneCapWindowSeconds: amountAbove0(86_400, 'seconds that phoneCap counts'),
  sessionSeconds: amountAbove0(86_400, 'how long the session_key of a 2FA login is good; then auth_error'),
});
/** All settings, with their defaults. */
export type Settings = Readonly<z.output<typeof settingsSchema>>;
/** The settings to change. */
export type SettingsInput = z.input<typeof settingsSchema>;

const size = z.number().min(1).describe('requests that it takes at once when it is full');
const refillPerSecond = z.number().positive().describe('requests a second that it takes in the long run');
const atLeast0 = z.number().nonnegative();
const refusals = {
  penalty: atLeast0.default(0).describe('tokens that a refused request costs'),
  debt_cap: atLeast0.optional().describe('most tokens that it owes for refused requests; absent: its size'),
};

export const bucketTrait = strict({ size, refill_per_second: refillPerSecond, ...refusals });
export type BucketTrait = z.output<typeof bucketTrait>;

export const rateLimitTrait = strict({
  key: bucketTrait.optional().describe('the bucket that all operations of a key share'),
  operations: wordOr(
    'evidence',
    strict({ size: size.default(1), refill_per_second: refillPerSecond.optional(), ...refusals }),
  )
    .optional()
    .describe('the bucket of each operation; evidence, or no refill: one request in its spacing'),
  processes: countFrom1(1, 'server processes, which take turns; each has its own operation buckets'),
  serverless: z
    .enum(['counted', 'free'])
    .default('counted')
    .describe('whether requests to the serverless address count: counted or free'),
}).refine(({ key, operations }) => key !== undefined || operations !== undefined, {
  message: 'limits nothing: give key, operations, or both',
});
export type RateLimitTrait = z.output<typeof rateLimitTrait>;

/** Headers: `x-ratelimit-…` on every answer, Retry-After on a 429. */
export const THROTTLED_SHAPES = {
  json: { body: 'json', hasHeaders: true },
  json_without_headers: { body: 'json', hasHeaders: false },
  plain: { body: 'text', hasHeaders: false },
  plain_with_headers: { body: 'text', hasHeaders: true },
  detail: { body: 'detail', hasHeaders: false },
  detail_with_headers: { body: 'detail', hasHeaders: true },
  error: { body: 'error', hasHeaders: false },
  error_with_headers: { body: 'error', hasHeaders: true },
} as const;
type ThrottledShape = keyof typeof THROTTLED_SHAPES;
const SHAPE_NAMES = Object.keys(THROTTLED_SHAPES) as [ThrottledShape, ...ThrottledShape[]];

function choice<const Value extends string>(
  values: readonly [Value, ...Value[]],
  is: string,
  [spec, other] = [values[0], values[0]],
) {
  const shown = { values: values.map((value) => `\`${value}\``).join(', '), is };
  return { schema: z.enum(values), spec, public: other, ...shown };
}

/** One row each; `values` and `is` are for the documents. */
export const TRAITS = {
  rate_limit: {
    schema: wordOr('off', rateLimitTrait),
    spec: 'off',
    public: 'off',
    values: '`off`, or an object of buckets',
    is: 'how often a key may ask',
  },
  throttled_shape: choice(SHAPE_NAMES, 'how `rate_limit` says 429, with or without headers', [
    'error',
    'json',
  ]),
  instances_v0: choice(['answers', '410'], 'whether the old list of instances answers or is gone'),
  load_meaning: choice(
    ['rate', 'in_flight', 'mixed'],
    'whether `cur_load` of a worker is units a second, units in flight, or the one if its id is odd and the other if even',
    ['rate', 'in_flight'],
  ),
  status_flicker: {
    schema: z.number().min(0).max(1),
    spec: 0,
    public: 0,
    values: 'a probability, 0 to 1',
    is: 'how likely a look shows a ready worker as `offline`, and its instance as `loading`',
  },
  tail_unit: choice(
    ['lines', 'bytes'],
    'what `tail` counts, from the end of each file of a log; -1 is all bytes',
    ['lines', 'bytes'],
  ),
  log_shape: choice(
    ['text', 'levels'],
    'whether a log is one text, `logs`, or one for each of `info0`, `info1`, `trace`, `debug`',
    ['text', 'levels'],
  ),
  log_file_bytes: {
    schema: z.union([z.literal('unlimited'), z.int().positive()], {
      error: 'allowed: "unlimited", or a size in bytes from 1',
    }),
    spec: 'unlimited',
    public: 'unlimited',
    values: '`unlimited`, or bytes',
    is: 'size at which the file of a level is wiped and begins anew',
  },
  expired_deployment: choice(
    ['as_unknown', 'own_words'],
    'how the 404 of an expired deployment reads: as that of an unknown one, or that it has expired',
    ['own_words', 'as_unknown'],
  ),
  put_endpoint: choice(['keeps', 'resets'], 'what an update of an endpoint does to omitted parameters'),
  cold_at_max: choice(
    ['settles', 'flaps'],
    'what the engine does if `cold_workers` is `max_workers`: as wanted, or it creates and destroys a worker at each decision',
  ),
  tfa_key: choice(
    ['taken', 'refused'],
    'whether reads take a key made outside a 2FA session, on an account with 2FA',
  ),
} as const;

type Rows = typeof TRAITS;
type TraitName = keyof Rows;
/** All traits with their values. */
export type Traits = { readonly [Name in TraitName]: z.output<Rows[Name]['schema']> };
/** The traits to change. */
export type TraitsInput = { readonly [Name in TraitName]?: z.input<Rows[Name]['schema']> };

export const traitsSchema = strict(
  Object.fromEntries(Object.entries(TRAITS).map(([name, { schema }]) => [name, schema.optional()])),
) as unknown as z.ZodType<Partial<Traits>, TraitsInput>;

export function defaultTraits(dialect: 'spec' | 'public'): Traits {
  return Object.fromEntries(Object.entries(TRAITS).map(([name, row]) => [name, row[dialect]])) as Traits;
}

export interface RateLimitState {
  readonly buckets: Map<string, TokenBucket>;
  dealt: number;
}

export interface TokenBucket {
  /** Tokens at that time; negative: owed. */
  readonly tokens: number;
  readonly atMs: number;
}

export function fullBuckets(): RateLimitState {
  return { buckets: new Map(), dealt: 0 };
}

function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const allowed = `allowed: ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown field ${issue.keys.join(', ')}; ${allowed}` : undefined,
  });
}

/** A union would only say that neither option fits. */
function wordOr<const Word extends string, Schema extends z.ZodObject>(word: Word, schema: Schema) {
  const read = z.unknown().transform((value, context) => {
    if (value === word) return word;
    const parsed = schema.safeParse(value);
    if (parsed.success) return parsed.data;
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value);
    const allowed = `allowed: "${word}", or an object of ${Object.keys(schema.shape).join(', ')}`;
    if (isObject) for (const issue of parsed.error.issues) context.addIssue({ ...issue });
    else context.addIssue({ code: 'custom', message: allowed });
    return z.NEVER;
  });
  return read as unknown as z.ZodType<Word | z.output<Schema>, Word | z.input<Schema>>;
}
