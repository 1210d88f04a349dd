/**
 * Challenges: a secret, and the codes that were sent for it. A challenge that has been passed is gone; one
 * that is too old stays known for a while, so that 2fa_expired can be told from challenge_not_found. Pure.
 */
import { LIMITS } from '../../contract/limits.ts';
import { Refused } from '../answers/refused.ts';
import { randomHex, type TfaContext } from './context.ts';
import type { Challenge, Channel, SentCode } from '../state/two-factor.ts';

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
  throw new Refused('2fa_expired', 'the code has expired; ask for a new one', {
    reason: `secret: its challenge is older than ${LIMITS.challengeValiditySeconds} s (§8)`,
  });
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
  return new Refused('challenge_not_found', 'no challenge belongs to this secret', {
    reason: 'secret: unknown, used up, or meant for another purpose',
  });
}

export function noChallenge(rule: string): Refused {
  return new Refused('no_challenge_found', 'there is no active challenge; ask for a code first', {
    reason: `secret: ${rule}`,
  });
}
