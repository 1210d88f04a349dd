/** Second factors of a user (§2.4, §3). Expired challenges are kept, to tell 2fa_expired from unknown. */
import { Secret, TOTP } from 'otpauth';
import { LIMITS } from '../../contract/limits.ts';
import type { Input, OperationId } from '../../contract/operations.ts';
import type { TfaMethod } from '../../contract/operations/tfa/tfa-status.ts';
import type { TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import type { TFA_STATUSES } from '../../contract/operations/users.ts';
import { badRequest, notFound, Refused } from '../answer.ts';
import { randomBytes, randomHex, type Random } from '../random.ts';
import type {
  ApiKeyRecord,
  Challenge,
  Channel,
  SentCode,
  SentMessage,
  SessionRecord,
  State,
  TfaAccount,
  TfaMethodRecord,
  UserRecord,
} from '../state/state.ts';

export function tfaStatusOf({ methods, legacy }: TfaAccount): (typeof TFA_STATUSES)[number] {
  if (methods.length > 0) return 'enabled';
  return legacy ? 'legacy' : 'disabled';
}

export function methodOf({ methods }: TfaAccount, id: number, type?: TfaMethodName): TfaMethodRecord {
  const method = methods.find((candidate) => candidate.id === id);
  if (!method) throw notFound(`2FA method ${id}`, 'tfa_method_id');
  if (type === undefined || type === method.method) return method;
  throw invalidMethod(`method ${id} is of the type ${method.method}, not ${type}`);
}

export function chooseMethod(
  account: TfaAccount,
  type: 'sms' | 'totp',
  id: number | undefined,
): TfaMethodRecord | undefined {
  if (id !== undefined) return methodOf(account, id, type);
  const [first, second] = account.methods.filter(({ method }) => method === type);
  if (!second) return first;
  throw badRequest('tfa_method_id', `needed: there are several methods of the type ${type}`);
}

export function invalidMethod(rule: string): Refused {
  return new Refused('invalid_tfa_method', rule, 'tfa_method');
}

/** §2.4: shows the last 4 digits of a phone number, and no secret. */
export function viewMethod(method: TfaMethodRecord, userId: number, nowMs: number): TfaMethod {
  expireLock(method, nowMs);
  const { totp_secret: _, phone_number, ...shown } = method;
  const masked = phone_number?.replaceAll(/\d(?=\d{4})/g, '*');
  return { ...shown, user_id: userId, ...(masked !== undefined && { phone_number: masked }) };
}

/** Without characters that look alike: 0 O, 1 I L. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

export function newBackupCodes(random: Random, count: number = LIMITS.backupCodesPerSet): string[] {
  const letter = () => ALPHABET[Math.floor(random() * ALPHABET.length)];
  const group = () => Array.from({ length: 4 }, letter).join('');
  return Array.from({ length: count }, () => Array.from({ length: 3 }, group).join('-'));
}

export function useBackupCode(account: TfaAccount, code: string): void {
  const at = account.backupCodes.indexOf(code);
  if (at === -1) throw invalidBackupCode('none of the unused codes of this account');
  account.backupCodes.splice(at, 1);
}

export function invalidBackupCode(rule: string): Refused {
  return new Refused('invalid_backup_code', `this backup code is not valid: ${rule}`, 'backup_code');
}

const LOCKOUT_MS = LIMITS.methodLockoutSeconds * 1000;

/** A passed lock clears its failures: one more mistake does not lock again at once. */
function expireLock(method: TfaMethodRecord, nowMs: number): void {
  if (method.locked_until === null || nowMs / 1000 < method.locked_until) return;
  method.locked_until = null;
  method.fail_count = 0;
}

function lockView(method: TfaMethodRecord, nowMs: number) {
  expireLock(method, nowMs);
  const { fail_count, locked_until } = method;
  return { fail_count, locked_until };
}

export function requireUnlocked(method: TfaMethodRecord, nowMs: number): void {
  const fields = lockView(method, nowMs);
  if (fields.locked_until === null) return;
  throw new Refused('tfa_locked', 'too many failures; this method is locked', 'tfa_method_id', { fields });
}

export function noteFailure(method: TfaMethodRecord, allowed: number, nowMs: number) {
  method.fail_count += 1;
  if (method.fail_count > allowed) method.locked_until = (nowMs + LOCKOUT_MS) / 1000;
  return lockView(method, nowMs);
}

export function noteSuccess(method: TfaMethodRecord, nowMs: number): void {
  method.fail_count = 0;
  method.locked_until = null;
  method.last_used = nowMs / 1000;
}

export function expireTfa({ tfa, users }: Pick<State, 'tfa' | 'users'>, nowMs: number): void {
  for (const challenge of tfa.challenges.values())
    for (const part of [challenge, challenge.codes.sms, challenge.codes.email])
      if (part) expireRecord(part, nowMs);
  for (const session of tfa.sessions.values()) expireRecord(session, nowMs);
  for (const { tfa: account } of users.values()) {
    const { authorizedUntilMs } = account;
    if (authorizedUntilMs !== null && nowMs >= authorizedUntilMs) account.authorizedUntilMs = null;
    for (const method of account.methods) expireLock(method, nowMs);
  }
}

function expireRecord(record: { expiresAtMs: number }, nowMs: number): void {
  if (nowMs >= record.expiresAtMs) record.expiresAtMs = -Infinity;
}

const VALIDITY_MS = LIMITS.challengeValiditySeconds * 1000;
const SECRET_BYTES = 16;

export function openChallenge(
  { state: { tfa }, random, user, nowMs }: Pick<TfaContext, 'state' | 'random' | 'user' | 'nowMs'>,
  purpose: Challenge['purpose'],
  by: Challenge['by'] = null,
): Challenge {
  const secret = randomHex(random, SECRET_BYTES);
  const codes = { sms: null, email: null };
  const challenge = { secret, userId: user.id, purpose, by, codes, expiresAtMs: nowMs + VALIDITY_MS };
  tfa.challenges.set(secret, challenge);
  return challenge;
}

export function findChallenge(
  { state: { tfa }, user, nowMs }: Pick<TfaContext, 'state' | 'user' | 'nowMs'>,
  secret: string,
  takesAuthorization = false,
): Challenge {
  const challenge = tfa.challenges.get(secret);
  if (!challenge || challenge.userId !== user.id) throw challengeNotFound();
  if (challenge.purpose === 'authorize' && !takesAuthorization) throw challengeNotFound();
  requireUnexpired(challenge, nowMs);
  return challenge;
}

function requireUnexpired({ expiresAtMs }: { readonly expiresAtMs: number }, nowMs: number): void {
  if (nowMs < expiresAtMs) return;
  throw new Refused('2fa_expired', 'the code has expired; ask for a new one', 'secret');
}

export function liveCode(challenge: Challenge, channel: Channel, nowMs: number): SentCode {
  const sent = challenge.codes[channel];
  if (!sent) throw noChallenge(`no ${channel} code was sent for this secret, or it was cleared`);
  requireUnexpired(sent, nowMs);
  return sent;
}

/** Counts a wrong code without a method. Too many clear the code, against guessing. */
export function noteWrongCode(challenge: Challenge, channel: Channel, allowed: number): void {
  const sent = challenge.codes[channel];
  if (!sent) return;
  sent.failures += 1;
  if (sent.failures > allowed) challenge.codes[channel] = null;
}

export function challengeNotFound(): Refused {
  return new Refused('challenge_not_found', 'no challenge belongs to this secret', 'secret');
}

function noChallenge(rule: string): Refused {
  return new Refused('no_challenge_found', `there is no active challenge: ${rule}`, 'secret');
}

export interface TfaContext {
  readonly state: State;
  readonly user: UserRecord;
  readonly key: ApiKeyRecord;
  /** Only the secret of a login is known; `key` then grants nothing. */
  readonly loggedOut: boolean;
  readonly nowMs: number;
  readonly random: Random;
}

/** §5.6: these two need no verified e-mail address of an admin. */
const ADMIN_EXEMPT: ReadonlySet<OperationId> = new Set<OperationId>(['tfa.sendSms', 'tfa.resendSms']);

export function requireVerifiedEmail({ user }: TfaContext, operation: OperationId): void {
  if (user.email_verified_at !== null || (user.is_admin && ADMIN_EXEMPT.has(operation))) return;
  throw new Refused('email_not_verified', 'verify your e-mail address first', 'email_verified_at');
}

const DIGITS = 6;
const PERIOD_SECONDS = 30;
/** RFC 4226 recommends the length of SHA-1. */
const TOTP_SECRET_BYTES = 20;
const ISSUER = 'Emulator';

export function newTotpSecret(random: Random): string {
  const { buffer } = Uint8Array.from(randomBytes(random, TOTP_SECRET_BYTES));
  return new Secret({ buffer }).base32;
}

export function readTotpSecret(base32: string | null): Secret | undefined {
  if (base32 === null || !/^[A-Z2-7]+=*$/i.test(base32)) return undefined;
  const secret = Secret.fromBase32(base32);
  return secret.bytes.length > 0 ? secret : undefined;
}

export function totpCode(secret: Secret, atMs: number): string {
  return totp(secret).generate({ timestamp: atMs });
}

/** Whether it is a code of `atMs`, or of `steps` periods before or after. */
export function isCurrent(secret: Secret, code: string, atMs: number, steps: number): boolean {
  return totp(secret).validate({ token: code, timestamp: atMs, window: steps }) !== null;
}

export function provisioningUri(base32: string, label: string): string {
  return totp(base32, { issuer: ISSUER, label }).toString();
}

function totp(secret: Secret | string, shown: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ secret, algorithm: 'SHA1', digits: DIGITS, period: PERIOD_SECONDS, ...shown });
}

const OUTBOX_MESSAGES = 1_000;

interface SmsTarget {
  readonly phone_number: string;
  readonly methodId: number | null;
}

export type Sending = (challenge: Challenge) => void;

export function smsTo(context: TfaContext, target: SmsTarget, preauth = context.loggedOut): Sending {
  const { state, user, nowMs } = context;
  const { settings, tfa } = state;
  const { phone_number } = target;
  if (user.tfa.sms_fraud)
    throw new Refused('sms_fraud_detected', 'SMS is disabled for this account; ask support', 'authorization');
  if (tfa.blocked_numbers.includes(phone_number))
    throw new Refused('sms_blocked_number', 'no codes are sent to this number', 'phone_number');
  const sent = since(user.tfa.smsSentAtMs, nowMs, settings.smsWindowSeconds);
  if (sent.length >= settings.smsPerWindow)
    throw new Refused('sms_rate_limited', 'too many codes were asked for', 'settings.smsPerWindow');
  const used = since(tfa.phoneUse.get(phone_number) ?? [], nowMs, settings.phoneCapWindowSeconds);
  if (preauth && used.length >= settings.phoneCap)
    throw new Refused('preauth_phone_cap', 'this number was used in too many attempts', 'settings.phoneCap');
  if (tfa.sms_provider === 'failing')
    throw new Refused('twilio_error', 'the SMS could not be delivered', 'tfa.sms_provider');
  if (tfa.sms_provider === 'rate limited')
    throw new Refused('twilio_rate_limited', 'the SMS provider is busy', 'tfa.sms_provider');
  return (challenge) => {
    user.tfa.smsSentAtMs = [...sent, nowMs];
    if (preauth) tfa.phoneUse.set(phone_number, [...used, nowMs]);
    send(context, challenge, 'sms', { to: phone_number, ...target });
  };
}

export function emailTo(context: TfaContext, operation: OperationId): Sending {
  const { email } = context.user;
  if (email === null) throw new Refused('missing_email', 'your account has no e-mail address', 'email');
  requireVerifiedEmail(context, operation);
  return (challenge) => send(context, challenge, 'email', { to: email, phone_number: null, methodId: null });
}

function send(
  { state: { tfa }, user, nowMs, random }: TfaContext,
  challenge: Challenge,
  channel: Channel,
  { to, ...target }: Pick<SentMessage, 'to'> & Pick<SentCode, 'phone_number' | 'methodId'>,
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
  const challenge = given ?? openChallenge(context, 'code');
  goesOff(challenge);
  return { success: true, msg: 'Code sent by e-mail', secret: challenge.secret };
}

export function sendSms(context: TfaContext, input: SmsInput, operation: OperationId) {
  const { secret } = input;
  const given = secret === undefined ? undefined : challengeFor(context, secret, 'sms');
  requireVerifiedEmail(context, operation);
  const target = smsTarget(context, input);
  const pending = (given ?? newestCodeTo(context, target.phone_number))?.codes.sms;
  if (pending && context.nowMs < pending.expiresAtMs)
    throw new Refused('tfa_challenge_exists', 'a code was sent already; ask to resend it', 'phone_number');
  const goesOff = smsTo(context, target);
  const challenge = given ?? openChallenge(context, 'code');
  goesOff(challenge);
  return { msg: 'Code sent by SMS', secret: challenge.secret };
}

/** Replaces the sent code; without a secret, the secret too. */
export function resendSms(context: TfaContext, input: SmsInput, operation: OperationId) {
  const { challenges } = context.state.tfa;
  const { secret: known, phone_number: given, tfa_method_id: id } = input;
  const ofMethod = id === undefined ? undefined : numberOfMethod(context, id);
  const challenge =
    known === undefined ? codeToResend(context, given ?? ofMethod) : challengeFor(context, known, 'sms');
  const { phone_number, methodId } = liveCode(challenge, 'sms', context.nowMs);
  const to = phone_number ?? '';
  if ((given ?? to) !== to || (ofMethod ?? to) !== to) throw phoneMismatch('did not get this code');
  requireVerifiedEmail(context, operation);
  smsTo(context, { phone_number: to, methodId })(challenge);
  if (known === undefined) {
    challenges.delete(challenge.secret);
    const { secret } = openChallenge(context, challenge.purpose, challenge.by);
    challenges.set(secret, Object.assign(challenge, { secret }));
  }
  return { msg: 'Code sent again by SMS', secret: challenge.secret };
}

function challengeFor(context: TfaContext, secret: string, channel: Channel): Challenge {
  const challenge = findChallenge(context, secret, true);
  if (challenge.purpose === 'authorize' && challenge.by !== channel) throw challengeNotFound();
  return challenge;
}

/** §4.4: before the login, only the account's own numbers prove anything. */
function smsTarget(context: TfaContext, { phone_number: given, tfa_method_id: id }: SmsInput): SmsTarget {
  const { tfa: account } = context.user;
  if (id !== undefined) {
    const phone_number = numberOfMethod(context, id);
    if (given !== undefined && given !== phone_number) throw phoneMismatch('is not that of the method');
    return { phone_number, methodId: id };
  }
  const phone_number = given ?? ownNumber(context);
  if (phone_number === null) throw missingPhone();
  const methodId = account.methods.find((method) => method.phone_number === phone_number)?.id ?? null;
  const isOnFile = account.legacy && phone_number === account.phone_number;
  if (context.loggedOut && methodId === null && !isOnFile)
    throw phoneMismatch('belongs to no method of this account');
  return { phone_number, methodId };
}

function ownNumber({ user: { tfa: account } }: TfaContext): string | null {
  const methods = account.methods.filter(({ method, phone_number }) => method === 'sms' && phone_number);
  const method = methods.length === 1 ? methods[0] : methods.find(({ is_primary }) => is_primary);
  return method?.phone_number ?? account.phone_number;
}

function codeToResend(context: TfaContext, wanted: string | undefined): Challenge {
  const found = newestCodeTo(context, wanted, RESENDABLE);
  if (found) return found;
  if (newestCodeTo(context, undefined, RESENDABLE)) throw phoneMismatch('did not get this code');
  throw noChallenge('no SMS code of this account is still valid');
}

/** A key alone resends these; logins need their secret. */
const RESENDABLE: readonly Challenge['purpose'][] = ['code', 'authorize'];

function newestCodeTo(
  { state, user, nowMs }: TfaContext,
  phone_number: string | undefined,
  purposes: readonly Challenge['purpose'][] = ['code'],
): Challenge | undefined {
  return [...state.tfa.challenges.values()].findLast(({ userId, purpose, codes: { sms } }) => {
    if (userId !== user.id || !purposes.includes(purpose) || !sms || nowMs >= sms.expiresAtMs) return false;
    return phone_number === undefined || sms.phone_number === phone_number;
  });
}

function numberOfMethod({ user }: TfaContext, id: number): string {
  const { phone_number } = methodOf(user.tfa, id, 'sms');
  if (phone_number === null) throw missingPhone();
  return phone_number;
}

export function missingPhone(): Refused {
  return new Refused('missing_phone_number', 'a phone number is needed', 'phone_number');
}

export function phoneMismatch(rule: string): Refused {
  return new Refused('phone_number_mismatch', `the phone number ${rule}`, 'phone_number');
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
