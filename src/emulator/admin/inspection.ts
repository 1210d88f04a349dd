import { settle, type World } from '../service/world.ts';
import type { State } from '../state/state.ts';

/**
 * What a test or the admin API may see and change of one kind of things: each method is both, in process and behind a
 * route, and works on the state that the operations work on.
 */
export class Inspection {
  protected readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** The state of this moment: everything that was due by now has happened, as it has to before a change too. */
  protected get settled(): State {
    settle(this.world, this.world.now());
    return this.world.state;
  }

  /** The user to whom the things belong that a test adds. */
  protected get owner(): number {
    return this.world.state.users.keys().next().value ?? 0;
  }
}

/** @throws RangeError for an id that does not exist, which is a mistake of the test that asks */
export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}
