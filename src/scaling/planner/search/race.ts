/** What a search knows so far: the sets tried under common arrivals, the best of them, and who need not be tried. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { Candidate } from './candidate.ts';
import type { CostFloor } from './cost-floor.ts';
import type { SampleWithFloors } from './sample.ts';
import type { TrialRunner } from './runner.ts';
import { isWithin, keyOf, SEARCH_AXES, type SearchBounds, type SearchPoint } from './search-space.ts';
import type { SampledCosts, Trial, TrialOutcome } from './trial.ts';

/** What becomes of a set: it keeps the limit and is cheaper than all before; does not keep it; or is no cheaper. */
export type Fate = 'ahead' | 'late' | 'dear';

/** A set has to be cheaper than the best one by this part to be looked at: less is not worth a person's change. */
const GAIN = 0.001;
/** A p99 is what all but one of 100 requests keep. */
export const P99_LATE = 0.01;

export interface RaceOptions {
  readonly base: ResolvedParameters;
  readonly bounds: SearchBounds;
  /** Of each load. */
  readonly floors: readonly CostFloor[];
  /** Of each load: sets run on what stands for it, and what they cost and who is late are estimates. */
  readonly samples?: readonly SampleWithFloors[] | undefined;
  readonly runner: TrialRunner;
  readonly signal: AbortSignal | undefined;
  /** After each wave of trials. */
  readonly told: (race: Race) => void;
}

interface Known {
  readonly outcome: TrialOutcome;
  /** Of the whole trial no more is kept: with the costs of each stretch it takes kilobytes. */
  readonly limits: Pick<Trial, 'limitSeconds' | 'mostLateShare' | 'mostCost'>;
}

export class Race {
  readonly #options: RaceOptions;
  readonly #known = new Map<string, Known>();
  readonly #floors = new Map<string, number>();
  readonly #tried: Candidate[] = [];
  #late: SearchPoint[] = [];
  #limitSeconds = Infinity;
  #mostLateShare = P99_LATE;
  #best: Candidate | undefined;
  #givenUp = 0;

  constructor(options: RaceOptions) {
    this.#options = options;
  }

  /** Those that were tried to the end. */
  get tried(): readonly Candidate[] {
    return this.#tried;
  }

  /** How many were given up before the end. */
  get givenUp(): number {
    return this.#givenUp;
  }

  /** The cheapest that keeps the limit, of those that are within the bounds. */
  get best(): Candidate | undefined {
    return this.#best;
  }

  /** From now on the limit is another one, for all but so many requests; what is known stays known. */
  setLimit(seconds: number, mostLateShare = P99_LATE): void {
    this.#limitSeconds = seconds;
    this.#mostLateShare = mostLateShare;
    this.#late = this.#tried.filter((candidate) => this.#isLate(candidate));
    this.#best = undefined;
    for (const candidate of this.#tried) this.#consider(candidate);
  }

  /** Share of the requests that wait longer than the limit with a set that was tried; 1 where it was given up. */
  lateShareOf(point: SearchPoint): number {
    return this.#known.get(keyOf(point))?.outcome.lateShare ?? 1;
  }

  /** What a set costs at the least, in the mean of all loads. */
  floorOf(point: SearchPoint): number {
    const key = keyOf(point);
    const known = this.#floors.get(key);
    if (known !== undefined) return known;
    const { floors, base } = this.#options;
    const floor = meanOf(floors, (each) => each.of({ ...base, ...point }));
    this.#floors.set(key, floor);
    return floor;
  }

  /** Whether it may turn out cheaper than the best one. */
  mayWin(point: SearchPoint): boolean {
    return this.floorOf(point) < this.#bar && this.#mayBeNamed(point);
  }

  /** Whether one that has more of everything is late already. Not proven, but nearly always so. */
  isHopeless(point: SearchPoint): boolean {
    return this.#late.some(
      (late) =>
        late.target_util <= point.target_util &&
        SEARCH_AXES.every((axis) => axis === 'target_util' || late[axis] >= point[axis]),
    );
  }

  /** Tries those that are not known yet, all against the best one of before. */
  async run(points: readonly SearchPoint[]): Promise<readonly Fate[]> {
    const bar = this.#bar;
    const fresh = new Map<string, SearchPoint>();
    for (const point of points) {
      const known = this.#known.get(keyOf(point));
      if (!known || !this.#isSettled(known, bar)) fresh.set(keyOf(point), point);
    }
    const trials = [...fresh.values()].map((point) => this.#trialOf(point, bar));
    const outcomes = await this.#options.runner.run(trials, this.#options.signal);
    for (const [index, [key, point]] of [...fresh].entries()) {
      this.#note(key, point, trials[index] as Trial, outcomes[index] as TrialOutcome);
    }
    this.#options.told(this);
    return points.map((point) => this.#fateOf(point, bar));
  }

  /** To the end whatever comes of it: what is compared with, and what a frontier is made of. */
  async runWhole(points: readonly SearchPoint[]): Promise<void> {
    const fresh = points.filter((point) => this.#known.get(keyOf(point))?.outcome.end !== 'whole');
    const trials = fresh.map((point) => ({ ...this.#trialOf(point, Infinity), limitSeconds: Infinity }));
    const outcomes = await this.#options.runner.run(trials, this.#options.signal);
    for (const [index, point] of fresh.entries()) {
      this.#note(keyOf(point), point, trials[index] as Trial, outcomes[index] as TrialOutcome);
    }
  }

  get #bar(): number {
    return this.#best ? this.#best.cost * (1 - GAIN) : Infinity;
  }

  #trialOf(point: SearchPoint, mostCost: number): Trial {
    const parameters = { ...this.#options.base, ...point };
    const { samples } = this.#options;
    return {
      parameters,
      limitSeconds: this.#limitSeconds,
      mostLateShare: this.#mostLateShare,
      mostCost,
      sampled: samples && sampledCosts(samples, parameters, this.floorOf(point)),
    };
  }

  /** Whether what is known says all that a new trial would. */
  #isSettled({ outcome, limits }: Known, bar: number): boolean {
    if (outcome.end === 'late') {
      return limits.limitSeconds >= this.#limitSeconds && limits.mostLateShare >= this.#mostLateShare;
    }
    return outcome.end === 'whole' || limits.mostCost >= bar;
  }

  #note(
    key: string,
    point: SearchPoint,
    { limitSeconds, mostLateShare, mostCost }: Trial,
    outcome: TrialOutcome,
  ): void {
    this.#known.set(key, { limits: { limitSeconds, mostLateShare, mostCost }, outcome });
    if (outcome.end === 'late') this.#late.push(point);
    if (outcome.end !== 'whole') {
      this.#givenUp += 1;
      return;
    }
    const { cost, costPerHour, p99Seconds } = outcome;
    const candidate: Candidate = { ...point, cost, costPerHour, p99Seconds };
    this.#tried.push(candidate);
    if (this.#isLate(candidate)) this.#late.push(point);
    this.#consider(candidate);
  }

  /** By its percentile, as a plan of it says it; of an estimate by the share that it is allowed. */
  #isLate(candidate: Candidate): boolean {
    if (this.#options.samples) return this.lateShareOf(candidate) > this.#mostLateShare;
    return candidate.p99Seconds > this.#limitSeconds;
  }

  #consider(candidate: Candidate): void {
    if (this.#isLate(candidate) || !this.#mayBeNamed(candidate)) return;
    if (this.#best === undefined || isBetter(candidate, this.#best)) this.#best = candidate;
  }

  #mayBeNamed(point: SearchPoint): boolean {
    return isWithin(point, this.#options.bounds);
  }

  #fateOf(point: SearchPoint, bar: number): Fate {
    const { outcome } = this.#known.get(keyOf(point)) as Known;
    if (outcome.end !== 'whole') return outcome.end;
    if (this.#isLate({ ...point, ...outcome })) return 'late';
    return outcome.cost < bar ? 'ahead' : 'dear';
  }
}

/** Of the whole the least that it costs is known: the stretches say only what comes on top. */
function sampledCosts(
  samples: readonly SampleWithFloors[],
  parameters: ResolvedParameters,
  floor: number,
): SampledCosts {
  const floors = samples.map(({ stretches, floors: each }) =>
    Float64Array.from(stretches, ({ weight }, index) => weight * (each[index]?.of(parameters) ?? 0)),
  );
  const inStretches = meanOf(floors, (costs) => costs.reduce((sum, cost) => sum + cost, 0));
  return { beside: floor - inStretches, floors };
}

function meanOf<T>(values: readonly T[], of: (value: T) => number): number {
  return values.reduce((sum, value) => sum + of(value), 0) / values.length;
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.cost === other.cost ? one.p99Seconds < other.p99Seconds : one.cost < other.cost;
}
