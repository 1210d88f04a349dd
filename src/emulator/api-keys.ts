/** The life of API keys (§5.2), pure: what a reset or deletion takes away stops working at once. */
import type { ApiKeyRecord, State } from './state.ts';

/** A key's name is unique here, so that journal, faults and the admin API can call it by it. */
export function findKey(state: State, name: string): [value: string, key: ApiKeyRecord] | undefined {
  return [...state.keys].find(([, key]) => key.name === name);
}

/** The value of the oldest key; undefined when all were deleted. */
export function firstKeyValue(state: State): string | undefined {
  const [first] = [...state.keys].sort(([, a], [, b]) => a.id - b.id);
  return first?.[0];
}

/** @throws Error for a name or value that is taken */
export function addKey(state: State, value: string, key: Omit<ApiKeyRecord, 'id'>): void {
  if (findKey(state, key.name)) throw new Error(`name: there is an API key "${key.name}" already`);
  if (state.keys.has(value)) throw new Error('key: this value is in use');
  const lastId = Math.max(0, ...[...state.keys.values()].map(({ id }) => id));
  state.keys.set(value, { id: lastId + 1, ...key });
}

/** Gives a key a new value. @throws RangeError for a key that does not exist, Error for a value in use */
export function resetKey(state: State, name: string, newValue: string): void {
  const [value, key] = existingKey(state, name);
  if (newValue !== value && state.keys.has(newValue)) throw new Error('key: this value is in use');
  state.keys.delete(value);
  state.keys.set(newValue, key);
}

/** @throws RangeError for a key that does not exist */
export function deleteKey(state: State, name: string): void {
  state.keys.delete(existingKey(state, name)[0]);
}

function existingKey(state: State, name: string): [value: string, key: ApiKeyRecord] {
  const found = findKey(state, name);
  if (!found) throw new RangeError(`no API key "${name}"`);
  return found;
}
