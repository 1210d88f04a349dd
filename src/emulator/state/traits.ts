/**
 * Traits: behaviour of the public service that is not known for sure. Each trait is a switch, so that a client can be tried
 * in every world. Each dialect has its own defaults.
 */
import * as z from 'zod';

const size = z.number().min(1).describe('requests that it takes at once when it is full');
const refillPerSecond = z.number().positive().describe('requests a second that it takes in the long run');
const refusals = {
  penalty: z.number().nonnegative().default(0).describe('tokens that a refused request costs'),
  debt_cap: z
    .number()
    .nonnegative()
    .optional()
    .describe('most tokens that it owes after refused requests; absent: its size'),
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
    .describe(
      'the bucket of each operation; evidence, or no refill: one request in its spacing, if it has one',
    ),
  processes: z
    .int()
    .positive()
    .default(1)
    .describe('server processes; each has operation buckets of its own, and they share that of the key'),
  dealing: z
    .enum(['round_robin', 'random'])
    .default('round_robin')
    .describe('how requests are dealt to the processes: round_robin or random'),
  serverless: z
    .enum(['counted', 'free'])
    .default('counted')
    .describe('whether requests to the serverless address count: counted or free'),
}).refine(({ key, operations }) => key !== undefined || operations !== undefined, {
  message: 'limits nothing: give key, operations, or both',
});
export type RateLimitTrait = z.output<typeof rateLimitTrait>;

/** `json` is the captured body; the others are older. With headers: `x-ratelimit-…` on every answer, Retry-After on a 429. */
export const THROTTLED_SHAPES = {
  json: { body: 'json', hasHeaders: true },
  json_without_headers: { body: 'json', hasHeaders: false },
  plain: { body: 'plain', hasHeaders: false },
  plain_with_headers: { body: 'plain', hasHeaders: true },
  threshold: { body: 'threshold', hasHeaders: false },
  threshold_with_headers: { body: 'threshold', hasHeaders: true },
  detail: { body: 'detail', hasHeaders: false },
  detail_with_headers: { body: 'detail', hasHeaders: true },
  error: { body: 'error', hasHeaders: false },
  error_with_headers: { body: 'error', hasHeaders: true },
} as const;
type ThrottledShape = keyof typeof THROTTLED_SHAPES;
export type ThrottledBody = (typeof THROTTLED_SHAPES)[ThrottledShape]['body'];
const SHAPE_NAMES = Object.keys(THROTTLED_SHAPES) as ThrottledShape[];

/** One row each; `values` and `is` are for the documents. */
export const TRAITS = {
  rate_limit: {
    schema: wordOr('off', rateLimitTrait),
    spec: 'off',
    public: 'off',
    values: '`off`, or an object of buckets',
    is: 'how often a key may ask',
  },
  throttled_shape: {
    schema: z.enum(SHAPE_NAMES),
    spec: 'error',
    public: 'json',
    values: SHAPE_NAMES.map((name) => `\`${name}\``).join(', '),
    is: 'how `rate_limit` says 429, and whether answers have its headers',
  },
  instances_v0: {
    schema: z.enum(['answers', '410']),
    spec: 'answers',
    public: 'answers',
    values: '`answers`, `410`',
    is: 'whether the old list of instances answers, or says that it is deprecated, as to newer accounts',
  },
  tail_unit: {
    schema: z.enum(['lines', 'bytes']),
    spec: 'lines',
    public: 'bytes',
    values: '`lines`, `bytes` (-1 is all)',
    is: 'what `tail` counts, from the end of each file of a log',
  },
  log_shape: {
    schema: z.enum(['text', 'levels']),
    spec: 'text',
    public: 'levels',
    values: '`text`, `levels`',
    is: 'whether a log is one text, `logs`, or one for each of `info0`, `info1`, `trace`, `debug`',
  },
  log_file_bytes: {
    schema: z.union([z.literal('unlimited'), z.int().positive()], {
      error: 'allowed: "unlimited", or a size in bytes from 1',
    }),
    spec: 'unlimited',
    public: 'unlimited',
    values: '`unlimited`, or bytes',
    is: 'size at which the file of a level is wiped and begins anew',
  },
  expired_deployment: {
    schema: z.enum(['as_unknown', 'own_words']),
    spec: 'own_words',
    public: 'as_unknown',
    values: '`as_unknown`, `own_words`',
    is: 'how the 404 of an expired deployment reads: as that of an unknown one, or that it has expired',
  },
  put_endpoint: {
    schema: z.enum(['keeps', 'resets']),
    spec: 'keeps',
    public: 'keeps',
    values: '`keeps`, `resets`',
    is: 'whether a parameter that an update of an endpoint leaves out stays, or gets its default',
  },
  tfa_key: {
    schema: z.enum(['taken', 'refused']),
    spec: 'taken',
    public: 'taken',
    values: '`taken`, `refused`',
    is: 'whether reads take a key that was made outside a 2FA session, on an account with 2FA',
  },
} as const;

type Rows = typeof TRAITS;
type TraitName = keyof Rows;
/** Behaviour of the public service that is not known for sure: every trait with its value. */
export type Traits = { readonly [Name in TraitName]: z.output<Rows[Name]['schema']> };
/** The traits to change. */
export type TraitsInput = { readonly [Name in TraitName]?: z.input<Rows[Name]['schema']> };

export const traitsSchema = strict(
  Object.fromEntries(Object.entries(TRAITS).map(([name, { schema }]) => [name, schema.optional()])),
) as unknown as z.ZodType<Partial<Traits>, TraitsInput>;

export function defaultTraits(dialect: 'spec' | 'public'): Traits {
  return Object.fromEntries(Object.entries(TRAITS).map(([name, row]) => [name, row[dialect]])) as Traits;
}

/** What the buckets of `rate_limit` hold. */
export interface RateLimitState {
  /** By a name of key, operation and server process. */
  readonly buckets: Map<string, TokenBucket>;
  /** How many requests were dealt to server processes in turn. */
  dealt: number;
}

export interface TokenBucket {
  /** How many it had at that time; below 0 it owes some. */
  readonly tokens: number;
  /** Unix ms. */
  readonly atMs: number;
}

export function fullBuckets(): RateLimitState {
  return { buckets: new Map(), dealt: 0 };
}

/** An object whose problems name the fields that it may have. */
function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const allowed = `allowed: ${Object.keys(shape).join(', ')}`;
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys' ? `unknown field ${issue.keys.join(', ')}; ${allowed}` : undefined,
  });
}

/** One word, or an object. A union would report a problem inside the object only as "neither fits". */
function wordOr<const Word extends string, Schema extends z.ZodObject>(
  word: Word,
  schema: Schema,
): z.ZodType<Word | z.output<Schema>, Word | z.input<Schema>> {
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
