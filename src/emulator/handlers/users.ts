import type { UserRecord } from '../state.ts';
import type { HandlersOf } from './define.ts';

export const userHandlers: HandlersOf<'users'> = {
  'users.current': (_, { user }) => ({
    id: user.id,
    username: user.username,
    email: user.email,
    email_verified_at: user.emailVerifiedAt,
    is_admin: user.isAdmin,
    tfa_status: tfaStatusOf(user),
  }),
};

function tfaStatusOf(user: UserRecord): 'enabled' | 'disabled' | 'legacy' {
  if (user.tfaMethods.length > 0) return 'enabled';
  return user.tfaLegacy ? 'legacy' : 'disabled';
}
