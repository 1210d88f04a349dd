import { notFound, Refused } from '../answers/answer.ts';
import { isSession, requireWithin } from '../calls/call.ts';
import { randomHex, type Random } from '../random.ts';
import { nextId, type State } from '../state/state.ts';
import type { ApiKeyRecord, UserRecord } from '../state/users.ts';
import { tfaStatusOf } from '../tfa/account.ts';
import { ownOf, type HandlerContext, type HandlersOf } from './define.ts';
import { spendRate } from './spend.ts';

export const accountHandlers: HandlersOf<'apiKeys' | 'teams' | 'users'> = {
  /** A new key has the context of its creator, and no more permissions. */
  'apiKeys.create': ({ name, permissions = null }, { state, key, random }) => {
    const { userId, team } = key;
    requireWithin(key, permissions);
    const value = freshValue(state, random);
    return {
      id: storeKey(state, value, { name, userId, permissions, team, byTfa: isSession(key) }),
      key: value,
    };
  },

  'apiKeys.list': (_, context) => ({
    apikeys: ownOf(context.state.keys, context)
      .sort((a, b) => a.id - b.id)
      .map(shownKey),
  }),

  'apiKeys.get': ({ id }, context) => shownKey(ownKey(id, context)[1]),

  'apiKeys.delete': ({ id }, context) => {
    context.state.keys.delete(ownKey(id, context)[0]);
    return { success: true };
  },

  'apiKeys.reset': (_, { state, key, random }) => {
    const [value] = [...state.keys].find(([, { id }]) => id === key.id) ?? [];
    if (value === undefined)
      throw new Refused('forbidden', 'a session_key is no API key, and cannot be reset', 'authorization');
    const newValue = freshValue(state, random);
    state.keys.delete(value);
    state.keys.set(newValue, key);
    return { new_api_key: newValue };
  },

  /** Role names are case-sensitive. */
  'teams.createRole': ({ name, permissions }, { state, key, user: { teamId }, nowMs }) => {
    if (!key.team) throw new Refused('team_required', 'this key does not act for a team', 'authorization');
    if ([...state.teamRoles.values()].some((role) => role.team_id === teamId && role.name === name))
      throw new Refused('duplicate_role', `there is a role "${name}" already`, 'name');
    const id = nextId(state, 'team role', state.teamRoles.keys());
    state.teamRoles.set(id, { id, team_id: teamId, name, permissions, created_at: nowMs / 1000 });
    return { msg: `Role ${name} created` };
  },

  'users.current': (_, { user }) => viewUser(user),
  'users.spendRate': (_, context) => spendRate(context),
};

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

function ownKey(id: number, { state, user }: HandlerContext): [value: string, key: ApiKeyRecord] {
  const found = [...state.keys].find(([, key]) => key.id === id && key.userId === user.id);
  if (found) return found;
  throw notFound(`API key ${id}`);
}

function shownKey({ id, name, userId, permissions }: ApiKeyRecord) {
  return { id, name, permissions, key_type: 'api', user_id: userId };
}

/** Journal, faults and admin API name keys so; the oldest wins. */
export function findKey(state: State, name: string): [value: string, key: ApiKeyRecord] | undefined {
  return [...state.keys].find(([, key]) => key.name === name);
}

export function storeKey(state: State, value: string, key: Omit<ApiKeyRecord, 'id'>): number {
  const taken = [...state.keys.values()].map(({ id }) => id);
  const id = nextId(state, 'api key', taken);
  state.keys.set(value, { id, ...key });
  return id;
}

function freshValue(state: State, random: Random): string {
  const value = randomHex(random, 32);
  return state.keys.has(value) ? freshValue(state, random) : value;
}
