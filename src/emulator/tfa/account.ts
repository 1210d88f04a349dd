/** The second factors of one user: methods and their locks (§3), and backup codes (§2.4). Pure. */
import { LIMITS } from '../../contract/limits.ts';
import type { TfaMethodName } from '../../contract/operations/tfa/tfa.ts';
import type { TfaMethod } from '../../contract/operations/tfa/tfa-status.ts';
import type { TFA_STATUSES } from '../../contract/operations/users.ts';
import { badRequest, notFound, Refused } from '../answers/refused.ts';
import type { Random } from '../random.ts';
import type { State } from '../state/state.ts';
import type { Challenge, TfaAccount, TfaMethodRecord } from '../state/users.ts';

export function tfaStatusOf({ methods, legacy }: TfaAccount): (typeof TFA_STATUSES)[number] {
  if (methods.length > 0) return 'enabled';
  return legacy ? 'legacy' : 'disabled';
}

/** The method of an id. @throws Refused not_found, invalid_tfa_method where the request names another type */
export function methodOf({ methods }: TfaAccount, id: number, type?: TfaMethodName): TfaMethodRecord {
  const method = methods.find((candidate) => candidate.id === id);
  if (!method) throw notFound(`2FA method ${id}`, 'tfa_method_id');
  if (type === undefined || type === method.method) return method;
  throw invalidMethod(`method ${id} is of the type ${method.method}, not ${type}`);
}

/**
 * The method that `tfa_method_id` names, or else the only one of the type `type`; undefined without any.
 * @throws Refused not_found, invalid_tfa_method where id and type contradict, bad_request where several fit
 */
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

export function methodOfPhone({ methods }: TfaAccount, phoneNumber: string): TfaMethodRecord | undefined {
  return methods.find((method) => method.phoneNumber === phoneNumber);
}

/** §2.4; secrets are never shown. */
export function viewMethod(method: TfaMethodRecord, userId: number, nowMs: number): TfaMethod {
  return {
    id: method.id,
    user_id: userId,
    method: method.method,
    label: method.label,
    ...(method.phoneNumber === null ? {} : { phone_number: maskPhone(method.phoneNumber) }),
    is_primary: method.isPrimary,
    ...lockView(method, nowMs),
    created_at: method.createdAtMs / 1000,
    last_used: method.lastUsedMs === null ? null : method.lastUsedMs / 1000,
  };
}

/** All but the last 4 digits hidden (§2.4). */
function maskPhone(phone: string): string {
  return phone.replaceAll(/\d(?=\d{4})/g, '*');
}

/** Without those that people take for one another: 0 O, 1 I L. */
const ALPHABET = 'ABCDEFGHJKMNPQRSTUVWXYZ23456789';

export function newBackupCodes(random: Random, count: number = LIMITS.backupCodesPerSet): string[] {
  return Array.from({ length: count }, () => Array.from({ length: 3 }, () => group(random)).join('-'));
}

function group(random: Random): string {
  return Array.from({ length: 4 }, () => ALPHABET[Math.floor(random() * ALPHABET.length)]).join('');
}

/** Uses one up. @throws Refused invalid_backup_code for one that is wrong or was used */
export function useBackupCode(account: TfaAccount, code: string): void {
  const at = account.backupCodes.indexOf(code);
  if (at === -1) throw invalidBackupCode('none of the unused codes of this account');
  account.backupCodes.splice(at, 1);
}

export function invalidBackupCode(rule: string): Refused {
  return new Refused('invalid_backup_code', `this backup code is not valid: ${rule}`, 'backup_code');
}

const LOCKOUT_MS = LIMITS.methodLockoutSeconds * 1000;

/** A lock that has passed takes its failures with it: one more mistake is not at once another lock. */
function settleLock(method: TfaMethodRecord, nowMs: number): void {
  if (method.lockedUntilMs === null || nowMs < method.lockedUntilMs) return;
  method.lockedUntilMs = null;
  method.failCount = 0;
}

export function lockView(method: TfaMethodRecord, nowMs: number) {
  settleLock(method, nowMs);
  const { failCount, lockedUntilMs } = method;
  return { fail_count: failCount, locked_until: lockedUntilMs === null ? null : lockedUntilMs / 1000 };
}

/** @throws Refused tfa_locked, with fail_count and locked_until */
export function requireUnlocked(method: TfaMethodRecord, nowMs: number): void {
  const fields = lockView(method, nowMs);
  if (fields.locked_until === null) return;
  throw new Refused('tfa_locked', 'too many failures; this method is locked', 'tfa_method_id', { fields });
}

/** Counts a failure; more than `allowed` in a row lock the method. */
export function noteFailure(method: TfaMethodRecord, allowed: number, nowMs: number): void {
  method.failCount += 1;
  if (method.failCount > allowed) method.lockedUntilMs = nowMs + LOCKOUT_MS;
}

export function noteSuccess(method: TfaMethodRecord, nowMs: number): void {
  method.failCount = 0;
  method.lockedUntilMs = null;
  method.lastUsedMs = nowMs;
}

export function settleTfa({ tfa, users }: Pick<State, 'tfa' | 'users'>, nowMs: number): void {
  for (const challenge of tfa.challenges.values()) settleChallenge(challenge, nowMs);
  for (const session of tfa.sessions.values()) settleEnd(session, nowMs);
  for (const { tfa: account } of users.values()) {
    const { authorizedUntilMs } = account;
    if (authorizedUntilMs !== null && nowMs >= authorizedUntilMs) account.authorizedUntilMs = null;
    for (const method of account.methods) settleLock(method, nowMs);
  }
}

function settleChallenge(challenge: Challenge, nowMs: number): void {
  settleEnd(challenge, nowMs);
  for (const sent of [challenge.codes.sms, challenge.codes.email]) if (sent) settleEnd(sent, nowMs);
}

function settleEnd(record: { expiresAtMs: number }, nowMs: number): void {
  if (nowMs >= record.expiresAtMs) record.expiresAtMs = -Infinity;
}
