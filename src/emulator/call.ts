/** Reads a request, then finds the caller and their permissions (§5). Pure. */
import type { Base, Operation } from '../contract/define.ts';
import { isRecord } from '../contract/is-record.ts';
import { operationOf, type OperationId } from '../contract/operations.ts';
import type { RouteMatch } from '../wire/match.ts';
import { Refused } from './answer.ts';
import type { ApiKeyRecord, State } from './state/state.ts';
import { findSession, tfaStatusOf, userOfSecret, type TfaContext } from './tfa/account.ts';

export interface Target {
  readonly id: OperationId;
  readonly alias?: Alias;
}

export interface Alias {
  readonly method: string;
  readonly path: string;
  readonly id: OperationId;
  readonly publicSpacingMs?: number;
  body?(query: Readonly<Record<string, string>>, state: State): Record<string, unknown>;
}

export interface Addresses {
  match(method: string, path: string): RouteMatch<Target> | undefined;
  /** Refuses unexpected bodies and queries, and takes keys in the header only. */
  readonly strict: boolean;
}

export interface IncomingRequest {
  readonly method: string;
  readonly url: string;
  readonly authorization: string | undefined;
  readonly bodyText: string;
  /** Address of the emulator as the client sees it, without a slash at its end. */
  readonly origin?: string;
}

type Body = { readonly kind: 'none' | 'malformed' } | { readonly kind: 'json'; readonly value: unknown };

const NO_QUERY: Readonly<Record<string, string>> = {};

export type Call = Readonly<ReturnType<typeof readCall>>;

export function readCall(request: IncomingRequest, dialect: Addresses, state: State) {
  const { method, url } = request;
  const queryAt = url.indexOf('?');
  const path = queryAt === -1 ? url : url.slice(0, queryAt);
  const match = dialect.match(method, path);
  const operation = match && operationOf(match.value.id);
  const params = match?.params ?? {};
  const body = readBody(request.bodyText);
  const query = queryAt === -1 ? NO_QUERY : Object.fromEntries(new URLSearchParams(url.slice(queryAt + 1)));
  const elsewhere = dialect.strict ? undefined : keyOutsideHeader(operation, query, body);
  const bearer = /^Bearer +(\S+)\s*$/i.exec(request.authorization ?? '')?.[1] ?? elsewhere;
  return {
    method,
    path,
    origin: request.origin ?? '',
    target: match?.value,
    operation,
    params,
    query,
    body,
    bearer,
    key: bearer === undefined ? undefined : keyNamed(state, bearer),
    /** The id for faults and journal: the path's, else the body's. */
    subject: subjectOf(params, body),
  };
}

function keyOutsideHeader(
  operation: Operation | undefined,
  query: Readonly<Record<string, string>>,
  body: Body,
): string | undefined {
  const inBody = operation?.base === 'serverless' && body.kind === 'json' && isRecord(body.value);
  const key = query['api_key'] ?? (inBody ? body.value['api_key'] : undefined);
  return typeof key === 'string' && key !== '' ? key : undefined;
}

function readBody(text: string): Body {
  if (text === '') return { kind: 'none' };
  try {
    return { kind: 'json', value: JSON.parse(text) as unknown };
  } catch {
    return { kind: 'malformed' };
  }
}

function subjectOf(params: Readonly<Record<string, string>>, body: Body): number | null {
  const [inPath] = Object.values(params);
  if (inPath !== undefined) return Number.isSafeInteger(Number(inPath)) ? Number(inPath) : null;
  if (body.kind !== 'json') return null;
  const inBody = (body.value as { id?: unknown } | null)?.id;
  return typeof inBody === 'number' ? inBody : null;
}

export function findCaller(state: State, value: string, nowMs: number, base: Base): ApiKeyRecord | undefined {
  const own = base === 'serverless' ? endpointKey(state, value) : undefined;
  return state.keys.get(value) ?? findSession(state, value, nowMs) ?? own;
}

/** Also finds expired keys: the journal names the caller by it. */
function keyNamed(state: State, bearer: string): ApiKeyRecord | undefined {
  return state.keys.get(bearer) ?? state.tfa.sessions.get(bearer) ?? endpointKey(state, bearer);
}

/** An endpoint's own key reads and routes only. Ids below 0 are not listed in an account. */
function endpointKey(state: State, bearer: string): ApiKeyRecord | undefined {
  const owner = state.endpointGroups.values().find(({ apiKey }) => apiKey === bearer);
  if (!owner) return undefined;
  const { id, userId } = owner;
  return { id: -1 - id, name: `endpoint ${id}`, userId, permissions: {}, team: false };
}

export function* secretsOf(state: State): Iterable<string> {
  yield* state.keys.keys();
  yield* state.tfa.sessions.keys();
  for (const { apiKey } of state.endpointGroups.values()) yield apiKey;
}

const FLAG_GRANTS: Readonly<Record<string, readonly string[]>> = {
  manage_instances: ['instance_read', 'instance_write'],
  manage_billing: ['billing_read', 'billing_write'],
};

export function authorize(operation: Operation, key: ApiKeyRecord): void {
  const { permission } = operation;
  if (permission === undefined || key.permissions === null) return;
  if (granted(key.permissions).has(permission)) return;
  throw new Refused('forbidden', `the API key lacks the permission ${permission}`, 'authorization', {
    inPublic: { status: 401, message: `Your key lacks the ${permission} permission group` },
  });
}

export function isSession(key: ApiKeyRecord): boolean {
  return 'expiresAtMs' in key;
}

export function requireTfaKey(state: State, operation: Operation, { key, user, loggedOut }: Identity): void {
  const isRead = operation.method === 'GET' && !operation.path.startsWith('/api/v0/tfa/');
  if (state.traits.tfa_key === 'taken' || !isRead || loggedOut || isSession(key) || key.byTfa === true)
    return;
  if (tfaStatusOf(user.tfa) === 'disabled') return;
  const message =
    'Your key lacks proper privileges: this account requires you to have logged in using Two Factor Authentication';
  throw new Refused('invalid_key', message, 'authorization', {
    inPublic: { status: 401, code: 'auth_error', message },
  });
}

/** A flag that stands for several permissions is not a permission itself. */
function granted(permissions: Readonly<Record<string, unknown>>): Set<string> {
  const flags = Object.keys(permissions).filter((flag) => permissions[flag] === true);
  const { api } = permissions;
  const nested = isRecord(api) ? Object.keys(api).filter((name) => api[name] !== false) : [];
  return new Set([...flags, ...nested].flatMap((name) => FLAG_GRANTS[name] ?? name));
}

export type Identity = Pick<TfaContext, 'key' | 'user' | 'loggedOut'>;

export function identify(
  state: State,
  { verification, base }: Operation,
  { bearer, secret }: { readonly bearer: string | undefined; readonly secret: unknown },
  nowMs: number,
): Identity {
  if (bearer === undefined && verification.secretAlone) {
    const user = userOfSecret(state, secret, nowMs);
    // Not an API key, so its id is below 0. Each user has one, because rate limits count by id.
    const { id: userId } = user;
    const key = { id: -1_000_000 - userId, name: 'tfa_secret', userId, permissions: {}, team: false };
    return { key, user, loggedOut: true };
  }
  if (bearer === undefined) {
    throw new Refused('missing_auth_value', 'no API key given', 'authorization', {
      status: 401,
      inPublic: { status: 403, code: 'auth_error', message: 'This action requires login.' },
    });
  }
  const key = findCaller(state, bearer, nowMs, base);
  const user = key && state.users.get(key.userId);
  if (key && user) return { key, user, loggedOut: false };
  throw new Refused('invalid_key', 'the API key is not valid: unknown, reset or deleted', 'authorization');
}
