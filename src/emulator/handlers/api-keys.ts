import { requireWithin } from '../calls/access.ts';
import { createKey, renewKey } from '../resources/api-keys.ts';
import { Refused } from '../answers/refused.ts';
import type { HandlersOf } from './define.ts';

export const apiKeyHandlers: HandlersOf<'apiKeys'> = {
  /** It acts in the context of the key that created it, and may do no more. */
  'apiKeys.create': ({ name, permissions = null }, { state, key, random }) => {
    const { userId, team } = key;
    requireWithin(key, permissions);
    const created = createKey(state, { name, userId, permissions, team }, random);
    return { id: created.id, key: created.value };
  },

  'apiKeys.list': (_, { state, user }) => ({
    apikeys: [...state.keys.values()]
      .filter(({ userId }) => userId === user.id)
      .sort((a, b) => a.id - b.id)
      .map(({ id, name, permissions }) => ({ id, name, permissions })),
  }),

  'apiKeys.delete': ({ id }, { state, user }) => {
    const [value] = [...state.keys].find(([, key]) => key.id === id && key.userId === user.id) ?? [];
    if (value === undefined) {
      throw new Refused('not_found', `no API key ${id}`, { reason: `id: this account has no API key ${id}` });
    }
    state.keys.delete(value);
    return { success: true };
  },

  'apiKeys.reset': (_, { state, key, random }) => {
    const [value] = [...state.keys].find(([, { id }]) => id === key.id) ?? [];
    if (value === undefined) {
      throw new Refused('forbidden', 'a session_key is no API key, and cannot be reset', {
        reason: `authorization: the ${key.name} is no API key; only the calling key can be reset`,
      });
    }
    return { new_api_key: renewKey(state, value, random) };
  },
};
