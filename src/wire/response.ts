/**
 * HTTP response → outcome, pure: tells a success from the many shapes in which the service says no (§7 and
 * the public dialect), also where the status is that of a success.
 */
import * as z from 'zod';
import type { Operation } from '../contract/define.ts';
import { COMMON_ERRORS, ERRORS, type ErrorCode, type ErrorDefinition } from '../contract/errors.ts';
import { isRecord } from '../contract/is-record.ts';
import { isSecret } from '../contract/schemas.ts';
import { Redaction } from '../contract/text/redaction.ts';
import { waitOf, type Wait } from './rate-limit.ts';
import { hasRows, readAnswer, readBoolean, shownOncePaths, showsOnce } from './reading.ts';
import { problemsOf, type InputProblem } from './request.ts';

export interface WireResponse {
  readonly status: number;
  /** Header names in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
}

export interface Refusal extends Wait {
  readonly kind: 'refused';
  readonly status: number;
  /** Code string of the error body, where it has one. */
  readonly code: string | undefined;
  readonly message: string;
  readonly meaning: RefusalMeaning;
  /** All other fields of the error body, e.g. `fail_count` and `locked_until`. */
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * `throttled`: too many requests. `unauthorized`: the key or the session is not valid, only a new one helps.
 * `not-found`: the service itself says that what was asked for does not exist. `other`: anything else, also
 * what a gateway, a proxy or a framework in between said.
 */
export type RefusalMeaning = 'throttled' | 'unauthorized' | 'not-found' | 'other';

export type Outcome =
  | { readonly kind: 'ok'; readonly value: unknown }
  | Refusal
  | {
      readonly kind: 'unreadable';
      /** Quotes nothing of the answer, which may hold what only its receiver should see. */
      readonly reason: string;
      readonly problems: readonly InputProblem[];
    };

/** The status of a success that has no body. */
const NO_CONTENT = 204;
/** Longest excerpt of a foreign body that a message quotes, in characters. */
const EXCERPT = 120;

/** `key`: of the request, so that no message has a part of it. */
export function decodeResponse(operation: Operation, response: WireResponse, key?: string): Outcome {
  const body = parseJson(response.text);
  const refused = (): Outcome => inOtherWords(operation, refusal(operation, response, body, key), body);
  if (response.status < 200 || response.status >= 300) return refused();
  const answer = response.status === NO_CONTENT && response.text === '' ? {} : body;
  const read = readAnswer(operation.response, answer);
  if (saysNo(operation, body, read)) return refused();
  if (read.success) return { kind: 'ok', value: read.data };
  if (body === undefined) {
    return {
      kind: 'unreadable',
      reason: `status ${response.status} with a body that is not JSON (${response.text.length} characters, ${contentType(response)})`,
      problems: [],
    };
  }
  const problems = problemsOf(read.error, body);
  const [first] = problems;
  return {
    kind: 'unreadable',
    reason: `an answer that does not fit the contract${first ? `: ${first.field || 'body'}: ${first.message}` : ''}`,
    problems,
  };
}

/**
 * A body that reports an error although the status is 2xx. What is shown once is there because the operation was done,
 * whatever is said beside it: such an answer is not refused, and where it cannot be read, nothing of it is quoted. Nor is
 * one that says for each of several things what became of it.
 */
function saysNo({ response }: Operation, body: unknown, read: z.ZodSafeParseResult<unknown>): boolean {
  if (typeof body === 'string') return !read.success && shownOncePaths(response).length === 0;
  if (!isRecord(body)) return false;
  const no = readBoolean(body['success']) === false || isText(body['error_msg']) || isText(body['error']);
  if (read.success && hasRows(response, read.data)) return false;
  return no && !showsOnce(response, read.success ? read.data : body);
}

/** What the refusal means, if it is one that the contract knows to mean something else. */
function inOtherWords({ otherWords = [], response }: Operation, refused: Refusal, body: unknown): Outcome {
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
  // Some services repeat the key that they refuse.
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

/** Whether a request has secrets, which an answer may repeat, or the answer is one. */
function hasSecrets({ response, body, keyInBody }: Operation): boolean {
  if (keyInBody !== undefined || shownOncePaths(response).length > 0) return true;
  return Object.values(body?.shape ?? {}).some((field) => isSecret(field as z.ZodType));
}

/** Numbers and the like are no secrets; under which names a text or an object has one, nobody knows. */
function withoutTexts(fields: Readonly<Record<string, unknown>>): Readonly<Record<string, unknown>> {
  const isPlain = (value: unknown): boolean =>
    typeof value === 'number' || typeof value === 'boolean' || value === null;
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => isPlain(value)));
}

/** What a framework says of each field that it does not take: `{"detail":[{"loc":["body","name"],"msg":"Field required"}]}`. */
function validationProblems(detail: unknown): string {
  if (!Array.isArray(detail)) return '';
  return detail
    .filter(isRecord)
    .filter(({ msg }) => isText(msg))
    .map(({ loc, msg }) => (Array.isArray(loc) ? `${loc.join('.')}: ${String(msg)}` : String(msg)))
    .join('; ');
}

/**
 * The beginning of what came in place of an answer: a gateway's page or sentence. What looks like JSON is an answer, may
 * have been cut off, may repeat the request, and is not quoted.
 */
function excerptOfPage({ status, text }: WireResponse): string {
  if ((status >= 200 && status < 300) || /^[\s\uFEFF]*["[{]/.test(text)) return '';
  return excerpt(text);
}

/** The fields that come with the code, such as `locked_until`, as the types that the table gives them. */
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
 * What a refusal means. A 404 counts as `not-found` in the service's own shape alone: a JSON object with a string
 * `msg`, and either a string `error` or `success: false`; a gateway has JSON of its own for a route that it
 * lost (`{"message":"no Route matched…"}`), and so has a framework (`{"detail":"Not Found"}`), and neither
 * knows what exists. An expired session is said with 401, 403 or 404 (§7 and the public dialect), and at the serverless
 * address with a sentence alone and the status of a success.
 *
 * @param body The parsed JSON; undefined where it was none.
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
  const maySpeakOfKey = status === 401 || status === 403 || (status >= 200 && status < 300);
  if (!maySpeakOfKey || isElse) return 'other';
  return status === 401 || aboutSession ? 'unauthorized' : 'other';
}

/** That a session is over; or that a key is not valid, in the public service's words. Things have names like `session-cache`. */
const ABOUT_SESSION =
  /\bsession (?:(?:has|is|was) )?(?:expired|ended|over|invalid|not valid)\b|\b(?:expired|invalid) session\b|\bplease log in\b|\binvalid user key\b/i;

function isAboutSession(text: unknown): boolean {
  return typeof text === 'string' && ABOUT_SESSION.test(text);
}

/** Codes such as not_found and invalid_backup_code, whatever their status, do not speak of the key. */
function isAboutElse(code: unknown): boolean {
  return (
    typeof code === 'string' &&
    Object.hasOwn(ERRORS, code) &&
    !(COMMON_ERRORS as readonly string[]).includes(code)
  );
}

function parseJson(text: string): unknown {
  try {
    // A byte-order mark is not JSON; what follows it is what was meant.
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

/** A string with something in it: `error: ""` beside a success is not an error. */
function isText(value: unknown): value is string {
  return typeof value === 'string' && value !== '';
}
