/** On whose behalf a call is made: by key, or for some operations of 2FA by the secret of a login (§5.7). Pure. */
import type { Operation } from '../../contract/define.ts';
import { authenticate } from './access.ts';
import type { Call } from './call.ts';
import type { ApiKeyRecord } from '../state/api-keys.ts';
import type { State } from '../state/state.ts';
import type { UserRecord } from '../state/users.ts';
import { userOfSecret } from '../tfa/login.ts';

export interface Identity {
  readonly key: ApiKeyRecord;
  readonly user: UserRecord;
  /** Known by a secret alone; `key` then grants nothing. */
  readonly loggedOut: boolean;
}

/** @throws Refused what authenticate and userOfSecret throw */
export function identify(
  state: State,
  { verification, base }: Operation,
  call: Call,
  nowMs: number,
): Identity {
  if (call.bearer !== undefined || !verification.secretAlone) {
    return { ...authenticate(state, call.bearer, nowMs, base), loggedOut: false };
  }
  const body = call.body.kind === 'json' ? (call.body.value as { secret?: unknown } | null) : null;
  const user = userOfSecret(state, body?.secret, nowMs);
  // Below 0, where no API key can be; its own for each user, since minimum intervals go by it.
  const key = { id: -1_000_000 - user.id, name: 'tfa_secret', userId: user.id, permissions: {}, team: false };
  return { key, user, loggedOut: true };
}
