import { settleEndpoints } from '../serverless/endpoints.ts';
import type { World } from '../service/service.ts';
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

/** The state of this moment: what ended with a deployment that has expired is not in it. */
export function settledState(world: World): State {
  settleEndpoints(world.state, world.now());
  return world.state;
}
