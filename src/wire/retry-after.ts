/** Retry-After (RFC 9110 §10.2.3): seconds or a date. What is malformed counts as not said. */

type Headers = Readonly<Record<string, string | string[] | undefined>>;

/** The longest time that a timer of Node takes, ms (24.8 days); who asks for more gets this. */
const LONGEST = 2 ** 31 - 1;

/**
 * When to come back, in whole ms from the answer, 0 to 2^31 - 1. A date is counted from the Date of the same
 * answer: our clock may be wrong. `nowMs` (Unix ms) stands in for a Date that is missing.
 */
export function retryAfterMs(headers: Headers, nowMs?: number): number | undefined {
  const header = headers['retry-after'];
  const text = (Array.isArray(header) ? header[0] : header)?.trim() ?? '';
  if (/^\d+(\.\d+)?$/.test(text)) return bounded(Number(text) * 1000);
  // Date.parse also takes "-5" for a date.
  if (!/^[A-Z][a-z]+,? /.test(text)) return undefined;
  const served = Date.parse(String(headers['date']));
  const from = Number.isNaN(served) ? nowMs : served;
  const at = Date.parse(text);
  return from === undefined || Number.isNaN(at) ? undefined : bounded(at - from);
}

/**
 * The least time between two requests that the text of a 429 names in seconds (`threshold=3.0`), in whole ms, 1
 * to 2^31 - 1; undefined where it names none.
 */
export function thresholdMs(text: string): number | undefined {
  const seconds = /\bthreshold\s*[=:]\s*(\d+(?:\.\d+)?)/i.exec(text)?.[1];
  return seconds === undefined ? undefined : bounded(Number(seconds) * 1000) || undefined;
}

function bounded(ms: number): number {
  return Math.min(LONGEST, Math.max(0, Math.round(ms)));
}
