import { throttledAnswer, type Answer, type ThrottleShape } from './answer.ts';
import type { Call } from './call.ts';
import type { Service, World } from './service.ts';
import {
  THROTTLED_SHAPES,
  type BucketTrait,
  type RateLimitState,
  type RateLimitTrait,
  type TokenBucket,
} from './state/settings.ts';

/** Tokens are fractions: smaller differences are rounding errors. */
const ROUNDING = 1e-9;

export interface Counting {
  readonly part: 'key' | 'operations';
  readonly name: string;
  readonly rule: BucketTrait;
  readonly bucket: TokenBucket;
}

/** New buckets are full. A clock that was moved back refills nothing. */
export function refilled(
  bucket: TokenBucket | undefined,
  { size, refill_per_second: refill }: BucketTrait,
  nowMs: number,
): TokenBucket {
  if (!bucket) return { tokens: size, atMs: nowMs };
  const seconds = Math.max(0, nowMs - bucket.atMs) / 1000;
  return { tokens: Math.min(size, bucket.tokens + seconds * refill), atMs: nowMs };
}

/** If a bucket is empty the request is refused, and empty buckets charge a penalty. */
export function count(buckets: readonly Counting[]) {
  const isEmpty = ({ bucket }: Counting) => bucket.tokens < 1 - ROUNDING;
  const isAllowed = !buckets.some(isEmpty);
  const after = buckets.map((counting): Counting => {
    const { tokens } = counting.bucket;
    const { size, penalty, debt_cap: cap = size } = counting.rule;
    if (!isAllowed && !isEmpty(counting)) return counting;
    const left = isAllowed ? tokens - 1 : Math.min(tokens, Math.max(-cap, tokens - penalty));
    return { ...counting, bucket: { ...counting.bucket, tokens: left } };
  });
  return { isAllowed, after };
}

type ShownLimit = NonNullable<ReturnType<typeof tightest>>;

/** The fewest whole tokens win, then the longest wait. */
export function tightest(buckets: readonly Counting[]) {
  const shown = buckets.map(({ part, rule, bucket }) => ({
    part,
    limit: rule.size,
    remaining: Math.max(0, Math.floor(bucket.tokens + ROUNDING)),
    waitMs: Math.max(0, ((1 - ROUNDING - bucket.tokens) / rule.refill_per_second) * 1000),
    /** Older shapes call it the threshold. */
    thresholdSeconds: Math.round(1000 / rule.refill_per_second) / 1000,
  }));
  return shown.toSorted((a, b) => a.remaining - b.remaining || b.waitMs - a.waitMs)[0];
}

/** Calls without a valid key have no bucket: they are refused anyway. */
function countCall(state: RateLimitState, trait: RateLimitTrait, call: Call, nowMs: number) {
  state.dealt += 1;
  const process = state.dealt % trait.processes;
  if (!call.key || (call.operation?.base === 'serverless' && trait.serverless === 'free'))
    return { isAllowed: true, shown: undefined };
  const key = `key ${call.key.id}`;
  const { alias, id } = call.target ?? {};
  // Older addresses have their own bucket, since the service counts by path.
  const operation = alias ? `${alias.method} ${alias.path}` : id;
  const rules = [
    { part: 'key', name: key, rule: trait.key },
    { part: 'operations', name: `${key} ${operation} ${process}`, rule: operationRule(trait, call) },
  ] as const;
  const { isAllowed, after } = count(
    rules.flatMap(({ part, name, rule }) =>
      rule ? [{ part, name, rule, bucket: refilled(state.buckets.get(name), rule, nowMs) }] : [],
    ),
  );
  for (const { name, bucket } of after) state.buckets.set(name, bucket);
  return { isAllowed, shown: tightest(after) };
}

/** Without a refill, the spacing of the operation holds. */
function operationRule({ operations }: RateLimitTrait, { target, operation }: Call): BucketTrait | undefined {
  if (operations === undefined || !operation) return undefined;
  const once = { size: 1, penalty: 0, refill_per_second: undefined };
  const set = operations === 'evidence' ? once : operations;
  const spacingMs = target?.alias?.publicSpacingMs ?? operation.publicSpacingMs;
  const evident = spacingMs === undefined ? undefined : 1000 / spacingMs;
  const refill_per_second = set.refill_per_second ?? evident;
  return refill_per_second === undefined ? undefined : { ...set, refill_per_second };
}

export function withRateLimit(service: Service, world: World): Service {
  function perform(call: Call): Answer {
    const { traits, rateLimit } = world.state;
    if (traits.rate_limit === 'off') return service.perform(call);
    const nowMs = world.now();
    const { isAllowed, shown } = countCall(rateLimit, traits.rate_limit, call, nowMs);
    if (!shown) return service.perform(call);
    const { body, hasHeaders } = THROTTLED_SHAPES[traits.throttled_shape];
    const answer = isAllowed ? service.perform(call) : refuse(call, body, shown);
    return {
      ...answer,
      headers: {
        ...answer.headers,
        ...(!isAllowed && { 'x-emulator-reason': reasonOf(shown) }),
        ...(hasHeaders && limitHeaders(shown, nowMs)),
        ...(hasHeaders && !isAllowed && { 'retry-after': String(retryAfterSeconds(shown)) }),
      },
    };
  }

  function refuse(call: Call, body: ThrottleShape, shown: ShownLimit): Answer {
    const { limit } = shown;
    const thresholdSeconds = body === 'detail' ? shown.thresholdSeconds : undefined;
    const told = { retryAfterSeconds: retryAfterSeconds(shown), limit, thresholdSeconds };
    return throttledAnswer(body, told, (refused) => world.dialect.refusal(call.operation, refused, call));
  }

  return { read: (request) => service.read(request), perform };
}

function limitHeaders({ limit, remaining, waitMs }: ShownLimit, nowMs: number): Record<string, string> {
  return {
    'x-ratelimit-limit': String(limit),
    'x-ratelimit-remaining': String(remaining),
    // Whole Unix seconds, like the Date of the answer.
    'x-ratelimit-reset': String(Math.ceil((nowMs + waitMs) / 1000)),
  };
}

function retryAfterSeconds({ waitMs }: ShownLimit): number {
  return Math.max(1, Math.ceil(waitMs / 1000));
}

function reasonOf(shown: ShownLimit): string {
  const { part, limit, thresholdSeconds } = shown;
  const bucket = `a bucket of ${limit} that gets a token every ${thresholdSeconds} s is empty`;
  return `trait rate_limit.${part}: ${bucket}; it has one in ${retryAfterSeconds(shown)} s`;
}
