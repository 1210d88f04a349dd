import type { Input } from '../../contract/operations.ts';
import { badRequest, Refused } from '../answers/answer.ts';
import { randomHex } from '../random.ts';
import type { State } from '../state/state.ts';
import type { Challenge, Channel, SessionRecord, TfaMethodRecord, UserRecord } from '../state/users.ts';
import {
  challengeNotFound,
  chooseMethod,
  findChallenge,
  liveCode,
  methodOf,
  noteFailure,
  noteSuccess,
  noteWrongCode,
  periodOfCode,
  readTotpSecret,
  requireUnlocked,
  tfaStatusOf,
  useBackupCode,
  type TfaContext,
} from './account.ts';
import { phoneMismatch } from './sending.ts';

export type Proof = Omit<Input<'tfa.login'>, 'admin'>;

/** A login has its own error code (§7). */
type Failure = '2fa_login_failed' | '2fa_verification_failed';

/** Uses the proof up. Returns null for backup codes, e-mail and legacy SMS. @throws Refused */
export function verifyProof(context: TfaContext, proof: Proof, failure: Failure): TfaMethodRecord | null {
  const { user, state } = context;
  if (proof.backup_code !== undefined) {
    useBackupCode(user.tfa, proof.backup_code);
    return null;
  }
  if (proof.code === undefined)
    throw new Refused('missing_auth_value', 'a code or a backup code is needed', 'code');
  const id = proof.tfa_method_id;
  // §4.4: `tfa_method`, else the type of the method, else sms.
  const type =
    id === undefined ? (proof.tfa_method ?? 'sms') : methodOf(user.tfa, id, proof.tfa_method).method;
  if (type === 'totp') {
    const method = chooseMethod(user.tfa, 'totp', id);
    if (!method) throw notSetUp('totp', failure);
    verifyTotp(context, method, proof.code, failure);
    return method;
  }
  if (proof.secret === undefined)
    throw new Refused('missing_params', 'the secret that came with the code is needed', 'secret');
  // §4.4: several methods of one type must be told apart.
  if (type === 'sms') chooseMethod(user.tfa, 'sms', id);
  const challenge = findChallenge(context, proof.secret);
  const given = { channel: type, code: proof.code, id };
  const method = verifySentCode(context, challenge, given, failure);
  state.tfa.challenges.delete(proof.secret);
  return method;
}

export function verifyTotp(
  { state, nowMs }: TfaContext,
  method: TfaMethodRecord,
  code: string,
  failure: Failure,
): void {
  const { settings } = state;
  requireUnlocked(method, nowMs);
  const secret = secretOf(method);
  const period = periodOfCode(secret, code, nowMs, settings.totpSteps);
  // RFC 6238 §5.2 wants single use; the interface does not say.
  const isUsed = settings.totpOnce && period !== undefined && period <= (method.lastTotpPeriod ?? -1);
  if (period === undefined || isUsed)
    throw wrongCode(failure, noteFailure(method, settings.tfaFailuresAllowed, nowMs));
  method.lastTotpPeriod = period;
  noteSuccess(method, nowMs);
}

/** Only own numbers prove anything: a key can send codes to any number, to add it. */
export function verifySentCode(
  context: TfaContext,
  challenge: Challenge,
  given: { readonly channel: Channel; readonly code: string; readonly id?: number | undefined },
  failure: Failure,
): TfaMethodRecord | null {
  const { state, user, nowMs } = context;
  const { channel, code, id } = given;
  const { tfa: account } = user;
  if (channel === 'sms' && !account.legacy && !account.methods.some(({ method }) => method === 'sms'))
    throw notSetUp('sms', failure);
  const sent = liveCode(challenge, channel, nowMs);
  const method = account.methods.find((candidate) => candidate.id === sent.methodId) ?? null;
  if (channel === 'sms') {
    const isOnFile = account.legacy && sent.phoneNumber === account.phoneNumber;
    if (!method && !isOnFile) throw phoneMismatch('that the code was sent to is not one of your methods');
    if (id !== undefined && id !== method?.id) throw phoneMismatch('of the method is not that of the code');
  }
  if (method) requireUnlocked(method, nowMs);
  if (code === sent.code) {
    if (method) noteSuccess(method, nowMs);
    return method;
  }
  if (method) throw wrongCode(failure, noteFailure(method, state.settings.tfaFailuresAllowed, nowMs));
  noteWrongCode(challenge, channel, state.settings.tfaFailuresAllowed);
  throw wrongCode(failure);
}

/** §7: only one of the two errors shows the lock. */
export function wrongCode(failure: Failure, lock?: Readonly<Record<string, unknown>>): Refused {
  const fields = failure === '2fa_verification_failed' && lock ? { fields: lock } : {};
  return new Refused(failure, 'the code is not right', 'code', fields);
}

export function secretOf({ totpSecret }: TfaMethodRecord) {
  const secret = readTotpSecret(totpSecret);
  if (secret) return secret;
  throw new Refused('tfa_method_not_configured', 'set this authenticator up again', 'tfa_method_id');
}

function notSetUp(type: 'sms' | 'totp', failure: Failure): Refused {
  const code = failure === '2fa_login_failed' ? failure : 'invalid_tfa_method';
  return new Refused(code, `this account has no method of the type ${type}`, 'tfa_method');
}

export function requireTfa({ user }: TfaContext, failure: Failure): void {
  if (tfaStatusOf(user.tfa) !== 'disabled') return;
  throw new Refused(failure, 'this account has no 2FA', 'tfa_status');
}

const SESSION_KEY_BYTES = 32;

export function completeLogin(context: TfaContext, { admin, ...proof }: Input<'tfa.login'>) {
  const { user, state, loggedOut } = context;
  const { tfa: account } = user;
  if (admin && !user.isAdmin)
    throw new Refused('2fa_login_failed', 'only admins can have an admin session', 'admin');
  requireTfa(context, '2fa_login_failed');
  verifyProof(context, proof, '2fa_login_failed');
  // Any proof completes a login that began with a password.
  if (loggedOut && proof.secret !== undefined) state.tfa.challenges.delete(proof.secret);
  const remaining = account.backupCodes.length;
  return {
    sessionKey: openSession(context, admin === true),
    ...(proof.backup_code !== undefined && remaining > 0 && { backup_codes_remaining: remaining }),
    ...(account.legacy && { legacy_tfa_user: true as const }),
  };
}

/** A session may do what its key may, and no more. */
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

export function findSession(state: State, sessionKey: string, nowMs: number): SessionRecord | undefined {
  const session = state.tfa.sessions.get(sessionKey);
  if (!session || nowMs < session.expiresAtMs) return session;
  throw new Refused('auth_error', 'the session has expired; log in again', 'authorization', {
    inPublic: { status: 404, message: 'Session expired. Please log in again.' },
  });
}

export function userOfSecret(state: State, secret: unknown, nowMs: number): UserRecord {
  if (secret === undefined || secret === null || secret === '') {
    throw new Refused('missing_auth_value', 'send an API key or a tfa_secret', 'authorization', {
      status: 401,
    });
  }
  if (typeof secret !== 'string') throw badRequest('secret', 'expected string');
  const user = state.users.get(state.tfa.challenges.get(secret)?.userId ?? Number.NaN);
  if (!user) throw challengeNotFound();
  findChallenge({ state, user, nowMs }, secret);
  return user;
}
