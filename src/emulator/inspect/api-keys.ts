/** What a test may see and change of API keys: `emulator.apiKeys.remove(name)`. */
import type { z } from 'zod';
import { addKey, deleteKey, resetKey } from '../resources/api-keys.ts';
import { apiKeyEntry } from '../seed/schema.ts';
import type { World } from '../service/service.ts';

/** Keys by their names; values go in and never come out. */
export interface ApiKeys {
  list(): { readonly name: string; readonly userId: number }[];
  /** A further key of the first user. @throws Error for a name or value that is taken */
  add(entry: z.input<typeof apiKeyEntry>): void;
  /** A new value: the old one answers 401 at once. @throws RangeError for a name that does not exist */
  reset(name: string, newValue: string): void;
  /** Later requests with it get 401. @throws RangeError for a name that does not exist */
  remove(name: string): void;
}

export function inspectApiKeys(world: World): ApiKeys {
  return {
    list: () => [...world.state.keys.values()].map(({ name, userId }) => ({ name, userId })),
    add(entry) {
      const { key, name, permissions, team } = apiKeyEntry.parse(entry);
      const userId = world.state.users.keys().next().value ?? 0;
      addKey(world.state, key, { name, userId, permissions: permissions ?? null, team });
    },
    reset: (name, newValue) => resetKey(world.state, name, newValue),
    remove: (name) => deleteKey(world.state, name),
  };
}
