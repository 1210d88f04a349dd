/** Operation → HTTP request: splits a flat input into path, query and body. */
import type { z } from 'zod';
import { missingWithoutKey, rulesOf, type Operation } from '../contract/define.ts';
import { isRecord } from '../contract/is-record.ts';
import { isKeptOutOfMessages } from '../contract/schemas.ts';

export interface WireRequest {
  readonly method: Operation['method'];
  readonly target: string;
  /** JSON; undefined if the operation has no body. */
  readonly body: string | undefined;
}

/** `value` is absent if the field is. */
export interface InputProblem {
  /** Dotted path; `''` is the whole input. */
  readonly field: string;
  readonly message: string;
  readonly value?: unknown;
}

type EncodeResult =
  | { readonly ok: true; readonly request: WireRequest }
  | { readonly ok: false; readonly problems: readonly InputProblem[] };

/** In the order in which the parts claim fields. */
export function partsOf(operation: Operation): { part: 'params' | 'query' | 'body'; schema: z.ZodObject }[] {
  return (['params', 'query', 'body'] as const).flatMap((part) => {
    const schema = operation[part];
    return schema ? [{ part, schema }] : [];
  });
}

export const EXTRA = 'extra';

export function extraPartOf({ body, query }: Operation): 'body' | 'query' | undefined {
  return body ? 'body' : query ? 'query' : undefined;
}

export function encodeRequest(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  apiKey: string | undefined,
): EncodeResult {
  const parts = partsOf(operation);
  const known = new Set(parts.flatMap(({ schema }) => Object.keys(schema.shape)));
  const extraPart = extraPartOf(operation);
  const problems: InputProblem[] = Object.keys(input)
    .filter((field) => !known.has(field) && (field !== EXTRA || extraPart === undefined))
    .map((field) => ({
      field,
      message: `unknown field "${field}"; allowed: ${[...known].join(', ') || 'none'}`,
    }));
  if (extraPart !== undefined) problems.push(...extraProblems(input, operation.keyInBody));

  const values: Partial<Record<'params' | 'query' | 'body', Record<string, unknown>>> = {};
  for (const { part, schema } of parts) {
    const own = Object.fromEntries(
      Object.keys(schema.shape).flatMap((field) =>
        input[field] === undefined ? [] : [[field, input[field]]],
      ),
    );
    const parsed = schema.safeParse(own);
    if (parsed.success) values[part] = parsed.data;
    else problems.push(...problemsOf(parsed.error, withoutSecrets(schema, own)));
  }
  problems.push(...wholeProblems(operation, input, apiKey, values.query));
  if (problems.length > 0) return { ok: false, problems };
  if (extraPart !== undefined && isRecord(input[EXTRA]))
    values[extraPart] = { ...input[EXTRA], ...values[extraPart] };

  if (operation.keyInBody && apiKey !== undefined) {
    values.body = { ...values.body, [operation.keyInBody]: apiKey };
  }
  try {
    const request = {
      method: operation.method,
      target: fillPath(operation.path, values.params ?? {}) + queryString(values.query ?? {}),
      body: values.body && JSON.stringify(values.body),
    };
    return { ok: true, request };
  } catch (error) {
    const message = `cannot be written as JSON: ${error instanceof Error ? error.message : 'not serializable'}`;
    return { ok: false, problems: [{ field: '', message }] };
  }
}

function wholeProblems(
  operation: Operation,
  input: Readonly<Record<string, unknown>>,
  apiKey: string | undefined,
  query: Readonly<Record<string, unknown>> = {},
): InputProblem[] {
  const rules = operation.verification.secret === 'never' ? (operation.rules ?? []) : rulesOf(operation);
  const broken = rules.filter(({ isBroken }) => isBroken(input));
  const lacking = apiKey === undefined ? missingWithoutKey(operation, input) : undefined;
  const halves = Object.entries(query).filter(
    ([, value]) => typeof value === 'string' && !value.isWellFormed(),
  );
  return [
    ...broken.map(({ field, says }) => ({ field, message: says })),
    ...(lacking ? [lacking] : []),
    ...halves.map(([field]) => ({
      field,
      message: 'has half of a surrogate pair, which no address can carry',
    })),
  ];
}

/** Values are not repeated: they may be secrets. */
function extraProblems(
  input: Readonly<Record<string, unknown>>,
  keyInBody: string | undefined,
): InputProblem[] {
  const extra = input[EXTRA];
  if (extra === undefined) return [];
  if (!isRecord(extra)) return [{ field: EXTRA, message: 'takes an object of further fields', value: extra }];
  return Object.keys(extra)
    .filter((name) => input[name] !== undefined || name === keyInBody)
    .map((name) => ({ field: `${EXTRA}.${name}`, message: 'is a field of its own, and set already' }));
}

export function keyProblems(key: unknown): InputProblem[] {
  // A header holds visible ASCII only (RFC 9110 §5.5).
  if (key === undefined || (typeof key === 'string' && /^[!-~]*$/.test(key))) return [];
  const message =
    typeof key === 'string'
      ? 'has a space, a line break or another character that no API key has'
      : 'must be a string or a function';
  return [{ field: 'apiKey', message }];
}

const USER_AGENT = 'pilotlight';

export function requestHeaders(request: WireRequest, key: string | undefined): Record<string, string> {
  return {
    accept: 'application/json',
    // Otherwise any coding would do (RFC 9110 §12.5.3).
    'accept-encoding': 'identity',
    'user-agent': USER_AGENT,
    ...(request.body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
  };
}

function withoutSecrets(
  { shape }: z.ZodObject,
  input: Readonly<Record<string, unknown>>,
): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [
      name,
      isKeptOutOfMessages(shape[name] as z.ZodType) ? SECRET : value,
    ]),
  );
}

const SECRET = '(a secret)';

export function problemsOf(error: z.ZodError, input: unknown): InputProblem[] {
  return error.issues.map((issue) => {
    let value: unknown = input;
    for (const key of issue.path) value = (value as Record<PropertyKey, unknown> | undefined)?.[key];
    const field = issue.path.map(String).join('.');
    if (value === undefined && issue.code === 'invalid_type') return { field, message: 'is missing' };
    const problem = { field, message: issue.message };
    // An unknown field may be a secret.
    return value === undefined || issue.code === 'unrecognized_keys' ? problem : { ...problem, value };
  });
}

function fillPath(path: string, params: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_, name: string) => encodeURIComponent(String(params[name])));
}

/** Strings travel as they are, all else as JSON (§4.2). */
function queryString(query: Readonly<Record<string, unknown>>): string {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    if (value === undefined) continue;
    search.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return search.size > 0 ? `?${search.toString()}` : '';
}
