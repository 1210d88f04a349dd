/** Sending codes, by SMS and by e-mail: what stands in the way, and the outbox that they end up in. Pure. */
import type { OperationId } from '../../contract/operations.ts';
import { Refused } from '../answers/refused.ts';
import { putCode } from './challenges.ts';
import { requireVerifiedEmail, type TfaContext } from './context.ts';
import type { Challenge, Channel } from '../state/two-factor.ts';

/** Messages that the outbox keeps. */
const OUTBOX_MESSAGES = 1_000;

/** Where an SMS goes, and the method whose number that is. */
export interface SmsTarget {
  readonly phoneNumber: string;
  readonly methodId: number | null;
}

/**
 * Whether an SMS may and can be sent to a number now; nothing has changed where not.
 * @throws Refused sms_fraud_detected, sms_blocked_number, sms_rate_limited, preauth_phone_cap, twilio_*
 */
export function requireDeliverableSms(context: TfaContext, phoneNumber: string, preauth: boolean): void {
  const { state, user, nowMs } = context;
  const { settings, tfa } = state;
  if (user.tfa.smsFraud) {
    throw new Refused('sms_fraud_detected', 'SMS is disabled for this account; ask support', {
      reason: 'authorization: the account is flagged for SMS fraud',
    });
  }
  if (tfa.blockedNumbers.has(phoneNumber)) {
    throw new Refused('sms_blocked_number', 'no codes are sent to this number; use another one', {
      reason: 'phone_number: flagged as high risk of SMS pumping',
    });
  }
  const sent = since(user.tfa.smsSentAtMs, nowMs, settings.smsWindowSeconds);
  if (sent.length >= settings.smsPerWindow) {
    throw new Refused('sms_rate_limited', 'too many codes were asked for; wait a little', {
      reason: `settings.smsPerWindow: ${settings.smsPerWindow} SMS in ${settings.smsWindowSeconds} s`,
    });
  }
  const used = since(tfa.phoneUse.get(phoneNumber) ?? [], nowMs, settings.phoneCapWindowSeconds);
  if (preauth && used.length >= settings.phoneCap) {
    throw new Refused('preauth_phone_cap', 'this number was used in too many attempts', {
      reason: `settings.phoneCap: ${settings.phoneCap} attempts in ${settings.phoneCapWindowSeconds} s`,
    });
  }
  if (tfa.smsProvider === 'failing') {
    throw new Refused('twilio_error', 'the SMS could not be delivered', { reason: 'SMS provider: failing' });
  }
  if (tfa.smsProvider === 'rate limited') {
    throw new Refused('twilio_rate_limited', 'the SMS provider is busy; try again in a moment', {
      reason: 'SMS provider: rate limited',
    });
  }
}

/** Sends a code that requireDeliverableSms has let pass. */
export function sendSmsCode(
  context: TfaContext,
  challenge: Challenge,
  { phoneNumber, methodId }: SmsTarget,
  preauth: boolean,
): void {
  const { state, user, nowMs } = context;
  const { settings, tfa } = state;
  user.tfa.smsSentAtMs = [...since(user.tfa.smsSentAtMs, nowMs, settings.smsWindowSeconds), nowMs];
  if (preauth) {
    const used = since(tfa.phoneUse.get(phoneNumber) ?? [], nowMs, settings.phoneCapWindowSeconds);
    tfa.phoneUse.set(phoneNumber, [...used, nowMs]);
  }
  send(context, challenge, 'sms', phoneNumber, { phoneNumber, methodId });
}

/** The address that a code may go to. @throws Refused missing_email, email_not_verified */
export function requireEmailAddress(context: TfaContext, operation: OperationId): string {
  const { email } = context.user;
  if (email === null) {
    throw new Refused('missing_email', 'your account has no e-mail address', {
      reason: 'email: the account has none',
    });
  }
  requireVerifiedEmail(context, operation);
  return email;
}

export function sendEmailCode(context: TfaContext, challenge: Challenge, address: string): void {
  send(context, challenge, 'email', address, { phoneNumber: null, methodId: null });
}

function send(
  { state: { tfa }, user, nowMs, random }: TfaContext,
  challenge: Challenge,
  channel: Channel,
  to: string,
  target: { readonly phoneNumber: string | null; readonly methodId: number | null },
): void {
  const code = String(Math.floor(random() * 1_000_000)).padStart(6, '0');
  const { expiresAtMs } = putCode(challenge, channel, { code, ...target }, nowMs);
  const seq = (tfa.outbox.at(-1)?.seq ?? 0) + 1;
  tfa.outbox.push({ seq, atMs: nowMs, userId: user.id, channel, to, code, expiresAtMs });
  if (tfa.outbox.length > OUTBOX_MESSAGES) tfa.outbox.shift();
}

/** Those of the times that lie within the last `seconds`. */
function since(timesMs: readonly number[], nowMs: number, seconds: number): number[] {
  return timesMs.filter((atMs) => atMs > nowMs - seconds * 1000);
}
