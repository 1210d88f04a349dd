/** Sends codes by e-mail and SMS (§4.4), into the outbox. Pure. */
import type { Input, OperationId } from '../../contract/operations.ts';
import { Refused } from '../answers/answer.ts';
import type { Challenge, Channel, SentCode, SentMessage } from '../state/users.ts';
import {
  challengeNotFound,
  findChallenge,
  liveCode,
  methodOf,
  noChallenge,
  openChallenge,
  requireVerifiedEmail,
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
