/** The life of API keys (§5.2), pure: what a reset or deletion takes away stops working at once. */
import { nextId } from '../state/next-id.ts';
import type { Random } from '../random.ts';
import type { ApiKeyRecord } from '../state/api-keys.ts';
import type { State } from '../state/state.ts';

/**
 * What journal, faults and the admin API call a key by: those of the seed and the admin API have names of their
 * own; of several that the service created under one name this is the oldest.
 */
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
  storeKey(state, value, key);
}

/** A further key as the service makes it: a random value, and any name (§2.5). */
export function createKey(state: State, key: Omit<ApiKeyRecord, 'id'>, random: Random) {
  const value = freshValue(state, random);
  return { value, id: storeKey(state, value, key) };
}

/** Gives the key of this value another one. Returns it. */
export function renewKey(state: State, value: string, random: Random): string {
  const key = state.keys.get(value);
  if (!key) throw new RangeError('no API key of this value');
  const newValue = freshValue(state, random);
  state.keys.delete(value);
  state.keys.set(newValue, key);
  return newValue;
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

function storeKey(state: State, value: string, key: Omit<ApiKeyRecord, 'id'>): number {
  const taken = [...state.keys.values()].map(({ id }) => id);
  const id = nextId(state, 'api key', taken);
  state.keys.set(value, { id, ...key });
  return id;
}

/** 64 hexadecimal digits, as the public service's keys are. */
function freshValue(state: State, random: Random): string {
  const digits = Array.from({ length: 64 }, () => Math.floor(random() * 16).toString(16));
  const value = digits.join('');
  return state.keys.has(value) ? freshValue(state, random) : value;
}

function existingKey(state: State, name: string): [value: string, key: ApiKeyRecord] {
  const found = findKey(state, name);
  if (!found) throw new RangeError(`no API key "${name}"`);
  return found;
}
