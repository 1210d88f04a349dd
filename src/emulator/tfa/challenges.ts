/**
 * Challenges: a secret, and the codes that were sent for it. A challenge that has been passed is gone; one
 * that is too old stays known for a while, so that 2fa_expired can be told from challenge_not_found. Pure.
 */
import { LIMITS } from '../../contract/limits.ts';
import type { OperationId } from '../../contract/operations.ts';
import { Refused } from '../answers/refused.ts';
import type { Random } from '../random.ts';
import type { State } from '../state/state.ts';
import type { ApiKeyRecord, Challenge, Channel, SentCode, UserRecord } from '../state/users.ts';

const VALIDITY_MS = LIMITS.challengeValiditySeconds * 1000;
const SECRET_BYTES = 16;
/** Challenges that are remembered; the oldest are forgotten first. */
const REMEMBERED = 10_000;

/** Makes a challenge without a code; returns its secret. */
export function openChallenge(
  { state: { tfa }, random, user, nowMs }: Pick<TfaContext, 'state' | 'random' | 'user' | 'nowMs'>,
  purpose: Challenge['purpose'],
  by: Challenge['by'] = null,
): string {
  const secret = randomHex(random, SECRET_BYTES);
  const codes = { sms: null, email: null };
  tfa.challenges.set(secret, { userId: user.id, purpose, by, codes, expiresAtMs: nowMs + VALIDITY_MS });
  for (const oldest of tfa.challenges.keys()) {
    if (tfa.challenges.size <= REMEMBERED) break;
    tfa.challenges.delete(oldest);
  }
  return secret;
}

/** The user's challenge of a secret. @throws Refused challenge_not_found, 2fa_expired */
export function findChallenge({ state: { tfa }, user, nowMs }: TfaContext, secret: string): Challenge {
  const challenge = tfa.challenges.get(secret);
  if (!challenge || challenge.userId !== user.id) throw challengeNotFound();
  requireUnexpired(challenge, nowMs);
  return challenge;
}

/** @throws Refused 2fa_expired */
export function requireUnexpired({ expiresAtMs }: { readonly expiresAtMs: number }, nowMs: number): void {
  if (nowMs < expiresAtMs) return;
  throw new Refused('2fa_expired', 'the code has expired; ask for a new one', 'secret');
}

/** @throws Refused no_challenge_found where no code was sent or it was cleared, 2fa_expired */
export function liveCode(challenge: Challenge, channel: Channel, nowMs: number): SentCode {
  const sent = challenge.codes[channel];
  if (!sent) throw noChallenge(`no ${channel} code was sent for this secret, or it was cleared`);
  requireUnexpired(sent, nowMs);
  return sent;
}

/** Puts a code that is being sent into its challenge; it is valid for 10 minutes. */
export function putCode(
  challenge: Challenge,
  channel: Channel,
  code: Pick<SentCode, 'code' | 'phoneNumber' | 'methodId'>,
  nowMs: number,
): SentCode {
  const sent: SentCode = { ...code, expiresAtMs: nowMs + VALIDITY_MS, failures: 0 };
  challenge.codes[channel] = sent;
  challenge.expiresAtMs = sent.expiresAtMs;
  return sent;
}

/** Counts a wrong code where no method does; more than `allowed` clear the code, which ends the guessing. */
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

/** A state, a caller, a time and a source of random numbers; the context of a handler is one. */
export interface TfaContext {
  readonly state: State;
  readonly user: UserRecord;
  readonly key: ApiKeyRecord;
  /** The caller is known by the secret of a login alone. */
  readonly loggedOut: boolean;
  readonly nowMs: number;
  readonly random: Random;
}

/** §5.5: 2FA actions are done in the personal context. @throws Refused team_user_forbidden */
export function forbidTeams({ key }: TfaContext): void {
  if (!key.team) return;
  throw new Refused('team_user_forbidden', '2FA is not managed in a team', 'authorization');
}

/** §5.6: admins may be sent codes without a verified e-mail address by these two alone. */
const ADMIN_EXEMPT: ReadonlySet<OperationId> = new Set<OperationId>(['tfa.sendSms', 'tfa.resendSms']);

/** @throws Refused email_not_verified */
export function requireVerifiedEmail({ user }: TfaContext, operation: OperationId): void {
  if (user.emailVerifiedAt !== null || (user.isAdmin && ADMIN_EXEMPT.has(operation))) return;
  throw new Refused('email_not_verified', 'verify your e-mail address first', 'email_verified_at');
}

export function randomHex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('');
}
