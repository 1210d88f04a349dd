/**
 * Which parameters cost least for the queue time wanted: plans for many sets under common arrivals, most of which are
 * given up as soon as they cannot win.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { ReplayableLoad } from '../load/load.ts';
import type { PlanSettings } from '../settings.ts';
import { frontierOf, type Candidate } from './candidate.ts';
import { CostFloor } from './cost-floor.ts';
import { linesOf, tryLines, type Grain } from './lines.ts';
import { tryNeighbours } from './neighbours.ts';
import { Race } from './race.ts';
import { openLocalRunner, type OpenRunner } from './runner.ts';
import {
  pointOf,
  searchSpace,
  type SearchBounds,
  type SearchPoint,
  type SearchSpace,
} from './search-space.ts';

export interface SearchRequest {
  /** The set that is in force: always tried, and what the other parameters are taken from. */
  readonly base: ResolvedParameters;
  readonly settings: PlanSettings;
  /**
   * At least one; several where the load is made up or resampled, one for each seed. A set's cost is the mean of its
   * costs, its p99 that of the requests of all.
   */
  readonly loads: readonly ReplayableLoad[];
  /** Seconds that 99 of 100 requests wait at most; without it there is a frontier, and no best. */
  readonly p99LimitSeconds?: number | undefined;
  /** Of what may be named as the best; what is not named may take any value that makes sense. */
  readonly bounds?: SearchBounds;
}

export interface SearchOptions {
  /** Who runs the trials; without it this thread. The result is the same. */
  readonly openRunner?: OpenRunner;
  /** Also looks for the cheapest sets of other limits, so that cost can be drawn against waiting. */
  readonly frontier?: boolean;
  readonly signal?: AbortSignal;
  readonly progress?: (step: SearchStep) => void;
}

export interface SearchStep {
  /** Sets tried so far, to the end or not. */
  readonly done: number;
  /** How much of the search that is, about: 0 to 1, never falling. */
  readonly share: number;
  /** Cheapest so far that is good enough. */
  readonly best: Candidate | undefined;
}

export interface SearchResult {
  readonly p99LimitSeconds: number | undefined;
  readonly space: SearchSpace;
  /** Those that were tried to the end. */
  readonly tried: readonly Candidate[];
  /** How many were given up before the end: too many requests late by then, or as dear as the best one. */
  readonly givenUp: number;
  /** The candidates that no other beats in both cost and p99; cheapest first. */
  readonly frontier: readonly Candidate[];
  /** The set that is in force. */
  readonly given: Candidate;
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or where not even all workers hot keep it. */
  readonly best: Candidate | undefined;
}

const GRAIN: Grain = { utils: 8, mults: 4, workers: 6 };
const FRONTIER_GRAIN: Grain = { utils: 5, mults: 3, workers: 4 };
/** Limits beside the one asked for, as factors of it, and what is drawn where none is: seconds. */
const OTHER_LIMITS = [0.1, 0.3, 3, 10, 30] as const;
const LIMITS = [0.1, 0.5, 2, 5, 10, 30, 100, 300] as const;
/** The share of the whole at which each part of the search ends, about, for the progress bar. */
const SHARES = { lines: 0.6, neighbours: 0.8 } as const;

/**
 * The cheapest set that keeps the limit. Deterministic: the same request has the same result, whoever runs it.
 * @throws the signal's reason once it is aborted
 */
export async function searchParameters(
  request: SearchRequest,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const { base, settings, loads, p99LimitSeconds, bounds = {} } = request;
  const { openRunner = openLocalRunner, signal, progress } = options;
  const space = searchSpace(base, settings.performance, bounds);
  const given = pointOf(base);
  let share = 0;
  await using runner = openRunner({ settings, loads });
  const race = new Race({
    base,
    bounds,
    floors: loads.map((load) => new CostFloor(settings, load)),
    runner,
    signal,
    told: ({ tried, givenUp, best }) => progress?.({ done: tried.length + givenUp, share, best }),
  });
  const upTo = (from: number, to: number) => (part: number) => {
    share = Math.max(share, from + (to - from) * part);
  };
  await race.runWhole([given, allHot(space)]);
  const limits = { best: undefined as Candidate | undefined };
  if (p99LimitSeconds !== undefined) {
    race.setLimit(p99LimitSeconds);
    await tryLines(race, linesOf(space, GRAIN, given), space.min_load, upTo(0, SHARES.lines));
    await tryNeighbours(race, base, space, upTo(SHARES.lines, SHARES.neighbours));
    limits.best = race.best;
  }
  if (options.frontier === true || p99LimitSeconds === undefined) {
    const others = p99LimitSeconds ? OTHER_LIMITS.map((factor) => factor * p99LimitSeconds) : LIMITS;
    const lines = linesOf(space, FRONTIER_GRAIN, given);
    for (const [index, limit] of others.entries()) {
      race.setLimit(limit);
      const at = (place: number) => share + ((1 - share) * place) / others.length;
      await tryLines(race, lines, space.min_load, upTo(at(index), at(index + 1)));
    }
  }
  const { tried, givenUp } = race;
  const own = tried.find((candidate) => candidate.min_load === given.min_load && isSame(candidate, given));
  return {
    p99LimitSeconds,
    space,
    tried,
    givenUp,
    frontier: frontierOf(tried),
    given: own as Candidate,
    best: limits.best,
  };
}

/** As many workers hot as there may be, always: what does not keep a limit then never does. */
function allHot(space: SearchSpace): SearchPoint {
  return {
    target_util: space.target_util[0] as number,
    cold_mult: space.cold_mult[0] as number,
    cold_workers: space.cold_workers[0] as number,
    min_cold_load: space.min_cold_load[0] as number,
    min_load: space.min_load.at(-1) as number,
  };
}

function isSame(one: SearchPoint, other: SearchPoint): boolean {
  return JSON.stringify(pointOf(one)) === JSON.stringify(pointOf(other));
}
