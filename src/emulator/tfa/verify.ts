/** Verifying a second factor (§4.4, §5.7): a code with its secret, an authenticator's code, or a backup code. Pure. */
import type { TfaMethodName } from '../../contract/operations/tfa/tfa-fields.ts';
import { Refused } from '../answers/refused.ts';
import { chooseMethod, invalidMethod, methodOf } from './account/account.ts';
import { useBackupCode } from './account/backup-codes.ts';
import { challengeNotFound, findChallenge, liveCode, noteWrongCode } from './challenges.ts';
import type { TfaContext } from './context.ts';
import { lockView, noteFailure, noteSuccess, requireUnlocked } from './account/lock.ts';
import type { Challenge, Channel, TfaMethodRecord } from '../state/two-factor.ts';
import { phoneMismatch } from './send-codes.ts';
import { periodOfCode, readTotpSecret } from './account/totp.ts';

export interface Proof {
  readonly tfa_method?: TfaMethodName | undefined;
  readonly code?: string | undefined;
  readonly secret?: string | undefined;
  readonly tfa_method_id?: number | undefined;
  readonly backup_code?: string | undefined;
}

/** What a proof turned out to be; `method` is null for a backup code, e-mail, and legacy SMS. */
export interface Verified {
  readonly method: TfaMethodRecord | null;
  readonly byBackupCode: boolean;
}

/** What a failure is called: a login has a code of its own (§7). */
type Failure = '2fa_login_failed' | '2fa_verification_failed';

/**
 * Verifies, and uses the proof up. A failure is counted, which is the one change that a refusal makes.
 * @throws Refused with the errors of verification
 */
export function verifyProof(context: TfaContext, proof: Proof, failure: Failure): Verified {
  const { user, state } = context;
  if (proof.backup_code !== undefined) {
    useBackupCode(user.tfa, proof.backup_code);
    return { method: null, byBackupCode: true };
  }
  if (proof.code === undefined) {
    throw new Refused('missing_auth_value', 'a code or a backup code is needed', {
      reason: 'code: neither code nor backup_code is given',
    });
  }
  const type = typeOfProof(context, proof);
  if (type === 'totp') return verifyByApp(context, proof.code, proof.tfa_method_id, failure);
  if (proof.secret === undefined) {
    throw new Refused('missing_params', 'the secret that came with the code is needed', {
      reason: `secret: needed with a code by ${type} (§5.7)`,
    });
  }
  const challenge = findChallenge(context, proof.secret);
  if (challenge.purpose === 'authorize') throw challengeNotFound();
  const method = verifySentCode(context, challenge, type, proof.code, failure, proof.tfa_method_id);
  state.tfa.challenges.delete(proof.secret);
  return { method, byBackupCode: false };
}

/** `tfa_method`, or else the type of the method named by id, or else sms (§4.4). */
function typeOfProof({ user }: TfaContext, { tfa_method: type, tfa_method_id: id }: Proof): TfaMethodName {
  if (id === undefined) return type ?? 'sms';
  const method = methodOf(user.tfa, id);
  if (type === undefined || type === method.method) return method.method;
  throw invalidMethod(`method ${id} is of the type ${method.method}, not ${type}`);
}

function verifyByApp(context: TfaContext, code: string, id: number | undefined, failure: Failure): Verified {
  const method = chooseMethod(context.user.tfa, 'totp', id);
  if (!method) throw notSetUp('totp', failure);
  verifyTotp(context, method, code, failure);
  return { method, byBackupCode: false };
}

/** @throws Refused tfa_locked, tfa_method_not_configured, and `failure` for a wrong code */
export function verifyTotp(
  { state, nowMs }: TfaContext,
  method: TfaMethodRecord,
  code: string,
  failure: Failure,
): void {
  const { settings } = state;
  requireUnlocked(method, nowMs);
  const secret = readTotpSecret(method.totpSecret);
  if (!secret) throw notConfigured(method);
  const period = periodOfCode(secret, code, nowMs, settings.totpSteps);
  // RFC 6238 §5.2 wants a code to be good once; the interface does not say.
  const isUsed = settings.totpOnce && period !== undefined && period <= (method.lastTotpPeriod ?? -1);
  if (period === undefined || isUsed) {
    noteFailure(method, settings.tfaFailuresAllowed, nowMs);
    throw wrongCodeOf(method, failure, nowMs);
  }
  method.lastTotpPeriod = period;
  noteSuccess(method, nowMs);
}

/**
 * Checks a code that was sent; the caller removes the challenge. Only a number of the account itself proves
 * anything: with an API key a code can be sent to any number, so that it can be added.
 * @throws Refused 2fa_expired, no_challenge_found, phone_number_mismatch, tfa_locked, and for a wrong code
 */
export function verifySentCode(
  context: TfaContext,
  challenge: Challenge,
  channel: Channel,
  code: string,
  failure: Failure,
  id?: number,
): TfaMethodRecord | null {
  const { state, user, nowMs } = context;
  const { tfa: account } = user;
  if (channel === 'sms' && !account.legacy && !account.methods.some(({ method }) => method === 'sms')) {
    throw notSetUp('sms', failure);
  }
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
  if (method) {
    noteFailure(method, state.settings.tfaFailuresAllowed, nowMs);
    throw wrongCodeOf(method, failure, nowMs);
  }
  noteWrongCode(challenge, channel, state.settings.tfaFailuresAllowed);
  throw wrongCode(failure);
}

/** A wrong code where no configured method counts it. */
export function wrongCode(failure: Failure): Refused {
  return new Refused(failure, 'the code is not right', { reason: 'code: not the one that is valid now' });
}

/** A wrong code that a configured method counts: whatever the failure is called, it says how often, and until when. */
function wrongCodeOf(method: TfaMethodRecord, failure: Failure, nowMs: number): Refused {
  return new Refused(failure, 'the code is not right', {
    fields: lockView(method, nowMs),
    reason: `code: not the one that is valid now for method ${method.id}`,
  });
}

export function notConfigured({ id }: TfaMethodRecord): Refused {
  return new Refused('tfa_method_not_configured', 'this authenticator has to be set up again', {
    reason: `tfa_method_id: the secret of method ${id} is missing or unreadable`,
  });
}

function notSetUp(type: 'sms' | 'totp', failure: Failure): Refused {
  if (failure !== '2fa_login_failed') return invalidMethod(`this account has no method of the type ${type}`);
  return new Refused(failure, `this account has no method of the type ${type}`, {
    reason: `tfa_method: this account has no method of the type ${type}`,
  });
}

/** @throws Refused where the account has no 2FA that could be used, removed or given backup codes */
export function requireTfa({ user }: TfaContext, failure: Failure): void {
  if (user.tfa.legacy || user.tfa.methods.length > 0) return;
  throw new Refused(failure, 'this account has no 2FA', { reason: 'tfa_status: 2FA is disabled' });
}
