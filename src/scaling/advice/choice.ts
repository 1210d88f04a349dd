/** Which sets may be advised: those that a search finds, and what they do in other scenes than the one it was in. */
import type { OpenRunner } from '../planner/search/runner.ts';
import {
  isWithin,
  keyOf,
  pointOf,
  spreadOver,
  type SearchBounds,
  type SearchPoint,
} from '../planner/search/search-space.ts';
import { searchParameters } from '../planner/search/search.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { meanOf, outcomeOf, type Scene } from './prediction.ts';

/** Of the sets that are dearer than the best one and wait less. */
const MOST_KEEPERS = 6;

/** What is found meets the whole load and several seeds after it: so much of it tells which sets are worth that. */
const SAMPLE_REQUESTS = 100_000;
const SAMPLE_SECONDS = 16 * 3600;

/** A set that keeps the limit where it was searched; figures in the order of the scenes that it met since. */
export interface Finalist {
  readonly parameters: ResolvedParameters;
  readonly costPerHour: readonly number[];
  readonly p99Seconds: readonly number[];
}

export interface Finals {
  readonly today: Finalist;
  /** Cheapest first. */
  readonly finalists: readonly Finalist[];
}

export interface Found {
  /** The best one, and some that are dearer and wait less: it may miss the limit with another seed. */
  readonly keepers: readonly SearchPoint[];
  /** Sets that were tried. */
  readonly tried: number;
}

export interface SearchFor {
  readonly parameters: ResolvedParameters;
  readonly limitSeconds: number;
  readonly bounds: SearchBounds | undefined;
  /** Of what may be advised. */
  readonly allows: (set: ResolvedParameters) => boolean;
  readonly openRunner: OpenRunner | undefined;
  readonly signal: AbortSignal | undefined;
}

/** @throws the signal's reason once it is aborted */
export async function searched(
  { settings, load }: Scene,
  { parameters, limitSeconds, bounds = {}, allows, openRunner, signal }: SearchFor,
  progress: (share: number) => void,
): Promise<Found> {
  const mayBeAdvised = (point: SearchPoint) => allows({ ...parameters, ...point });
  const { likelyFrontier, best, looked } = await searchParameters(
    {
      base: parameters,
      settings,
      loads: [load],
      p99LimitSeconds: limitSeconds,
      bounds,
      allows: mayBeAdvised,
      sampleRequests: sampleOf(load),
    },
    {
      ...(signal && { signal }),
      ...(openRunner && { openRunner }),
      progress: ({ share }) => progress(share),
    },
  );
  const keeping = likelyFrontier.filter(
    (set) => set.p99Seconds <= limitSeconds && isWithin(set, bounds) && mayBeAdvised(pointOf(set)),
  );
  const keepers = [...(best ? [best] : []), ...spreadOver(keeping, MOST_KEEPERS)];
  return { keepers: keepers.map((set) => pointOf(set)), tried: looked };
}

function sampleOf({ length, seconds }: Scene['load']): number {
  // Of a load that is so small that no request comes, all is taken.
  return Math.min(SAMPLE_REQUESTS, (Math.max(1, length) * SAMPLE_SECONDS) / seconds);
}

/** @throws the signal's reason once it is aborted */
export async function finals(
  parameters: ResolvedParameters,
  points: readonly SearchPoint[],
  scenes: Iterable<Scene>,
  signal: AbortSignal | undefined,
): Promise<Finals> {
  const distinct = new Map(points.map((point) => [keyOf(point), point]));
  const sets = [
    parameters,
    ...Array.from(distinct.values(), (point) => Object.assign({}, parameters, point)),
  ];
  const costs = sets.map((): number[] => []);
  const waits = sets.map((): number[] => []);
  for (const scene of scenes) {
    for (const [index, set] of sets.entries()) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      const { cost, queueTime } = outcomeOf(set, scene);
      (costs[index] as number[]).push(cost.perHour);
      (waits[index] as number[]).push(queueTime.p99);
    }
  }
  const [today, ...finalists] = sets.map((set, index): Finalist => ({
    parameters: set,
    costPerHour: costs[index] as number[],
    p99Seconds: waits[index] as number[],
  }));
  if (!today) throw new Error('unreachable: the set in force is the first');
  return { today, finalists: finalists.sort((a, b) => meanOf(a.costPerHour) - meanOf(b.costPerHour)) };
}
