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
