/** HTTP response → success or refusal (§7 and the public dialect), also with the status of a success. */
import * as z from 'zod';
import type { Operation } from '../contract/define.ts';
import { COMMON_ERRORS, ERRORS, type ErrorCode, type ErrorDefinition } from '../contract/errors.ts';
import { isRecord } from '../contract/is-record.ts';
import { isSecret } from '../contract/schemas.ts';
import { Redaction } from '../contract/text/redaction.ts';
import { waitOf, type Wait } from './rate-limit.ts';
import { hasRows, readAnswer, readBoolean, shownOncePaths, showsOnce } from './reading.ts';
import { problemsOf } from './request.ts';

export interface WireResponse {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Refusal extends Wait {
  readonly kind: 'refused';
  readonly status: number;
  readonly code: string | undefined;
  readonly message: string;
  readonly meaning: RefusalMeaning;
  /** Other fields of the error body, such as `fail_count`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/** `not-found`: the service itself says so. `other`: all else, such as a gateway's words. */
export type RefusalMeaning = 'throttled' | 'unauthorized' | 'not-found' | 'other';

export type DecodedResponse =
  | { readonly kind: 'ok'; readonly value: unknown }
  | Refusal
  | { readonly kind: 'unreadable'; readonly reason: string };

const NO_CONTENT = 204;
const EXCERPT = 120;

/** `key`: of the request; no message repeats it. */
export function decodeResponse(operation: Operation, response: WireResponse, key?: string): DecodedResponse {
  const body = parseJson(response.text);
  const refused = (): DecodedResponse =>
    inOtherWords(operation, refusal(operation, response, body, key), body);
  if (!isSuccess(response.status)) return refused();
  const answer = response.status === NO_CONTENT && response.text === '' ? {} : body;
  const read = readAnswer(operation.response, answer);
  if (saysNo(operation, body, read)) return refused();
  if (read.success) return { kind: 'ok', value: read.data };
  if (body === undefined) {
    const found = `${response.text.length} characters, ${contentType(response)}`;
    return {
      kind: 'unreadable',
      reason: `status ${response.status} with a body that is not JSON (${found})`,
    };
  }
  const [first] = problemsOf(read.error, body);
  const problem = first ? `: ${first.field || 'body'}: ${first.message}` : '';
  return { kind: 'unreadable', reason: `an answer that does not fit the contract${problem}` };
}

/** A 2xx body may report an error. But a shown-once value proves success, and an answer with a result a row counts as one. */
function saysNo({ response }: Operation, body: unknown, read: z.ZodSafeParseResult<unknown>): boolean {
  if (typeof body === 'string') return !read.success && shownOncePaths(response).length === 0;
  if (!isRecord(body)) return false;
  const no = readBoolean(body['success']) === false || isText(body['error_msg']) || isText(body['error']);
  if (read.success && hasRows(response, read.data)) return false;
  return no && !showsOnce(response, read.success ? read.data : body);
}

function inOtherWords(
  { otherWords = [], response }: Operation,
  refused: Refusal,
  body: unknown,
): DecodedResponse {
  const known = otherWords.find(({ says }) => says.test(refused.message));
  if (known === undefined || refused.meaning !== 'other') return refused;
  if (known.means === 'not-found') return { ...refused, meaning: 'not-found' };
  const read = readAnswer(response, known.means(isRecord(body) ? body : {}));
  return read.success ? { kind: 'ok', value: read.data } : refused;
}

function refusal(
  operation: Operation,
  response: WireResponse,
  body: unknown,
  key: string | undefined,
): Refusal {
  const record = isRecord(body) ? body : {};
  const { error, msg, message, error_msg: errorMessage, detail, success: _, ...others } = record;
  const isGuarded = hasSecrets(operation);
  const bare = shownOncePaths(operation.response).length === 0 ? body : undefined;
  const problems = isGuarded ? '' : validationProblems(detail);
  const said = [msg, message, errorMessage, detail, bare, problems].find((value) => isText(value));
  const quoted = isGuarded ? '' : excerptOfPage(response);
  const code = isText(error) ? error : undefined;
  const fields = readFields(code, others);
  const redaction = new Redaction(() => (key === undefined ? [] : [key]));
  return {
    kind: 'refused',
    status: response.status,
    code: code && redaction.text(code),
    message: redaction.text(said ?? code ?? (quoted || 'no message')),
    meaning: meaningOf(response.status, body),
    fields: redaction.fields(isGuarded ? withoutTexts(fields) : fields),
    ...waitOf(response, body),
  };
}

/** The answer may repeat the request's secrets, or is one. */
function hasSecrets({ response, body, keyInBody }: Operation): boolean {
  if (keyInBody !== undefined || shownOncePaths(response).length > 0) return true;
  return Object.values(body?.shape ?? {}).some((field) => isSecret(field as z.ZodType));
}

/** Texts and objects may hold secrets under any name. */
function withoutTexts(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isPlain = (value: unknown): boolean =>
    typeof value === 'number' || typeof value === 'boolean' || value === null;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isPlain(value)));
}

/** A framework's problems: `{"detail":[{"loc":["body","name"],"msg":"Field required"}]}`. */
function validationProblems(detail: unknown): string {
  if (!Array.isArray(detail)) return '';
  return detail
    .filter(isRecord)
    .filter(({ msg }) => isText(msg))
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${String(msg)}` : String(msg)))
    .join('; ');
}

/** A gateway's page. JSON may be a cut answer that repeats the request, so it is not quoted. */
function excerptOfPage({ status, text }: WireResponse): string {
  if (isSuccess(status) || /^[\s\uFEFF]*["[{]/.test(text)) return '';
  return excerpt(text);
}

function readFields(
  code: string | undefined,
  fields: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> {
  if (code === undefined || !Object.hasOwn(ERRORS, code)) return fields;
  const { fields: schema }: ErrorDefinition = ERRORS[code as ErrorCode];
  const read = schema && readAnswer(z.looseObject(schema.partial().shape), fields);
  return read?.success ? (read.data as Record<string, unknown>) : fields;
}

/**
 * A 404 is `not-found` if it has a string `msg`, and a string `error` or `success: false`: gateways and
 * frameworks do not know what exists. An expired session has 401, 403 or 404, or a sentence with 200.
 */
export function meaningOf(status: number, body: unknown): RefusalMeaning {
  if (status === 429) return 'throttled';
  const { error, msg, message, error_msg: errorMessage, success } = isRecord(body) ? body : {};
  const isElse = isAboutElse(error);
  const aboutSession =
    error === 'auth_error' || [msg, message, errorMessage, body].some((text) => isAboutSession(text));
  if (status === 404) {
    if (aboutSession && !isElse) return 'unauthorized';
    return typeof msg === 'string' && (typeof error === 'string' || success === false)
      ? 'not-found'
      : 'other';
  }
  const maySpeakOfKey = status === 401 || status === 403 || isSuccess(status);
  if (!maySpeakOfKey || isElse) return 'other';
  return status === 401 || aboutSession ? 'unauthorized' : 'other';
}

/** A session is over, or the key is not valid. Things have names like `session-cache`. */
const ABOUT_SESSION =
  /\bsession (?:(?:has|is|was) )?(?:expired|ended|over|invalid|not valid)\b|\b(?:expired|invalid) session\b|\bplease log in\b|\binvalid user key\b/i;

function isAboutSession(text: unknown): boolean {
  return typeof text === 'string' && ABOUT_SESSION.test(text);
}

function isAboutElse(code: unknown): boolean {
  return (
    typeof code === 'string' &&
    Object.hasOwn(ERRORS, code) &&
    !(COMMON_ERRORS as readonly string[]).includes(code)
  );
}

function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text.startsWith('\uFEFF') ? text.slice(1) : text) as unknown;
  } catch {
    return undefined;
  }
}

function excerpt(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > EXCERPT ? `${line.slice(0, EXCERPT)}…` : line;
}

function contentType({ headers }: WireResponse): string {
  const type = headers['content-type'];
  return typeof type === 'string' ? excerpt(type) : 'no content type';
}

function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
