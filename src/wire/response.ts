/**
 * HTTP response → outcome, pure: tells a success from the many shapes in which the service says no (§7 and
 * the public dialect), whatever the status claims.
 */
import type { Operation } from '../contract/define.ts';
import { problemsOf, type InputProblem } from './request.ts';

export interface WireResponse {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Refusal {
  readonly kind: 'refused';
  readonly status: number;
  /** Code string of the error body, where it has one. */
  readonly code: string | undefined;
  readonly message: string;
  /** The body was JSON, so that it was the service who answered and not a proxy in between. */
  readonly answered: boolean;
  /** All other fields of the error body, e.g. `fail_count` and `locked_until`. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** What the answer itself says about when to come back, in ms. */
  readonly retryAfterMs: number | undefined;
}

export type Outcome =
  | { readonly kind: 'ok'; readonly value: unknown }
  | Refusal
  | { readonly kind: 'unreadable'; readonly reason: string; readonly problems: readonly InputProblem[] };

/** Longest excerpt of a foreign body that a message quotes, in characters. */
const EXCERPT = 120;

export function decodeResponse(operation: Operation, response: WireResponse): Outcome {
  const body = parseJson(response.text);
  if (response.status < 200 || response.status >= 300) return refusal(response, body);
  if (body === undefined) {
    return {
      kind: 'unreadable',
      reason: `status ${response.status} with a body that is not JSON: ${excerpt(response.text)}`,
      problems: [],
    };
  }
  if (saysNo(body)) return refusal(response, body);
  const parsed = operation.response.safeParse(body);
  if (parsed.success) return { kind: 'ok', value: parsed.data };
  const problems = problemsOf(parsed.error, body);
  const [first] = problems;
  return {
    kind: 'unreadable',
    reason: `an answer that does not fit the contract${first ? `: ${first.field || 'body'}: ${first.message}` : ''}`,
    problems,
  };
}

/** A body that reports an error although the status is 2xx. */
function saysNo(body: unknown): boolean {
  if (typeof body === 'string') return true;
  if (!isRecord(body)) return false;
  return (
    body['success'] === false || typeof body['error_msg'] === 'string' || typeof body['error'] === 'string'
  );
}

function refusal(response: WireResponse, body: unknown): Refusal {
  const record = isRecord(body) ? body : {};
  const text = typeof body === 'string' ? body : undefined;
  const { error, msg, message, error_msg: errorMessage, detail, success: _, ...fields } = record;
  const said = [msg, message, errorMessage, detail, text].find((value) => typeof value === 'string');
  const code = typeof error === 'string' ? error : undefined;
  return {
    kind: 'refused',
    status: response.status,
    code,
    message: said ?? code ?? (excerpt(response.text) || 'no message'),
    answered: body !== undefined,
    fields,
    retryAfterMs: retryAfter(response),
  };
}

/**
 * Retry-After (seconds or a date), else the `threshold=3.0` seconds that the public service names in the
 * text of a 429. In ms.
 */
function retryAfter(response: WireResponse): number | undefined {
  const header = response.headers['retry-after'];
  if (typeof header === 'string') {
    if (/^\d+(\.\d+)?$/.test(header.trim())) return Number(header) * 1000;
    const at = Date.parse(header);
    const served = Date.parse(String(response.headers['date']));
    // Counted from the service's own clock: ours may be wrong.
    if (!Number.isNaN(at) && !Number.isNaN(served)) return Math.max(0, at - served);
  }
  if (response.status !== 429) return undefined;
  const threshold = /threshold=(\d+(?:\.\d+)?)/.exec(response.text)?.[1];
  return threshold === undefined ? undefined : Number(threshold) * 1000;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return undefined;
  }
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
