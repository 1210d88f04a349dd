/**
 * What the service answered, its text as lines, and lines as numbers. Errors come in many shapes, some with status 200,
 * and none of them is a log line.
 */
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

/** The text of an answer. After the last "\n" it is a line that is still being written. */
export interface Text {
  /** Those that have ended, without their ends. */
  readonly lines: readonly string[];
  readonly hashes: Float64Array;
  /** What stands after the last line's end. */
  readonly unended: string;
  /** Of the whole answer, in UTF-8. */
  readonly bytes: number;
  /** Of the whole answer, in UTF-16 units. */
  readonly length: number;
}

/** A character that was cut at the end of an answer. */
const CUT_CHARACTER = /\uFFFD{1,3}$/;

export function readText(body: string): Text {
  // Half of a surrogate pair would not survive UTF-8: a line read back from disk would differ.
  const lines = body.toWellFormed().split('\n').map(withoutReturns);
  const unended = (lines.pop() ?? '').replace(CUT_CHARACTER, '');
  const bytes = Buffer.byteLength(body);
  return { lines, hashes: hashesOf(lines), unended, bytes, length: body.length };
}

export function bytesPerLine({ bytes, lines, unended }: Text): number {
  return Math.max(1, bytes / Math.max(1, lines.length + Number(unended !== '')));
}

/** Carriage returns before a line's end belong to the end. */
function withoutReturns(line: string): string {
  let end = line.length;
  while (end > 0 && line.charCodeAt(end - 1) === 0x0d) end--;
  return line.slice(0, end);
}

/** What a screen shows at the end of a line that was redrawn by carriage returns. */
export function lastState(line: string): string {
  return line.slice(line.lastIndexOf('\r') + 1);
}

/** A copy. V8 keeps a slice as a pointer into the whole answer, which would stay in memory. */
export function standalone(line: string): string {
  return ` ${line}`.slice(1);
}

export function hashesOf(lines: readonly string[]): Float64Array {
  const hashes = new Float64Array(lines.length);
  lines.forEach((line, index) => (hashes[index] = hashOf(line)));
  return hashes;
}

/**
 * From 0 to 2⁵³ − 1. Lines that differ in one UTF-16 unit never collide, others do once in 9 × 10¹⁵ pairs. Spools keep
 * these numbers, so the function must not change.
 */
function hashOf(line: string): number {
  let [high, low] = [line.length, 0x2545f491];
  for (let index = 0; index < line.length; index++) {
    const unit = line.charCodeAt(index);
    high = Math.imul(high ^ unit, 0x85ebca6b);
    high ^= high >>> 15;
    low = Math.imul(low ^ unit, 0xc2b2ae35);
    low ^= low >>> 13;
  }
  return (high >>> 0) * 2 ** 21 + (low >>> 11);
}
