import { LIMITS } from '../../contract/limits.ts';
import type { Input } from '../../contract/operations.ts';
import { badRequest, notFound, Refused } from '../answer.ts';
import { randomHex } from '../random.ts';
import {
  nextId,
  type Challenge,
  type Channel,
  type SessionRecord,
  type TfaMethodRecord,
} from '../state/state.ts';
import {
  challengeNotFound,
  chooseMethod,
  emailTo,
  findChallenge,
  invalidMethod,
  isCurrent,
  liveCode,
  methodOf,
  missingPhone,
  newBackupCodes,
  noteFailure,
  noteSuccess,
  noteWrongCode,
  openChallenge,
  phoneMismatch,
  readTotpSecret,
  requireUnlocked,
  requireVerifiedEmail,
  smsTo,
  tfaStatusOf,
  useBackupCode,
  viewMethod,
  type Sending,
  type TfaContext,
} from './account.ts';

type Proof = Omit<Input<'tfa.login'>, 'admin'>;

/** A login has its own error code (§7). */
type Failure = '2fa_login_failed' | '2fa_verification_failed';

/** Uses the proof up. Returns null for backup codes, e-mail and legacy SMS. @throws Refused */
function verifyProof(context: TfaContext, proof: Proof, failure: Failure): TfaMethodRecord | null {
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

function verifyTotp(
  { state, nowMs }: TfaContext,
  method: TfaMethodRecord,
  code: string,
  failure: Failure,
): void {
  const { settings } = state;
  requireUnlocked(method, nowMs);
  const secret = secretOf(method);
  if (!isCurrent(secret, code, nowMs, settings.totpSteps))
    throw wrongCode(failure, noteFailure(method, settings.tfaFailuresAllowed, nowMs));
  noteSuccess(method, nowMs);
}

/** Only own numbers prove anything: a key can send codes to any number, to add it. */
function verifySentCode(
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
    const isOnFile = account.legacy && sent.phone_number === account.phone_number;
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
function wrongCode(failure: Failure, lock?: Readonly<Record<string, unknown>>): Refused {
  const fields = failure === '2fa_verification_failed' && lock ? { fields: lock } : {};
  return new Refused(failure, 'the code is not right', 'code', fields);
}

function secretOf({ totp_secret }: TfaMethodRecord) {
  const secret = readTotpSecret(totp_secret);
  if (secret) return secret;
  throw new Refused('tfa_method_not_configured', 'set this authenticator up again', 'tfa_method_id');
}

function notSetUp(type: 'sms' | 'totp', failure: Failure): Refused {
  const code = failure === '2fa_login_failed' ? failure : 'invalid_tfa_method';
  return new Refused(code, `this account has no method of the type ${type}`, 'tfa_method');
}

function requireTfa({ user }: TfaContext, failure: Failure): void {
  if (tfaStatusOf(user.tfa) !== 'disabled') return;
  throw new Refused(failure, 'this account has no 2FA', 'tfa_status');
}

const SESSION_KEY_BYTES = 32;

export function completeLogin(context: TfaContext, { admin, ...proof }: Input<'tfa.login'>) {
  const { user, state, loggedOut } = context;
  const { tfa: account } = user;
  if (admin && !user.is_admin)
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

const WINDOW_MS = LIMITS.addMethodWindowSeconds * 1000;
const GRANTED = { success: true, msg: 'Authorization successful.' };

export function beginAuthorization(context: TfaContext, input: Input<'tfa.authorizeNewMethod'>) {
  const { user, nowMs } = context;
  requireStore(context);
  if (input.backup_code !== undefined) {
    useBackupCode(user.tfa, input.backup_code);
    openWindow(context);
    return GRANTED;
  }
  const method = authorizingMethod(context, input);
  if (method === 'email') return begin(context, 'email', emailTo(context, 'tfa.authorizeNewMethod'));
  requireUnlocked(method, nowMs);
  if (method.method === 'totp') {
    secretOf(method);
    return begin(context, { totpMethodId: method.id });
  }
  requireVerifiedEmail(context, 'tfa.authorizeNewMethod');
  const { phone_number, id: methodId } = method;
  if (phone_number === null) throw missingPhone();
  return begin(context, 'sms', smsTo(context, { phone_number, methodId }, true));
}

export function confirmAuthorization(
  context: TfaContext,
  { code, secret }: Input<'tfa.confirmAuthorization'>,
) {
  const { state, user } = context;
  requireStore(context);
  const { by } = pendingAuthorization(context, secret);
  const challenge = findChallenge(context, secret, true);
  if (by === 'sms' || by === 'email') {
    verifySentCode(context, challenge, { channel: by, code }, '2fa_verification_failed');
  } else {
    verifyTotp(context, methodOf(user.tfa, by?.totpMethodId ?? -1), code, '2fa_verification_failed');
  }
  state.tfa.challenges.delete(secret);
  openWindow(context);
  return GRANTED;
}

function requireWindow(context: TfaContext): void {
  requireStore(context);
  const { authorizedUntilMs } = context.user.tfa;
  if (authorizedUntilMs !== null && context.nowMs < authorizedUntilMs) return;
  throw new Refused('authorization_required', 'authorize the addition of a method first', 'authorization');
}

function openWindow({ user, nowMs }: TfaContext): void {
  user.tfa.authorizedUntilMs = nowMs + WINDOW_MS;
}

/** A user without methods is forced to e-mail. */
function authorizingMethod(
  { user: { tfa: account } }: TfaContext,
  { tfa_method: type, tfa_method_id: id }: Input<'tfa.authorizeNewMethod'>,
): TfaMethodRecord | 'email' {
  if (account.methods.length === 0) return 'email';
  if (type === 'email' && id === undefined) return 'email';
  if (id !== undefined) return methodOf(account, id, type);
  if (type === undefined || type === 'email')
    throw badRequest('tfa_method', 'needed without backup_code and tfa_method_id');
  const only = chooseMethod(account, type, undefined);
  if (only) return only;
  throw invalidMethod(`this account has no method of the type ${type}`);
}

/** Replaces earlier authorizations. @throws Refused challenge_creation_failed */
function begin(context: TfaContext, by: Challenge['by'], goesOff?: Sending) {
  const { state, user } = context;
  if (state.tfa.store === 'read only')
    throw new Refused('challenge_creation_failed', 'no challenge could be made; try again', 'tfa.store');
  for (const [secret, { userId, purpose }] of state.tfa.challenges) {
    if (userId === user.id && purpose === 'authorize') state.tfa.challenges.delete(secret);
  }
  const challenge = openChallenge(context, 'authorize', by);
  goesOff?.(challenge);
  return { success: true, secret: challenge.secret };
}

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

type Confirmation = Input<'tfa.confirmNew'>;

export function confirmNew(context: TfaContext, input: Confirmation) {
  const { state, user, nowMs, random } = context;
  requireWindow(context);
  const { tfa: account } = user;
  const isSms = input.tfa_method === 'sms';
  if (isSms && input.phone_number === undefined) throw missingPhone();
  requireNew(context, input);
  if (isSms) passSmsChallenge(context, input);
  else passAppSetup(context, input);

  const isFirst = account.methods.length === 0;
  addMethod(context, {
    method: input.tfa_method,
    label: input.label ?? null,
    phone_number: isSms ? (input.phone_number ?? null) : null,
    totp_secret: isSms ? null : input.secret,
    last_used: nowMs / 1000,
  });
  if (isSms) state.tfa.challenges.delete(input.secret);
  const added = { success: true, msg: `${isSms ? 'SMS' : 'TOTP'} 2FA method added` };
  if (!isFirst) return added;
  account.backupCodes = newBackupCodes(random);
  return { ...added, backup_codes: [...account.backupCodes] };
}

/** A method row ends the legacy state of an account. */
function addMethod(
  { state, user, nowMs }: TfaContext,
  added: Pick<TfaMethodRecord, 'method' | 'label' | 'phone_number' | 'totp_secret' | 'last_used'>,
): void {
  const { tfa: account } = user;
  const is_primary = account.methods.length === 0;
  const taken = account.methods.map((method) => method.id);
  const id = nextId(state, '2FA method', taken);
  account.legacy = false;
  const begun = { fail_count: 0, locked_until: null, created_at: nowMs / 1000 };
  account.methods.push({ id, ...added, is_primary, ...begun });
}

function requireNew({ state, user }: TfaContext, { tfa_method: type, phone_number, secret }: Confirmation) {
  const sameType = user.tfa.methods.filter(({ method }) => method === type);
  const same = sameType.some((one) =>
    type === 'sms' ? one.phone_number === phone_number : one.totp_secret === secret,
  );
  if (!same && sameType.length < state.settings.methodsPerType) return;
  throw new Refused('duplicate_tfa_method', `there is a ${type} method already`, 'settings.methodsPerType');
}

function passSmsChallenge(context: TfaContext, { code, secret, phone_number: phone }: Confirmation): void {
  const challenge = findChallenge(context, secret);
  const sent = liveCode(challenge, 'sms', context.nowMs);
  if (sent.phone_number !== phone) throw phoneMismatch('did not get this code');
  if (sent.code === code) return;
  noteWrongCode(challenge, 'sms', context.state.settings.tfaFailuresAllowed);
  throw wrongCode('2fa_verification_failed');
}

function passAppSetup({ state, nowMs }: TfaContext, { code, secret: base32 }: Confirmation): void {
  const secret = readTotpSecret(base32);
  if (!secret) throw badRequest('secret', 'not the base32 secret of tfa/totp-setup/');
  if (!isCurrent(secret, code, nowMs, state.settings.totpSteps)) throw wrongCode('2fa_verification_failed');
}

/** Removing the last method disables 2FA. */
export function removeMethod(context: TfaContext, { target_id, ...proof }: Input<'tfa.remove'>) {
  const { tfa: account } = context.user;
  requireTfa(context, '2fa_verification_failed');
  const named = target_id === undefined ? undefined : methodOf(account, target_id);
  if (!named) requireImplicitTarget(context, proof);
  const method = verifyProof(context, proof, '2fa_verification_failed');
  const target = named ?? method;
  account.methods = account.methods.filter((candidate) => candidate !== target);
  const [oldest] = account.methods;
  if (!oldest) {
    account.legacy = false;
    account.backupCodes = [];
    return { msg: '2FA Successfully Disabled' };
  }
  if (target?.is_primary) oldest.is_primary = true;
  return { msg: '2FA method removed', remaining_methods: account.methods.length };
}

/** Without target_id the verifying method is removed, so there must be one. */
function requireImplicitTarget({ user }: TfaContext, proof: Proof): void {
  if (user.tfa.methods.length === 0) return;
  const given = proof.backup_code === undefined ? proof.tfa_method : 'backup_code';
  if (given !== 'backup_code' && given !== 'email') return;
  throw badRequest('target_id', `needed with ${given}, which is no method of its own`);
}

export function updateMethod({ user, nowMs }: TfaContext, input: Input<'tfa.update'>) {
  const { tfa_method: type, tfa_method_id: id, label, is_primary } = input;
  const { tfa: account } = user;
  const method = id === undefined ? chooseMethod(account, type ?? 'totp', id) : methodOf(account, id, type);
  if (!method) throw notFound(`2FA method of the type ${type}`, 'tfa_method');
  if (is_primary === false && method.is_primary)
    throw badRequest('is_primary', 'make another method the primary one instead');
  if (label !== undefined) method.label = label;
  if (is_primary) for (const other of account.methods) other.is_primary = other === method;
  return { success: true, msg: '2FA method updated', method: viewMethod(method, user.id, nowMs) };
}

/** A legacy account gets the SMS method that it never had. */
export function regenerateBackupCodes(context: TfaContext, proof: Proof) {
  const { tfa: account } = context.user;
  requireTfa(context, '2fa_verification_failed');
  const isLegacy = account.methods.length === 0;
  if (isLegacy && account.phone_number === null) throw missingPhone();
  verifyProof(context, proof, '2fa_verification_failed');
  if (isLegacy) {
    const { phone_number } = account;
    addMethod(context, { method: 'sms', label: null, phone_number, totp_secret: null, last_used: null });
  }
  account.backupCodes = newBackupCodes(context.random);
  return { msg: 'New backup codes; the earlier ones no longer work', backup_codes: [...account.backupCodes] };
}
