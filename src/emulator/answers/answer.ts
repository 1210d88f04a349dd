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

/** How a 429 is said: as is captured, and as it was: in plain text, as `{detail}`, as the JSON error body. */
export const THROTTLE_SHAPES = ['json', 'text', 'detail', 'error'] as const;
export type ThrottleShape = (typeof THROTTLE_SHAPES)[number];

/** All shapes except the error body, which the dialect writes. `limit`: size of the bucket that is empty. */
export function throttledAnswer(
  shape: Exclude<ThrottleShape, 'error'>,
  told: { retryAfterSeconds?: number | undefined; limit?: number; thresholdSeconds?: number | undefined },
): Answer {
  const { retryAfterSeconds: retry_after = 1, limit = 1, thresholdSeconds } = told;
  const threshold = thresholdSeconds && ` endpoint threshold=${decimal(thresholdSeconds)}`;
  if (shape === 'text')
    return textAnswer(429, 'text/plain; charset=utf-8', TOO_FREQUENT + (threshold ? `:${threshold}` : ''));
  // As the service does: here without the colon.
  if (shape === 'detail') return jsonAnswer(429, { detail: TOO_FREQUENT + (threshold ?? '') });
  const bucket = { retry_after, limit, remaining: 0 };
  return jsonAnswer(429, { error: 'HTTPTooManyRequests', msg: TOO_FREQUENT, ...bucket });
}

/** With a decimal point, as the service writes it: 3.0, 0.25. */
function decimal(seconds: number): string {
  return Number.isInteger(seconds) ? seconds.toFixed(1) : String(seconds);
}
