/** What the service answered. Errors come in many shapes, some with status 200, and none of them is a log line. */
import { isRecord } from '../contract/is-record.ts';

export type TailAnswer =
  /** The end of the log. It may be empty: the log is, or the service cannot find it. */
  | { readonly kind: 'text'; readonly text: string }
  /** Each level is a stream of its own. */
  | { readonly kind: 'levels'; readonly levels: Readonly<Record<string, string>> }
  | Refusal;

export interface Refusal {
  readonly kind: 'error';
  /** For a person, without secrets. */
  readonly reason: string;
  /** As the service asked, ms. */
  readonly retryAfterMs?: number;
  /** `perhaps`: it was slow or cut, because it was too large or because the service is in trouble. */
  readonly tooLarge?: 'surely' | 'perhaps';
  /** The key is wrong, or the group is young. */
  readonly notFound?: boolean;
}

/** Without `error`, which is how an error body begins. */
const LEVEL = /^(?:info|warn|trace|debug)\d*$/;
/** "authenticate_…_apikey: invalid api_key or … not found". */
export const NOT_FOUND = /invalid api_key or .*not found/i;
const ERROR_KEYS = ['error_msg', 'error', 'detail', 'msg', 'message'] as const;

/** @param body The parsed JSON, or the text if it was none. */
export function recogniseAnswer(status: number, body: unknown): TailAnswer {
  if (status < 200 || status > 299) return refusal(`status ${status}`, body);
  if (!isRecord(body)) return refusal('not a log', body);
  if (body['error_msg'] || body['error'] || body['success'] === false) return refusal('error', body);
  const logs = body['logs'];
  if (typeof logs === 'string') return { kind: 'text', text: logs };
  const levels = levelsOf(isRecord(logs) ? logs : body);
  return levels === undefined ? refusal('no logs', body) : { kind: 'levels', levels };
}

function levelsOf(fields: Readonly<Record<string, unknown>>): Record<string, string> | undefined {
  const levels = Object.entries(fields).filter(
    (entry): entry is [string, string] => LEVEL.test(entry[0]) && typeof entry[1] === 'string',
  );
  return levels.length === 0 ? undefined : Object.fromEntries(levels);
}

function refusal(what: string, body: unknown): Refusal {
  const said = typeof body === 'string' ? body.trim() : isRecord(body) ? sayingOf(body) : '';
  const reason = said === '' ? what : `${what}: ${said.slice(0, 200)}`;
  return { kind: 'error', reason, ...(NOT_FOUND.test(said) && { notFound: true }) };
}

function sayingOf(fields: Readonly<Record<string, unknown>>): string {
  const said = ERROR_KEYS.map((key) => fields[key]);
  return said.find((text): text is string => typeof text === 'string' && text !== '') ?? '';
}
