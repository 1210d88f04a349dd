/**
 * Which parameters cost least for the queue time wanted: plans for many sets under common arrivals, most of which are
 * given up as soon as they cannot win.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import type { PlanSettings } from '../settings.ts';
import { frontierOf, type Candidate } from './candidate.ts';
import { CostFloor, courseOf, type LoadCourse } from './cost-floor.ts';
import { Race } from './race.ts';
import { openLocalRunner, type OpenRunner } from './runner.ts';
import { SAMPLE_REQUESTS, sampleOf, type SampleWithFloors } from './sample.ts';
import { SearchPlan } from './search-plan.ts';
import { keyOf, searchSpace, spreadOver, type SearchBounds, type SearchSpace } from './search-space.ts';

export interface SearchRequest {
  /** The set that is in force: always tried, and what the other parameters are taken from. */
  readonly base: ResolvedParameters;
  readonly settings: PlanSettings;
  /**
   * At least one; several where the load is made up, one for each seed. A set's cost is the mean of its
   * costs, its p99 that of the requests of all.
   */
  readonly loads: readonly RecordedLoad[];
  /** Seconds that 99 of 100 requests wait at most; without it there is a frontier, and no best. */
  readonly p99LimitSeconds?: number | undefined;
  /** Of what may be named as the best; what is not named may take any value that makes sense. */
  readonly bounds?: SearchBounds;
  /** Requests of the sample that stands for loads of more than twice as many. */
  readonly sampleRequests?: number;
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
  /** Sets that were tried, of a long load on its sample. */
  readonly looked: number;
  /** The set that is in force. */
  readonly given: Candidate;
  /** Cheapest whose p99 is at most the limit; undefined without a limit, or where not even all workers hot keep it. */
  readonly best: Candidate | undefined;
}

/**
 * The cheapest set that keeps the limit. Deterministic: the same request has the same result, whoever runs it.
 * @throws the signal's reason once it is aborted
 */
export async function searchParameters(
  request: SearchRequest,
  options: SearchOptions = {},
): Promise<SearchResult> {
  const { base, settings, loads, p99LimitSeconds, bounds = {} } = request;
  const {
    openRunner = openLocalRunner,
    signal,
    progress,
    frontier = p99LimitSeconds === undefined,
  } = options;
  const { floors, samples } = groundOf(request);
  await using runner = openRunner({ settings, loads, samples });
  const plan = new SearchPlan(base, searchSpace(base, settings.performance, bounds), (share) => {
    progress?.({ done: done(), share, best: (whole.tried.length > 2 ? whole : first).best });
  });
  const about = { base, bounds, floors, runner, signal, told: () => plan.tell() };
  const whole = new Race(about);
  const first = samples ? new Race({ ...about, samples }) : whole;
  const done = () =>
    whole.tried.length + whole.givenUp + (first === whole ? 0 : first.tried.length + first.givenUp);
  await whole.runWhole([plan.given, plan.allHot]);
  let best: Candidate | undefined;
  if (p99LimitSeconds !== undefined) {
    if (first === whole) await plan.findBest(whole, p99LimitSeconds);
    else await plan.findBestOfLong(first, whole, p99LimitSeconds);
    best = whole.best;
  }
  if (frontier) {
    await plan.findOthers(first, p99LimitSeconds);
    // Where there is no sample they are known already.
    await whole.runWhole(spreadOver(frontierOf(first.tried), DRAWN_OF_LONG));
  }
  const { tried, givenUp } = whole;
  const given = tried.find((candidate) => keyOf(candidate) === keyOf(plan.given)) as Candidate;
  return {
    p99LimitSeconds,
    space: plan.space,
    tried,
    givenUp,
    frontier: frontierOf(tried),
    looked: first.tried.length + first.givenUp,
    given,
    best,
  };
}

/** Points of the frontier of a long load that are planned for on all of it. */
const DRAWN_OF_LONG = 8;

/** What is known before anything is tried. The courses that it is told from are megabytes, and not kept. */
function groundOf(request: SearchRequest) {
  const { settings, loads } = request;
  const courses = loads.map((load) => courseOf(settings, load));
  return {
    floors: courses.map((course) => new CostFloor(settings, course)),
    samples: samplesOf(request, courses),
  };
}

/** Of all loads or of none, so that their costs can be added. */
function samplesOf(
  { settings, loads, sampleRequests = SAMPLE_REQUESTS }: SearchRequest,
  courses: readonly LoadCourse[],
): readonly SampleWithFloors[] | undefined {
  const samples = loads.map((load, index) =>
    sampleOf(settings, load, courses[index] as LoadCourse, sampleRequests / loads.length),
  );
  return samples.every((sample) => sample !== undefined) ? samples : undefined;
}
