/** The traits, as a test looks at them and switches them. */
import { readTraits } from '../seed/file.ts';
import type { World } from '../service/service.ts';
import { fullBuckets, type Traits, type TraitsInput } from '../state/traits.ts';

export interface TraitSwitches {
  get(): Traits;
  /**
   * Replaces the given traits, each as a whole, and returns all. A new `rate_limit` begins with full buckets.
   * @throws TraitsError, and nothing has changed then
   */
  set(changes: TraitsInput): Traits;
}

export function inspectTraits(world: World): TraitSwitches {
  return {
    get: () => world.state.traits,
    set(changes) {
      const read = readTraits(changes);
      world.state.traits = { ...world.state.traits, ...read };
      if (read.rate_limit !== undefined) world.state.rateLimit = fullBuckets();
      return world.state.traits;
    },
  };
}
