/** Ids count up and are never given twice, not even after what had one is deleted. */
import type { State } from './state.ts';

/** The kinds of things that get an id of their own when they are created. */
export type Numbered =
  | 'deployment'
  | 'deployment version'
  | 'worker group'
  | 'template'
  | 'instance'
  | 'api key'
  | 'team role'
  | 'endpoint group';

/** `taken`: ids that exist, those of the seed among them. */
export function nextId(state: State, kind: Numbered, taken: Iterable<number>): number {
  let last = state.lastIds.get(kind) ?? 0;
  for (const id of taken) last = Math.max(last, id);
  state.lastIds.set(kind, last + 1);
  return last + 1;
}
