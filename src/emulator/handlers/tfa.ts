import type { TfaMethod } from '../../contract/tfa.ts';
import { Refused } from '../refused.ts';
import type { TfaMethodRecord } from '../state.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

export const tfaHandlers: HandlersOf<'tfa'> = {
  'tfa.status': (_, context) => {
    forbidTeams(context);
    const { user, nowMs } = context;
    return {
      success: true,
      tfa_enabled: user.tfaMethods.length > 0 || user.tfaLegacy,
      methods: user.tfaMethods.map((method) => methodView(method, user.id, nowMs)),
      backup_codes_remaining: user.backupCodesRemaining,
      new_method_authorized: nowMs < (user.newMethodAuthorizedUntilMs ?? -Infinity),
    };
  },
};

/** §5.5: 2FA actions are done in the personal context. */
function forbidTeams({ key }: HandlerContext): void {
  if (!key.team) return;
  throw new Refused('team_user_forbidden', '2FA is managed in your personal context, not in a team', {
    reason: `authorization: key "${key.name}" acts in a team context (§5.5)`,
  });
}

function methodView(method: TfaMethodRecord, userId: number, nowMs: number): TfaMethod {
  const { lockedUntilMs } = method;
  return {
    id: method.id,
    user_id: userId,
    method: method.method,
    label: method.label,
    ...(method.phoneNumber === null ? {} : { phone_number: maskPhone(method.phoneNumber) }),
    is_primary: method.isPrimary,
    fail_count: method.failCount,
    locked_until: lockedUntilMs !== null && nowMs < lockedUntilMs ? lockedUntilMs / 1000 : null,
    created_at: method.createdAtMs / 1000,
    last_used: method.lastUsedMs === null ? null : method.lastUsedMs / 1000,
  };
}

/** All but the last 4 digits hidden (§2.4). */
function maskPhone(phone: string): string {
  return phone.replaceAll(/\d(?=\d{4})/g, '*');
}
