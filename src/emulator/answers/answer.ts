import type { ThrottledBody } from '../state/traits.ts';

/** An HTTP answer before it is on the wire. */
export interface Answer {
  readonly status: number;
  readonly contentType: string;
  readonly text: string;
  /** Further headers, names in lower case. */
  readonly headers?: Readonly<Record<string, string>>;
}

const JSON_TYPE = 'application/json; charset=utf-8';

/** `reason` becomes `x-emulator-reason`: which field broke which rule. */
export function jsonAnswer(status: number, body: unknown, reason?: string): Answer {
  const answer = { status, contentType: JSON_TYPE, text: JSON.stringify(body) };
  return reason === undefined ? answer : { ...answer, headers: { 'x-emulator-reason': headerText(reason) } };
}

export function textAnswer(status: number, contentType: string, text: string): Answer {
  return { status, contentType, text };
}

/** Header values are one line of visible ASCII, and a client may have limits. */
function headerText(reason: string): string {
  return reason
    .replaceAll('§', 'section ')
    .replaceAll(/[^\x20-\x7e]+/g, ' ')
    .slice(0, 500);
}

/** What the service says with a 429. */
export const TOO_FREQUENT = 'API requests too frequent';

/** How a fault says 429: as plain text, as JSON {detail}, as the JSON error body. */
export const THROTTLE_SHAPES = ['text', 'detail', 'error'] as const;
type ThrottleShape = (typeof THROTTLE_SHAPES)[number];

/** `verbose`: the JSON error body carries `success: false`. */
export function throttledAnswer(
  shape: ThrottleShape,
  thresholdSeconds: number | undefined,
  verbose: boolean,
): Answer {
  const message =
    thresholdSeconds === undefined
      ? TOO_FREQUENT
      : `${TOO_FREQUENT}: endpoint threshold=${decimal(thresholdSeconds)}`;
  switch (shape) {
    case 'text':
      return textAnswer(429, 'text/plain; charset=utf-8', message);
    case 'detail':
      // As the service does: here without the colon.
      return jsonAnswer(429, { detail: message.replace(':', '') });
    case 'error': {
      const body = { error: 'rate_limited', msg: message };
      return jsonAnswer(429, verbose ? { success: false, ...body } : body);
    }
  }
}

/** What a 429 of the rate limit says. */
interface Throttling {
  readonly retryAfterSeconds: number;
  /** Size of the bucket that is empty. */
  readonly limit: number;
  /** From token to token. */
  readonly thresholdSeconds: number;
}

/** All bodies except the JSON error body, which the dialect writes. */
export function limitedAnswer(
  body: Exclude<ThrottledBody, 'error'>,
  { retryAfterSeconds, limit, thresholdSeconds }: Throttling,
): Answer {
  if (body === 'plain') return throttledAnswer('text', undefined, true);
  if (body === 'threshold') return throttledAnswer('text', thresholdSeconds, true);
  if (body === 'detail') return throttledAnswer('detail', thresholdSeconds, true);
  const told = { retry_after: retryAfterSeconds, limit, remaining: 0 };
  return jsonAnswer(429, { error: 'HTTPTooManyRequests', msg: TOO_FREQUENT, ...told });
}

/** With a decimal point, as the service writes it: 3.0, 0.25. */
function decimal(seconds: number): string {
  return Number.isInteger(seconds) ? seconds.toFixed(1) : String(seconds);
}
