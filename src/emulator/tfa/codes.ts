/** Sends and verifies codes, logs in and opens sessions (§4.4, §5.4, §5.7, §5.8). Pure. */
import type { Input, OperationId } from '../../contract/operations.ts';
import { badRequest, Refused } from '../answer.ts';
import { randomHex } from '../random.ts';
import type {
  Challenge,
  Channel,
  SentCode,
  SentMessage,
  SessionRecord,
  State,
  TfaMethodRecord,
  UserRecord,
} from '../state/state.ts';
import {
  challengeNotFound,
  chooseMethod,
  findChallenge,
  liveCode,
  methodOf,
  noChallenge,
  noteFailure,
  noteSuccess,
  noteWrongCode,
  openChallenge,
  periodOfCode,
  readTotpSecret,
  requireUnlocked,
  requireVerifiedEmail,
  tfaStatusOf,
  useBackupCode,
  VALIDITY_MS,
  type Named,
  type TfaContext,
} from './account.ts';

const OUTBOX_MESSAGES = 1_000;

interface SmsTarget {
  readonly phoneNumber: string;
  readonly methodId: number | null;
}

export type Sending = (challenge: Challenge) => void;

export function smsTo(context: TfaContext, target: SmsTarget, preauth = context.loggedOut): Sending {
  const { state, user, nowMs } = context;
  const { settings, tfa } = state;
  const { phoneNumber } = target;
  if (user.tfa.smsFraud)
    throw new Refused('sms_fraud_detected', 'SMS is disabled for this account; ask support', 'authorization');
  if (tfa.blockedNumbers.has(phoneNumber))
    throw new Refused('sms_blocked_number', 'no codes are sent to this number', 'phone_number');
  const sent = since(user.tfa.smsSentAtMs, nowMs, settings.smsWindowSeconds);
  if (sent.length >= settings.smsPerWindow)
    throw new Refused('sms_rate_limited', 'too many codes were asked for', 'settings.smsPerWindow');
  const used = since(tfa.phoneUse.get(phoneNumber) ?? [], nowMs, settings.phoneCapWindowSeconds);
  if (preauth && used.length >= settings.phoneCap)
    throw new Refused('preauth_phone_cap', 'this number was used in too many attempts', 'settings.phoneCap');
  if (tfa.smsProvider === 'failing')
    throw new Refused('twilio_error', 'the SMS could not be delivered', 'tfa.sms_provider');
  if (tfa.smsProvider === 'rate limited')
    throw new Refused('twilio_rate_limited', 'the SMS provider is busy', 'tfa.sms_provider');
  return (challenge) => {
    user.tfa.smsSentAtMs = [...sent, nowMs];
    if (preauth) tfa.phoneUse.set(phoneNumber, [...used, nowMs]);
    send(context, challenge, 'sms', { to: phoneNumber, ...target });
  };
}

export function emailTo(context: TfaContext, operation: OperationId): Sending {
  const { email } = context.user;
  if (email === null) throw new Refused('missing_email', 'your account has no e-mail address', 'email');
  requireVerifiedEmail(context, operation);
  return (challenge) => send(context, challenge, 'email', { to: email, phoneNumber: null, methodId: null });
}

function send(
  { state: { tfa }, user, nowMs, random }: TfaContext,
  challenge: Challenge,
  channel: Channel,
  { to, ...target }: Pick<SentMessage, 'to'> & Pick<SentCode, 'phoneNumber' | 'methodId'>,
): void {
  const code = String(Math.floor(random() * 1_000_000)).padStart(6, '0');
  const expiresAtMs = nowMs + VALIDITY_MS;
  challenge.codes[channel] = { ...target, code, expiresAtMs, failures: 0 };
  challenge.expiresAtMs = expiresAtMs;
  const seq = (tfa.outbox.at(-1)?.seq ?? 0) + 1;
  tfa.outbox.push({ seq, atMs: nowMs, userId: user.id, channel, to, code, expiresAtMs });
  if (tfa.outbox.length > OUTBOX_MESSAGES) tfa.outbox.shift();
}

function since(timesMs: readonly number[], nowMs: number, seconds: number): number[] {
  return timesMs.filter((atMs) => atMs > nowMs - seconds * 1000);
}

type SmsInput = Input<'tfa.sendSms'>;

export function sendEmail(context: TfaContext, { secret }: Input<'tfa.sendEmail'>) {
  const given = secret === undefined ? undefined : challengeFor(context, secret, 'email');
  const goesOff = emailTo(context, 'tfa.sendEmail');
  const [name, challenge] = given ?? openChallenge(context, 'code');
  goesOff(challenge);
  return { success: true, msg: 'Code sent by e-mail', secret: name };
}

export function sendSms(context: TfaContext, input: SmsInput, operation: OperationId) {
  const { secret } = input;
  const given = secret === undefined ? undefined : challengeFor(context, secret, 'sms');
  requireVerifiedEmail(context, operation);
  const target = smsTarget(context, input);
  const pending = given ? given[1].codes.sms : newestCodeTo(context, target.phoneNumber)?.[1];
  if (pending && context.nowMs < pending.expiresAtMs)
    throw new Refused('tfa_challenge_exists', 'a code was sent already; ask to resend it', 'phone_number');
  const goesOff = smsTo(context, target);
  const [name, challenge] = given ?? openChallenge(context, 'code');
  goesOff(challenge);
  return { msg: 'Code sent by SMS', secret: name };
}

/** Replaces the sent code; without a secret, the secret too. */
export function resendSms(context: TfaContext, input: SmsInput, operation: OperationId) {
  const { state } = context;
  const [name, challenge] = challengeToResend(context, input);
  const { phoneNumber, methodId } = liveCode(challenge, 'sms', context.nowMs);
  const to = phoneNumber ?? '';
  requireSameNumber(context, input, to);
  requireVerifiedEmail(context, operation);
  smsTo(context, { phoneNumber: to, methodId })(challenge);
  if (input.secret !== undefined) return { msg: 'Code sent again by SMS', secret: name };
  const [renamed] = openChallenge(context, challenge.purpose, challenge.by);
  state.tfa.challenges.set(renamed, challenge);
  state.tfa.challenges.delete(name);
  return { msg: 'Code sent again by SMS', secret: renamed };
}

function challengeFor(context: TfaContext, secret: string, channel: Channel): Named {
  const challenge = findChallenge(context, secret, true);
  if (challenge.purpose === 'authorize' && challenge.by !== channel) throw challengeNotFound();
  return [secret, challenge];
}

/** §4.4: before the login, only the account's own numbers prove anything. */
function smsTarget(context: TfaContext, { phone_number: given, tfa_method_id: id }: SmsInput): SmsTarget {
  const { tfa: account } = context.user;
  if (id !== undefined) {
    const phoneNumber = numberOfMethod(context, id);
    if (given !== undefined && given !== phoneNumber) throw phoneMismatch('is not that of the method');
    return { phoneNumber, methodId: id };
  }
  const phoneNumber = given ?? ownNumber(context);
  if (phoneNumber === null) throw missingPhone();
  const methodId = account.methods.find((method) => method.phoneNumber === phoneNumber)?.id ?? null;
  const isOnFile = account.legacy && phoneNumber === account.phoneNumber;
  if (context.loggedOut && methodId === null && !isOnFile)
    throw phoneMismatch('belongs to no method of this account');
  return { phoneNumber, methodId };
}

function ownNumber({ user: { tfa: account } }: TfaContext): string | null {
  const methods = account.methods.filter(({ method, phoneNumber }) => method === 'sms' && phoneNumber);
  const method = methods.length === 1 ? methods[0] : methods.find(({ isPrimary }) => isPrimary);
  return method?.phoneNumber ?? account.phoneNumber;
}

function challengeToResend(context: TfaContext, input: SmsInput): Named {
  if (input.secret !== undefined) return challengeFor(context, input.secret, 'sms');
  const { phone_number: given, tfa_method_id: id } = input;
  const wanted = given ?? (id === undefined ? undefined : numberOfMethod(context, id));
  const found = newestCodeTo(context, wanted, RESENDABLE);
  if (found) return found[0];
  if (newestCodeTo(context, undefined, RESENDABLE))
    throw phoneMismatch('is not the one that the code was sent to');
  throw noChallenge('no SMS code of this account is still valid');
}

/** A key alone resends these; logins need their secret. */
const RESENDABLE: readonly Challenge['purpose'][] = ['code', 'authorize'];

function newestCodeTo(
  { state, user, nowMs }: TfaContext,
  phoneNumber: string | undefined,
  purposes: readonly Challenge['purpose'][] = ['code'],
): readonly [Named, SentCode] | undefined {
  let newest: readonly [Named, SentCode] | undefined;
  for (const named of state.tfa.challenges) {
    const { userId, purpose, codes } = named[1];
    if (userId !== user.id || !purposes.includes(purpose)) continue;
    if (!codes.sms || nowMs >= codes.sms.expiresAtMs) continue;
    if (phoneNumber === undefined || codes.sms.phoneNumber === phoneNumber) newest = [named, codes.sms];
  }
  return newest;
}

function requireSameNumber(context: TfaContext, input: SmsInput, sentTo: string): void {
  const { phone_number: given, tfa_method_id: id } = input;
  if (given !== undefined && given !== sentTo)
    throw phoneMismatch('is not the one that the code was sent to');
  if (id !== undefined && numberOfMethod(context, id) !== sentTo)
    throw phoneMismatch('of the method is not the one that the code was sent to');
}

function numberOfMethod({ user }: TfaContext, id: number): string {
  const { phoneNumber } = methodOf(user.tfa, id, 'sms');
  if (phoneNumber === null) throw missingPhone();
  return phoneNumber;
}

export function missingPhone(): Refused {
  return new Refused('missing_phone_number', 'a phone number is needed', 'phone_number');
}

export function phoneMismatch(rule: string): Refused {
  return new Refused('phone_number_mismatch', `the phone number ${rule}`, 'phone_number');
}

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
