/** Who calls, and what they may do (§5): the Bearer key, and the permissions of a scoped one. Pure. */
import type { Base, Operation } from '../../contract/define.ts';
import { isRecord } from '../../contract/is-record.ts';
import { Refused } from '../answers/refused.ts';
import type { State } from '../state/state.ts';
import type { ApiKeyRecord, UserRecord } from '../state/users.ts';
import { tfaStatusOf } from '../tfa/account.ts';
import { findSession, userOfSecret } from '../tfa/verify.ts';

/** The value of `Authorization: Bearer …`; undefined without one. */
export function bearerOf(authorization: string | undefined): string | undefined {
  return /^Bearer +(\S+)\s*$/i.exec(authorization ?? '')?.[1];
}

/**
 * The holder of an API key, or of the session_key of a 2FA login (§5.4).
 * @throws Refused missing_auth_value without a key, auth_error with an expired session, invalid_key for one that is
 * unknown, was reset or was deleted
 */
function authenticate(
  state: State,
  bearer: string | undefined,
  nowMs: number,
  base: Base,
): { key: ApiKeyRecord; user: UserRecord } {
  if (bearer === undefined) {
    throw new Refused('missing_auth_value', 'no API key given', 'authorization', {
      status: 401,
      inPublic: { status: 403, code: 'auth_error', message: 'This action requires login.' },
    });
  }
  const key = findCaller(state, bearer, nowMs, base);
  const user = key && state.users.get(key.userId);
  if (!key || !user) {
    throw new Refused('invalid_key', 'the API key is not valid: unknown, reset or deleted', 'authorization');
  }
  return { key, user };
}

/**
 * Who a value speaks for, in the header, the query or the body alike: a key, a session (§5.4), and at the serverless
 * address an endpoint's own key.
 * @throws Refused auth_error for a session that has expired
 */
export function findCaller(state: State, value: string, nowMs: number, base: Base): ApiKeyRecord | undefined {
  const own = base === 'serverless' ? endpointKey(state, value) : undefined;
  return state.keys.get(value) ?? findSession(state, value, nowMs) ?? own;
}

/** A key or a session by its value, valid or expired; what the journal names the caller by. */
export function keyNamed(state: State, bearer: string): ApiKeyRecord | undefined {
  return state.keys.get(bearer) ?? state.tfa.sessions.get(bearer) ?? endpointKey(state, bearer);
}

/** An endpoint's own key, which may read and route, and change nothing. Its id is below 0, where no key of an account is. */
function endpointKey(state: State, bearer: string): ApiKeyRecord | undefined {
  for (const { id, apiKey, userId } of state.endpointGroups.values())
    if (apiKey === bearer)
      return { id: -1 - id, name: `endpoint ${id}`, userId, permissions: {}, team: false };
  return undefined;
}

/** Values that may never be shown. */
export function* secretsOf(state: State): Iterable<string> {
  yield* state.keys.keys();
  yield* state.tfa.sessions.keys();
  for (const { apiKey } of state.endpointGroups.values()) yield apiKey;
}

/** Flags of §2.5 that stand for several of the fine-grained permissions. */
const FLAG_GRANTS: Readonly<Record<string, readonly string[]>> = {
  manage_instances: ['instance_read', 'instance_write'],
  manage_billing: ['billing_read', 'billing_write'],
};

/** @throws Refused forbidden when a scoped key lacks what the operation needs (§5.3) */
export function authorize(operation: Operation, key: ApiKeyRecord): void {
  const { permission } = operation;
  if (permission === undefined || key.permissions === null) return;
  if (granted(key.permissions).has(permission)) return;
  throw new Refused('forbidden', `the API key lacks the permission ${permission}`, 'authorization', {
    inPublic: { status: 401, message: `Your key lacks the ${permission} permission group` },
  });
}

/** A key that a 2FA login gave out, until its end. */
export function isSession(key: ApiKeyRecord): boolean {
  return 'expiresAtMs' in key;
}

/**
 * Evidence 7.3, as the trait tfa_key has it: such a key may still write, search offers, and log in.
 * @throws Refused invalid_key for a read with a key that was made outside a 2FA session, of an account with 2FA
 */
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

/**
 * A key cannot make one that may more than itself. This is assumed: the interface shows no more than that keys can be
 * scoped (§5.3), which would mean little otherwise.
 * @throws Refused forbidden
 */
export function requireWithin(key: ApiKeyRecord, wanted: ApiKeyRecord['permissions']): void {
  if (key.permissions === null) return;
  const own = granted(key.permissions);
  const beyond = wanted === null ? ['full access'] : [...granted(wanted)].filter((name) => !own.has(name));
  if (beyond.length === 0) return;
  throw new Refused('forbidden', `this key lacks ${beyond.join(', ')} itself`, 'permissions');
}

/** Fine-grained permissions and other flags; a flag that stands for several of them is not one itself. */
function granted(permissions: Readonly<Record<string, unknown>>): Set<string> {
  const flags = Object.keys(permissions).filter((flag) => permissions[flag] === true);
  const { api } = permissions;
  const nested = isRecord(api) ? Object.keys(api).filter((name) => api[name] !== false) : [];
  return new Set([...flags, ...nested].flatMap((name) => FLAG_GRANTS[name] ?? name));
}

export interface Identity {
  readonly key: ApiKeyRecord;
  readonly user: UserRecord;
  /** Known by a secret alone; `key` then grants nothing. */
  readonly loggedOut: boolean;
}

/**
 * On whose behalf a call is made: by key, or for some operations of 2FA by the `secret` of a login (§5.7).
 * @throws Refused what authenticate and userOfSecret throw
 */
export function identify(
  state: State,
  { verification, base }: Operation,
  { bearer, secret }: { readonly bearer: string | undefined; readonly secret: unknown },
  nowMs: number,
): Identity {
  if (bearer !== undefined || !verification.secretAlone) {
    return { ...authenticate(state, bearer, nowMs, base), loggedOut: false };
  }
  const user = userOfSecret(state, secret, nowMs);
  // Below 0, where no API key can be; its own for each user, since rate limits go by it.
  const key = { id: -1_000_000 - user.id, name: 'tfa_secret', userId: user.id, permissions: {}, team: false };
  return { key, user, loggedOut: true };
}
