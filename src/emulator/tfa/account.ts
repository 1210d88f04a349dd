/** Second factors of a user (§2.4, §3). Expired challenges are kept, to tell 2fa_expired from unknown. */
import { Secret, TOTP } from 'otpauth';
import { LIMITS } from '../../contract/limits.ts';
import type { OperationId } from '../../contract/operations.ts';
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
  const { id, label, phoneNumber } = method;
  return {
    id,
    user_id: userId,
    method: method.method,
    label,
    ...(phoneNumber !== null && { phone_number: phoneNumber.replaceAll(/\d(?=\d{4})/g, '*') }),
    is_primary: method.isPrimary,
    ...lockView(method, nowMs),
    created_at: method.createdAtMs / 1000,
    last_used: method.lastUsedMs === null ? null : method.lastUsedMs / 1000,
  };
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
  if (method.lockedUntilMs === null || nowMs < method.lockedUntilMs) return;
  method.lockedUntilMs = null;
  method.failCount = 0;
}

function lockView(method: TfaMethodRecord, nowMs: number) {
  expireLock(method, nowMs);
  const { failCount, lockedUntilMs } = method;
  return { fail_count: failCount, locked_until: lockedUntilMs === null ? null : lockedUntilMs / 1000 };
}

export function requireUnlocked(method: TfaMethodRecord, nowMs: number): void {
  const fields = lockView(method, nowMs);
  if (fields.locked_until === null) return;
  throw new Refused('tfa_locked', 'too many failures; this method is locked', 'tfa_method_id', { fields });
}

export function noteFailure(method: TfaMethodRecord, allowed: number, nowMs: number) {
  method.failCount += 1;
  if (method.failCount > allowed) method.lockedUntilMs = nowMs + LOCKOUT_MS;
  return lockView(method, nowMs);
}

export function noteSuccess(method: TfaMethodRecord, nowMs: number): void {
  method.failCount = 0;
  method.lockedUntilMs = null;
  method.lastUsedMs = nowMs;
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

export const VALIDITY_MS = LIMITS.challengeValiditySeconds * 1000;
const SECRET_BYTES = 16;
const REMEMBERED = 10_000;

export type Named = readonly [secret: string, challenge: Challenge];

export function openChallenge(
  { state: { tfa }, random, user, nowMs }: Pick<TfaContext, 'state' | 'random' | 'user' | 'nowMs'>,
  purpose: Challenge['purpose'],
  by: Challenge['by'] = null,
): Named {
  const secret = randomHex(random, SECRET_BYTES);
  const codes = { sms: null, email: null };
  const challenge = { userId: user.id, purpose, by, codes, expiresAtMs: nowMs + VALIDITY_MS };
  tfa.challenges.set(secret, challenge);
  const [oldest = secret] = tfa.challenges.keys();
  if (tfa.challenges.size > REMEMBERED) tfa.challenges.delete(oldest);
  return [secret, challenge];
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

export function noChallenge(rule: string): Refused {
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
  if (user.emailVerifiedAt !== null || (user.isAdmin && ADMIN_EXEMPT.has(operation))) return;
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

/** The period of this code within `steps` of `atMs`; undefined if it is not one. */
export function periodOfCode(secret: Secret, code: string, atMs: number, steps: number): number | undefined {
  const distance = totp(secret).validate({ token: code, timestamp: atMs, window: steps });
  return distance === null ? undefined : Math.floor(atMs / (PERIOD_SECONDS * 1000)) + distance;
}

export function provisioningUri(base32: string, label: string): string {
  return totp(base32, { issuer: ISSUER, label }).toString();
}

function totp(secret: Secret | string, shown: { issuer?: string; label?: string } = {}): TOTP {
  return new TOTP({ secret, algorithm: 'SHA1', digits: DIGITS, period: PERIOD_SECONDS, ...shown });
}
