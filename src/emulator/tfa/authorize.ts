/** The two steps that open the 30-minute window in which a method may be added (§3, §4.4). Pure. */
import { LIMITS } from '../../contract/limits.ts';
import type { Input } from '../../contract/operations.ts';
import { badRequest, Refused } from '../answers/refused.ts';
import type { TfaMethodRecord } from '../state/users.ts';
import { chooseMethod, invalidMethod, methodOf, requireUnlocked, useBackupCode } from './account.ts';
import {
  challengeNotFound,
  findChallenge,
  openChallenge,
  requireVerifiedEmail,
  type TfaContext,
} from './challenges.ts';
import {
  missingPhone,
  requireDeliverableSms,
  requireEmailAddress,
  sendEmailCode,
  sendSmsCode,
} from './sending.ts';
import { readTotpSecret } from './totp.ts';
import { notConfigured, verifySentCode, verifyTotp } from './verify.ts';

const WINDOW_MS = LIMITS.addMethodWindowSeconds * 1000;
const GRANTED = { success: true, msg: 'Authorization successful.' };

/** Step 1: sends a code, or names the authenticator to be asked, or takes a backup code. */
export function beginAuthorization(context: TfaContext, input: Input<'tfa.authorizeNewMethod'>) {
  const { user, nowMs } = context;
  requireStore(context);
  if (input.backup_code !== undefined) {
    useBackupCode(user.tfa, input.backup_code);
    openWindow(context);
    return GRANTED;
  }
  const method = authorizingMethod(context, input);
  if (method === 'email') {
    const address = requireEmailAddress(context, 'tfa.authorizeNewMethod');
    const [secret, challenge] = begin(context, 'email');
    sendEmailCode(context, challenge, address);
    return { success: true, secret };
  }
  requireUnlocked(method, nowMs);
  if (method.method === 'totp') {
    if (!readTotpSecret(method.totpSecret)) throw notConfigured();
    return { success: true, secret: begin(context, { totpMethodId: method.id })[0] };
  }
  requireVerifiedEmail(context, 'tfa.authorizeNewMethod');
  const { phoneNumber, id: methodId } = method;
  if (phoneNumber === null) throw missingPhone();
  requireDeliverableSms(context, phoneNumber, true);
  const [secret, challenge] = begin(context, 'sms');
  sendSmsCode(context, challenge, { phoneNumber, methodId }, true);
  return { success: true, secret };
}

/** Step 2: verifies the code of step 1, and opens the window. */
export function confirmAuthorization(
  context: TfaContext,
  { code, secret }: Input<'tfa.confirmAuthorization'>,
) {
  const { state, user } = context;
  requireStore(context);
  const { by } = pendingAuthorization(context, secret);
  const challenge = findChallenge(context, secret);
  if (by === 'sms' || by === 'email') {
    verifySentCode(context, challenge, { channel: by, code }, '2fa_verification_failed');
  } else {
    verifyTotp(context, methodOf(user.tfa, by?.totpMethodId ?? -1), code, '2fa_verification_failed');
  }
  state.tfa.challenges.delete(secret);
  openWindow(context);
  return GRANTED;
}

/** @throws Refused service_unavailable, authorization_required */
export function requireWindow(context: TfaContext): void {
  requireStore(context);
  const { authorizedUntilMs } = context.user.tfa;
  if (authorizedUntilMs !== null && context.nowMs < authorizedUntilMs) return;
  throw new Refused('authorization_required', 'authorize the addition of a method first', 'authorization');
}

function openWindow({ user, nowMs }: TfaContext): void {
  user.tfa.authorizedUntilMs = nowMs + WINDOW_MS;
}

/** By what the caller wants to authorize; a user without methods is forced to e-mail. */
function authorizingMethod(
  { user: { tfa: account } }: TfaContext,
  { tfa_method: type, tfa_method_id: id }: Input<'tfa.authorizeNewMethod'>,
): TfaMethodRecord | 'email' {
  if (account.methods.length === 0) return 'email';
  if (type === 'email' && id === undefined) return 'email';
  if (id !== undefined) return methodOf(account, id, type);
  if (type === undefined || type === 'email') {
    throw badRequest('tfa_method', 'needed without backup_code and tfa_method_id');
  }
  const only = chooseMethod(account, type, undefined);
  if (only) return only;
  throw invalidMethod(`this account has no method of the type ${type}`);
}

type By = 'sms' | 'email' | { readonly totpMethodId: number };

/** A new pending authorization takes the place of those before it. @throws Refused challenge_creation_failed */
function begin(context: TfaContext, by: By) {
  const { state, user } = context;
  if (state.tfa.store === 'read only') {
    throw new Refused('challenge_creation_failed', 'no challenge could be made; try again', 'tfa.store');
  }
  for (const [secret, { userId, purpose }] of state.tfa.challenges) {
    if (userId === user.id && purpose === 'authorize') state.tfa.challenges.delete(secret);
  }
  const secret = openChallenge(context, 'authorize', by);
  return [secret, findChallenge(context, secret)] as const;
}

/** @throws Refused challenge_not_found for a wrong secret, no_pending_authorization where nothing is pending */
function pendingAuthorization({ state, user, nowMs }: TfaContext, secret: string) {
  const given = state.tfa.challenges.get(secret);
  if (given?.userId === user.id && given.purpose === 'authorize') return given;
  const pending = [...state.tfa.challenges.values()].some(
    ({ userId, purpose, expiresAtMs }) =>
      userId === user.id && purpose === 'authorize' && nowMs < expiresAtMs,
  );
  if (pending) throw challengeNotFound();
  throw new Refused('no_pending_authorization', 'begin an authorization first', 'secret');
}

function requireStore({ state }: TfaContext): void {
  if (state.tfa.store !== 'down') return;
  throw new Refused('service_unavailable', 'the authorization cannot be checked now; try again', 'tfa.store');
}
