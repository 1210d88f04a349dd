/** What every rule of 2FA works on, and what all of them ask first. Pure. */
import type { OperationId } from '../../contract/operations.ts';
import type { Random } from '../random.ts';
import { Refused } from '../answers/refused.ts';
import type { ApiKeyRecord } from '../state/api-keys.ts';
import type { State } from '../state/state.ts';
import type { UserRecord } from '../state/users.ts';

/** A state, a caller, a time and a source of random numbers; the context of a handler is one. */
export interface TfaContext {
  readonly state: State;
  readonly user: UserRecord;
  readonly key: ApiKeyRecord;
  /** The caller is known by the secret of a login alone. */
  readonly loggedOut: boolean;
  /** Unix time in ms. */
  readonly nowMs: number;
  readonly random: Random;
}

/** §5.5: 2FA actions are done in the personal context. @throws Refused team_user_forbidden */
export function forbidTeams({ key }: TfaContext): void {
  if (!key.team) return;
  throw new Refused('team_user_forbidden', '2FA is managed in your personal context, not in a team', {
    reason: `authorization: key "${key.name}" acts in a team context (§5.5)`,
  });
}

/** §5.6: admins may be sent codes without a verified e-mail address by these two alone. */
const ADMIN_EXEMPT: ReadonlySet<OperationId> = new Set<OperationId>(['tfa.sendSms', 'tfa.resendSms']);

/** @throws Refused email_not_verified */
export function requireVerifiedEmail({ user }: TfaContext, operation: OperationId): void {
  if (user.emailVerifiedAt !== null || (user.isAdmin && ADMIN_EXEMPT.has(operation))) return;
  throw new Refused('email_not_verified', 'verify the e-mail address of your account first', {
    reason: 'email_verified_at: codes are sent only to accounts with a verified e-mail address (§5.6)',
  });
}

/** `bytes` random bytes as lower-case hexadecimal digits. */
export function randomHex(random: Random, bytes: number): string {
  return Array.from({ length: bytes }, () =>
    Math.floor(random() * 256)
      .toString(16)
      .padStart(2, '0'),
  ).join('');
}
