import { viewUser } from '../resources/users.ts';
import type { HandlersOf } from './define.ts';

export const userHandlers: HandlersOf<'users'> = {
  'users.current': (_, { user }) => viewUser(user),
};
