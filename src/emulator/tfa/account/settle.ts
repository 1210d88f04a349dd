/** What has passed by a time stays so, even if the clock is turned back afterwards. Pure. */
import type { State } from '../../state/state.ts';
import { settleLock } from './lock.ts';
import type { Challenge } from '../../state/two-factor.ts';

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
