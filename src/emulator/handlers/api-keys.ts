import { requireWithin } from '../calls/access.ts';
import { createKey, renewKey } from '../resources/api-keys.ts';
import { Refused } from '../answers/refused.ts';
import type { ApiKeyRecord } from '../state/api-keys.ts';
import type { HandlerContext, HandlersOf } from './define.ts';

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
      .map(shownKey),
  }),

  'apiKeys.get': ({ id }, context) => shownKey(ownKey(id, context)[1]),

  'apiKeys.delete': ({ id }, context) => {
    context.state.keys.delete(ownKey(id, context)[0]);
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

function ownKey(id: number, { state, user }: HandlerContext): [value: string, key: ApiKeyRecord] {
  const found = [...state.keys].find(([, key]) => key.id === id && key.userId === user.id);
  if (found) return found;
  throw new Refused('not_found', `no API key ${id}`, { reason: `id: this account has no API key ${id}` });
}

function shownKey({ id, name, permissions }: ApiKeyRecord) {
  return { id, name, permissions };
}
