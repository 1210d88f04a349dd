/** Reset, seed and restore each swap the whole state in one synchronous step. */
import type { ClockState, ScheduledClock } from '../clock.ts';
import type { FaultInjector } from '../faults.ts';
import type { RequestJournal } from '../journal.ts';
import { createRandom } from '../random.ts';
import { buildState, type Beginning } from '../seed/build.ts';
import { checkSeed, readTraits, type Seed } from '../seed/seed.ts';
import { catchUp, type World } from '../service.ts';
import { fullBuckets, type SettingsInput, type Traits, type TraitsInput } from '../state/settings.ts';
import type { State } from '../state/state.ts';

/** What tests see and change of one kind of thing, in process and over HTTP. */
export class Inspection {
  protected readonly world: World;

  constructor(world: World) {
    this.world = world;
  }

  /** The state after everything due by now has happened. */
  protected get current(): State {
    catchUp(this.world, this.world.now());
    return this.world.state;
  }

  protected get beginning(): Beginning {
    const { settings, users } = this.world.state;
    return { nowMs: this.world.now(), owner: users.keys().next().value ?? 0, settings };
  }
}

export function existing<Item>(items: ReadonlyMap<number, Item>, id: number, what: string): Item {
  const item = items.get(id);
  if (!item) throw new RangeError(`no ${what} ${id}`);
  return item;
}

/** The state of one moment. A frozen clock is part of it; a running clock keeps running. */
export interface Snapshot {
  readonly state: State;
  readonly clock: ClockState;
}

/** What reset and restore put in order, and server and admin API work on. */
export interface Machinery {
  readonly world: World;
  readonly clock: ScheduledClock;
  readonly faults: FaultInjector;
  readonly journal: RequestJournal;
}

interface Start {
  readonly settings: SettingsInput;
  readonly seed: Seed;
  readonly traits: Traits;
}

/** Sets the whole emulator back to its seed, to another seed, or to an earlier moment. */
export type Control = Readonly<ReturnType<typeof createControl>>;

export function createControl(machinery: Machinery, { settings, seed, traits }: Start) {
  const { world, clock, faults, journal } = machinery;
  let current = seed;

  async function reset(): Promise<void> {
    clock.reset();
    world.state = buildState(current, settings, clock.now(), traits);
    world.random = createRandom(world.state.settings.randomSeed);
    world.fleets.restart(world.state, clock.now());
    journal.clear();
    await faults.clear();
  }

  return {
    /** Sets state, clock, faults, journal and traits back to the current seed. */
    reset,
    /** Replaces the seed, then resets. @throws SeedError, and changes nothing */
    async seed(next: Seed): Promise<void> {
      checkSeed(next);
      current = next;
      await reset();
    },
    snapshot(): Snapshot {
      world.fleets.catchUp(world.state, clock.now());
      return structuredClone({ state: world.state, clock: clock.save() });
    },
    /** Faults and journal stay. Can be repeated. Queues and running requests are not part of it. */
    restore(snapshot: Snapshot): void {
      clock.restore(snapshot.clock);
      world.state = structuredClone(snapshot.state);
      world.fleets.restart(world.state, clock.now());
    },
  };
}

/** Reads and switches the traits. */
export class TraitSwitches extends Inspection {
  get(): Traits {
    return this.world.state.traits;
  }

  /** Replaces the given traits, with full buckets. @throws TraitsError, and changes nothing */
  set(changes: TraitsInput): Traits {
    const { state } = this.world;
    const read = readTraits(changes);
    state.traits = { ...state.traits, ...read };
    if (read.rate_limit !== undefined) state.rateLimit = fullBuckets();
    return state.traits;
  }
}
