/** What an answer says about the rate limit of a key: headers, also on success, and the shapes of a 429. */
import { isRecord } from '../contract/is-record.ts';

/** The tightest bucket; unreadable fields are undefined. */
export interface RateLimit {
  /** Requests that a full bucket takes at once. */
  readonly limit: number | undefined;
  /** It may jump between answers: each server process counts for itself. */
  readonly remaining: number | undefined;
  /** In ms from the answer. */
  readonly resetMs: number | undefined;
}

export interface Wait {
  /** In ms from the answer. */
  readonly retryAfterMs: number | undefined;
  /** The least time between two requests, in ms. */
  readonly thresholdMs: number | undefined;
}

/** A smaller number is seconds from now, a larger one ms; neither is read. */
const EARLIEST_RESET_S = 1e9;
const LATEST_RESET_S = 1e11;

/** @param fields The body of a 429, which counts if a proxy removed the headers. */
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

/** A 429 also has `retry_after`, `x-ratelimit-reset`, or a threshold in its text. There 0 counts as no time, in Retry-After too. */
export function waitOf(
  { status, headers, text }: { readonly status: number; readonly headers: Headers; readonly text: string },
  body: unknown,
): Wait {
  const header = retryAfterMs(headers);
  if (status !== 429) return { retryAfterMs: header, thresholdMs: undefined };
  const seconds = readNumber(isRecord(body) ? body['retry_after'] : undefined) ?? 0;
  return {
    retryAfterMs: header || boundedMs(seconds * 1000) || resetMsOf(headers) || undefined,
    thresholdMs: thresholdMs(text),
  };
}

/** Counted from the Date of the answer (epoch seconds), because our clock may be wrong. */
function resetMsOf(headers: Headers): number | undefined {
  const seconds = readNumber(headerText(headers, 'x-ratelimit-reset'));
  if (seconds === undefined || seconds < EARLIEST_RESET_S || seconds > LATEST_RESET_S) return undefined;
  const from = servedMs(headers);
  return from === undefined ? undefined : boundedMs(seconds * 1000 - from);
}

/** `threshold=3.0` in the text of a 429, in ms from 1. */
export function thresholdMs(text: string): number | undefined {
  const seconds = /\bthreshold\s*[=:]\s*(\d+(?:\.\d+)?)/i.exec(text)?.[1];
  return seconds === undefined ? undefined : boundedMs(Number(seconds) * 1000) || undefined;
}

function readNumber(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

export type Headers = Readonly<Record<string, string | string[] | undefined>>;

const LONGEST = 2 ** 31 - 1;

/**
 * Retry-After (RFC 9110 §10.2.3) in ms from the answer. A date counts from the answer's Date, else `nowMs`.
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

function servedMs({ date }: Headers): number | undefined {
  const served = Date.parse(String(date));
  return Number.isNaN(served) ? undefined : served;
}

function headerText(headers: Headers, name: string): string {
  const header = headers[name];
  return (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
}

function boundedMs(ms: number): number {
  return Math.min(LONGEST, Math.max(0, Math.round(ms)));
}
