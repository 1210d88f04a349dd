/**
 * What an answer says about the rate limit of a key, pure. The service counts with token buckets: its headers show the
 * tightest one, also on success, and a 429 says in one of several shapes when to come back.
 */
import { isRecord } from '../contract/is-record.ts';

/** The tightest bucket, as an answer shows it. A field is undefined if the answer does not have it, or not readably. */
export interface RateLimit {
  /** How many requests a full bucket takes at once. */
  readonly limit: number | undefined;
  /** How many are left. It may jump from answer to answer, because each server process counts operations for itself. */
  readonly remaining: number | undefined;
  /** When the bucket is reset, in ms from the answer. */
  readonly resetMs: number | undefined;
}

/** When a refusal wants the next request. */
export interface Wait {
  /** When to come back, in ms from the answer. */
  readonly retryAfterMs: number | undefined;
  /** The least time between two requests, in ms. */
  readonly thresholdMs: number | undefined;
}

/** A smaller number is no epoch but seconds from now; a larger one is in ms. Neither is read. */
const EARLIEST_RESET_S = 1e9;
const LATEST_RESET_S = 1e11;

/**
 * Reads `x-ratelimit-limit`, `-remaining` and `-reset`; undefined if the answer has none of them.
 *
 * @param fields The body of a 429, whose `limit` and `remaining` count if a proxy has removed the headers.
 */
export function rateLimitOf(
  headers: Headers,
  fields: Readonly<Record<string, unknown>> = {},
): RateLimit | undefined {
  const limit = readNumber(headerText(headers, 'x-ratelimit-limit')) ?? readNumber(fields['limit']);
  const remaining =
    readNumber(headerText(headers, 'x-ratelimit-remaining')) ?? readNumber(fields['remaining']);
  const resetMs = resetMsOf(headers);
  if (limit === undefined && remaining === undefined && resetMs === undefined) return undefined;
  return { limit: limit !== undefined && limit > 0 ? limit : undefined, remaining, resetMs };
}

/**
 * Reads the Retry-After header of any refusal. A 429 may also say it in `retry_after` of its body, or else in
 * `x-ratelimit-reset`; its text may name a threshold.
 */
export function waitOf(
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
  body: unknown,
): Wait {
  const header = retryAfterMs(headers);
  if (status !== 429) return { retryAfterMs: header, thresholdMs: undefined };
  return {
    // A reset in the past does not mean that the next request is welcome.
    retryAfterMs: header ?? bodyWaitMs(body) ?? (resetMsOf(headers) || undefined),
    thresholdMs: thresholdMs(text),
  };
}

function bodyWaitMs(body: unknown): number | undefined {
  const seconds = readNumber(isRecord(body) ? body['retry_after'] : undefined);
  return seconds === undefined || seconds < 0 ? undefined : boundedMs(seconds * 1000);
}

/** From the Date of the same answer to `x-ratelimit-reset` (epoch seconds), because our own clock may be wrong. */
function resetMsOf(headers: Headers): number | undefined {
  const seconds = readNumber(headerText(headers, 'x-ratelimit-reset'));
  if (seconds === undefined || seconds < EARLIEST_RESET_S || seconds > LATEST_RESET_S) return undefined;
  const from = servedMs(headers);
  return from === undefined ? undefined : boundedMs(seconds * 1000 - from);
}

/**
 * The least time between two requests that the text of a 429 names in seconds (`threshold=3.0`), in whole ms, 1
 * to 2^31 - 1; undefined if it names none.
 */
export function thresholdMs(text: string): number | undefined {
  const seconds = /\bthreshold\s*[=:]\s*(\d+(?:\.\d+)?)/i.exec(text)?.[1];
  return seconds === undefined ? undefined : boundedMs(Number(seconds) * 1000) || undefined;
}

/** A finite number, or the text of one. */
function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** Retry-After (RFC 9110 §10.2.3): seconds or a date, of any service. What is malformed counts as not said. */

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The longest time that a timer of Node takes, ms (24.8 days); who asks for more gets this. */
const LONGEST = 2 ** 31 - 1;

/**
 * When to come back, in whole ms from the answer, 0 to 2^31 - 1. A date is counted from the Date of the same
 * answer: our clock may be wrong. `nowMs` (Unix ms) stands in for a Date that is missing.
 */
export function retryAfterMs(headers: Headers, nowMs?: number): number | undefined {
  const text = headerText(headers, 'retry-after');
  if (/^\d+(\.\d+)?$/.test(text)) return boundedMs(Number(text) * 1000);
  // Date.parse also takes "-5" for a date.
  if (!/^[A-Z][a-z]+,? /.test(text)) return undefined;
  const from = servedMs(headers) ?? nowMs;
  const at = Date.parse(text);
  return from === undefined || Number.isNaN(at) ? undefined : boundedMs(at - from);
}

/** The Date of an answer, in Unix ms. */
export function servedMs({ date }: Headers): number | undefined {
  const served = Date.parse(String(date));
  return Number.isNaN(served) ? undefined : served;
}

/** The first value of a header, without spaces around it; empty if there is no such header. */
export function headerText(headers: Headers, name: string): string {
  const header = headers[name];
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
}

/** Whole ms that a timer takes. */
export function boundedMs(ms: number): number {
  return Math.min(LONGEST, Math.max(0, Math.round(ms)));
}
