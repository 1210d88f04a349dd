import { tfaStatusOf } from '../tfa/account/account.ts';
import type { UserRecord } from '../state/users.ts';

/** The user object of the interface (§2.4). */
export function viewUser(user: UserRecord) {
  return {
    id: user.id,
    username: user.username,
    email: user.email,
    email_verified_at: user.emailVerifiedAt,
    is_admin: user.isAdmin,
    tfa_status: tfaStatusOf(user.tfa),
  };
}
