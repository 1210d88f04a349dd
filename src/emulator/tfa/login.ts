/** Completing a login with a second factor (§4.4, §5.4, §5.8), and the sessions that this gives. Pure. */
import type { Input } from '../../contract/operations.ts';
import { Refused } from '../answers/refused.ts';
import type { State } from '../state/state.ts';
import type { UserRecord } from '../state/users.ts';
import { challengeNotFound, requireUnexpired } from './challenges.ts';
import { randomHex, type TfaContext } from './context.ts';
import type { SessionRecord } from '../state/two-factor.ts';
import { requireTfa, verifyProof } from './verify.ts';

const SESSION_KEY_BYTES = 32;

export interface Login {
  /** The Bearer value from now on. */
  readonly sessionKey: string;
  readonly backup_codes_remaining?: number;
  readonly legacy_tfa_user?: true;
}

export function completeLogin(context: TfaContext, { admin, ...proof }: Input<'tfa.login'>): Login {
  const { user, state, loggedOut } = context;
  const { tfa: account } = user;
  if (admin && !user.isAdmin) {
    throw new Refused('2fa_login_failed', 'only admins can have an admin session', {
      reason: 'admin: the user is no admin',
    });
  }
  requireTfa(context, '2fa_login_failed');
  const { byBackupCode } = verifyProof(context, proof, '2fa_login_failed');
  // Whatever verified it, a login that was begun with a password is complete now.
  if (loggedOut && proof.secret !== undefined) state.tfa.challenges.delete(proof.secret);
  const remaining = account.backupCodes.length;
  return {
    sessionKey: openSession(context, admin === true),
    ...(byBackupCode && remaining > 0 ? { backup_codes_remaining: remaining } : {}),
    ...(account.legacy ? { legacy_tfa_user: true as const } : {}),
  };
}

/** A session may do what the key may that opened it, and no more. */
function openSession({ state, user, key, nowMs, random, loggedOut }: TfaContext, admin: boolean): string {
  const { tfa, settings } = state;
  const sessionKey = randomHex(random, SESSION_KEY_BYTES);
  const session: SessionRecord = {
    // Below 0, where no API key can be.
    id: -1 - tfa.sessions.size,
    name: `session of ${user.username}`,
    userId: user.id,
    permissions: loggedOut ? null : key.permissions,
    team: false,
    expiresAtMs: nowMs + settings.sessionSeconds * 1000,
    admin,
  };
  tfa.sessions.set(sessionKey, session);
  return sessionKey;
}

/** The session of a key. @throws Refused auth_error for one that has expired */
export function findSession(state: State, sessionKey: string, nowMs: number): SessionRecord | undefined {
  const session = state.tfa.sessions.get(sessionKey);
  if (!session || nowMs < session.expiresAtMs) return session;
  throw new Refused('auth_error', 'the session has expired; log in again', {
    reason: 'authorization: the session_key is too old (settings.sessionSeconds)',
    inPublic: { status: 404, message: 'Session expired. Please log in again.' },
  });
}

/**
 * Who is not logged in and has but a secret (§5.8).
 * @throws Refused missing_auth_value with 401, bad_request, challenge_not_found, 2fa_expired
 */
export function userOfSecret(state: State, secret: unknown, nowMs: number): UserRecord {
  if (secret === undefined || secret === null || secret === '') {
    throw new Refused('missing_auth_value', 'send an API key, or the tfa_secret of your login', {
      status: 401,
      reason: 'authorization: neither a Bearer key nor a secret (§5.9)',
    });
  }
  if (typeof secret !== 'string') {
    throw new Refused('bad_request', 'secret: expected string', { reason: 'secret: expected string' });
  }
  const challenge = state.tfa.challenges.get(secret);
  const user = challenge && state.users.get(challenge.userId);
  if (!user || challenge.purpose === 'authorize') throw challengeNotFound();
  requireUnexpired(challenge, nowMs);
  return user;
}
