/**
 * An endpoint that lives through some hours under a load, watched as a daemon watches it: the planner's own model, and
 * what can be otherwise than a planner takes it to be. What was seen is all that advice gets.
 */
import { generateLoad } from '../../../src/scaling/planner/load/generators.ts';
import type { Arrival } from '../../../src/scaling/planner/load/load.ts';
import type { RecordedStart, RecordedStretch } from '../../../src/scaling/advice/recorded.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';
import { GroupInWorld, type Seen } from './group-in-world.ts';
import { LOOK_SECONDS, type World } from './spec.ts';

export interface Outcome {
  readonly costPerHour: number;
  readonly p99Seconds: number;
  readonly stretches: readonly RecordedStretch[];
  readonly starts: readonly RecordedStart[];
  readonly performances: readonly number[];
}

/** When the world begins, Unix ms. */
const EPOCH_MS = Date.UTC(2026, 10, 20);

export function arrivalsIn({ load, seed, hours }: World): Arrival[] {
  if (load.unitsPerSecond === 0) return [];
  return [...generateLoad({ ...load, seed, seconds: hours * 3600 })];
}

/** What happens with these parameters. */
export function live(world: World, arrivals: readonly Arrival[], parameters: ResolvedParameters): Outcome {
  const groups = world.groups.map((_, index) => new GroupInWorld(world, index, parameters));
  const toGroup = chooser(world);
  let next = 0;
  const stretches: RecordedStretch[] = [];
  for (let at = LOOK_SECONDS; at <= world.hours * 3600; at += LOOK_SECONDS) {
    for (; next < arrivals.length && (arrivals[next] as Arrival).atSeconds <= at; next += 1) {
      const arrival = arrivals[next] as Arrival;
      groups[toGroup(next)]?.arrive(arrival);
    }
    const looks = groups.map((group) => group.look(at));
    if (!world.holes.some(([from, to]) => at > from && at <= to)) stretches.push(stretchOf(looks, at));
  }
  const ends = groups.map((group) => group.end());
  return {
    costPerHour: ends.reduce((sum, { costPerHour }) => sum + costPerHour, 0),
    p99Seconds: Math.max(...ends.map(({ p99Seconds }) => p99Seconds)),
    stretches,
    starts: groups.flatMap((group) => group.starts),
    performances: groups.flatMap((group) => group.performances),
  };
}

/** The group of each request, in turn by their shares. */
function chooser({ groups }: World): (index: number) => number {
  const [first] = groups;
  const share = first?.share ?? 1;
  return (index) => (Math.floor((index + 1) * share) > Math.floor(index * share) ? 0 : groups.length - 1);
}

function stretchOf(looks: readonly Seen[], at: number): RecordedStretch {
  const sum = (of: (look: Seen) => number) => looks.reduce((all, look) => all + of(look), 0);
  return {
    fromMs: EPOCH_MS + (at - LOOK_SECONDS) * 1000,
    toMs: EPOCH_MS + at * 1000,
    isSample: true,
    load: sum(({ load }) => load),
    loadAverage: sum(({ loadAverage }) => loadAverage),
    hot: sum(({ hot }) => hot),
    cold: sum(({ cold }) => cold),
    starting: sum(({ starting }) => starting),
    ready: sum(({ ready }) => ready),
    readyCapacity: sum(({ readyCapacity }) => readyCapacity),
    costPerHour: sum(({ costPerHour }) => costPerHour),
  };
}
