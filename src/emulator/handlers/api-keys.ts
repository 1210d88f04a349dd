import { createKey, renewKey } from '../resources/api-keys.ts';
import { Refused } from '../answers/refused.ts';
import type { HandlersOf } from './define.ts';

export const apiKeyHandlers: HandlersOf<'apiKeys'> = {
  /** It acts in the context of the key that created it. */
  'apiKeys.create': ({ name, permissions }, { state, key, random }) => {
    const { userId, team } = key;
    const created = createKey(state, { name, userId, permissions: permissions ?? null, team }, random);
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
    const [value = ''] = [...state.keys].find(([, { id }]) => id === key.id) ?? [];
    return { new_api_key: renewKey(state, value, random) };
  },
};
