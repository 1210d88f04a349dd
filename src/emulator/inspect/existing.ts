import type { World } from '../service/service.ts';
import { settle } from '../service/settle.ts';
import type { State } from '../state/state.ts';

/** @throws RangeError for an id that does not exist, which is a mistake of the test that asks */
export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}

/** Whose those things are that a test adds. */
export function firstUser(state: State): number {
  return state.users.keys().next().value ?? 0;
}

/** The state of this moment: everything that was due by now has happened, as it has to before a change too. */
export function settledState(world: World): State {
  settle(world, world.now());
  return world.state;
}
