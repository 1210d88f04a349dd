/** What the journal may keep of a request, by allow-list: a key or code is never stored, wherever it stands. Pure. */
import type { Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { secretPatterns } from '../../contract/text/secret-pattern.ts';
import type { Call } from '../calls/call.ts';

const REDACTED = '[redacted]';

/** Fields of the contract whose values are secrets, or may hold some. */
const SECRET_FIELDS: ReadonlySet<string> = new Set([
  'api_key',
  'secret',
  'code',
  'backup_code',
  'docker_login_pass',
  'env',
  'storage',
  'onstart',
  'image_login',
  'args',
  'args_str',
  'launch_args',
]);

interface RedactedRequest {
  readonly path: string;
  readonly query: Readonly<Record<string, unknown>>;
  /** undefined without a body, or where it was not JSON. */
  readonly body: unknown;
}

/** `secrets`: the values of all keys that exist; the one presented is added to them. */
export function redactCall(call: Call, secrets: Iterable<string>): RedactedRequest {
  // Hardly any request of the hot path has something to redact, so the cheap cases come first.
  const { body, query, operation } = call;
  // A key beside the one that counts, which nobody knows either.
  const beside = query['api_key'];
  const known = [
    ...secrets,
    ...(call.bearer === undefined ? [] : [call.bearer]),
    ...(beside === undefined || beside === '' ? [] : [beside]),
  ];
  return {
    path: scrub(call.path, known),
    query: redactFields(query, operation, known),
    body: body.kind === 'json' ? redactBody(body.value, operation, known) : undefined,
  };
}

function redactBody(body: unknown, operation: Operation | undefined, known: readonly string[]): unknown {
  if (isRecord(body)) return redactFields(body, operation, known);
  return REDACTED;
}

function redactFields(
  fields: Readonly<Record<string, unknown>>,
  operation: Operation | undefined,
  known: readonly string[],
): Record<string, unknown> {
  const allowed = { ...operation?.params?.shape, ...operation?.query?.shape, ...operation?.body?.shape };
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const keep = Object.hasOwn(allowed, name) && !SECRET_FIELDS.has(name);
      return [scrub(name, known), keep ? scrubDeep(value, known) : REDACTED];
    }),
  );
}

function scrubDeep(value: unknown, known: readonly string[]): unknown {
  if (typeof value === 'string') return scrub(value, known);
  if (Array.isArray(value)) return value.map((item) => scrubDeep(item, known));
  if (!isRecord(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, item]) => [
      scrub(name, known),
      SECRET_FIELDS.has(name) ? REDACTED : scrubDeep(item, known),
    ]),
  );
}

function scrub(text: string, known: readonly string[]): string {
  let clean = text;
  for (const secret of known) if (clean.includes(secret)) clean = clean.replaceAll(secret, REDACTED);
  // Written otherwise, which is rare: percent-encoded in a path, or as JSON in a text.
  if (/[%\\]/.test(clean))
    for (const { pattern } of known.flatMap(secretPatterns)) clean = clean.replaceAll(pattern, REDACTED);
  return clean;
}
