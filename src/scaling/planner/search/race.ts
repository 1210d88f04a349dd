/** What a search knows so far: the sets tried under common arrivals, the best of them, and who need not be tried. */
import { checkEndpointGroup } from '../../rules/check.ts';
import type { ResolvedParameters } from '../../rules/findings.ts';
import { givenOf } from '../given.ts';
import type { Candidate } from './candidate.ts';
import type { CostFloor } from './cost-floor.ts';
import type { TrialRunner } from './runner.ts';
import { isWithin, keyOf, SEARCH_AXES, type SearchBounds, type SearchPoint } from './search-space.ts';
import type { Trial, TrialOutcome } from './trial.ts';

/** What becomes of a set: it keeps the limit and is cheaper than all before; does not keep it; or is no cheaper. */
export type Fate = 'ahead' | 'late' | 'dear';

/** A set has to be cheaper than the best one by this part to be looked at: less is not worth a person's change. */
const GAIN = 0.001;

export interface RaceOptions {
  readonly base: ResolvedParameters;
  readonly bounds: SearchBounds;
  readonly floors: readonly CostFloor[];
  readonly runner: TrialRunner;
  readonly signal: AbortSignal | undefined;
  /** After each wave of trials. */
  readonly told: (race: Race) => void;
}

interface Known {
  readonly outcome: TrialOutcome;
  readonly trial: Trial;
}

export class Race {
  readonly #options: RaceOptions;
  readonly #known = new Map<string, Known>();
  readonly #floors = new Map<string, number>();
  readonly #tried: Candidate[] = [];
  #late: SearchPoint[] = [];
  #limitSeconds = Infinity;
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

  /** The cheapest within the bounds that keeps the limit. */
  get best(): Candidate | undefined {
    return this.#best;
  }

  /** From now on the limit is another one; what is known stays known. */
  setLimit(seconds: number): void {
    this.#limitSeconds = seconds;
    this.#late = [];
    this.#best = undefined;
    for (const candidate of this.#tried) this.#consider(candidate);
  }

  /** What a set costs at the least, in the mean of all loads. */
  floorOf(point: SearchPoint): number {
    const key = keyOf(point);
    const known = this.#floors.get(key);
    if (known !== undefined) return known;
    const { floors, base } = this.#options;
    const floor = floors.reduce((sum, each) => sum + each.of({ ...base, ...point }), 0) / floors.length;
    this.#floors.set(key, floor);
    return floor;
  }

  /** Whether it may turn out cheaper than the best one. */
  mayWin(point: SearchPoint): boolean {
    return this.floorOf(point) < this.#bar && isWithin(point, this.#options.bounds);
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
    return {
      parameters: { ...this.#options.base, ...point },
      limitSeconds: this.#limitSeconds,
      mostCost,
    };
  }

  /** Whether what is known says all that a new trial would. */
  #isSettled({ outcome, trial }: Known, bar: number): boolean {
    if (outcome.end === 'late') return trial.limitSeconds >= this.#limitSeconds;
    return outcome.end === 'whole' || trial.mostCost >= bar;
  }

  #note(key: string, point: SearchPoint, trial: Trial, outcome: TrialOutcome): void {
    this.#known.set(key, { trial, outcome });
    if (outcome.end === 'late') this.#late.push(point);
    if (outcome.end !== 'whole') {
      this.#givenUp += 1;
      return;
    }
    const { cost, costPerHour, p99Seconds } = outcome;
    const candidate: Candidate = { ...point, cost, costPerHour, p99Seconds };
    this.#tried.push(candidate);
    if (p99Seconds > this.#limitSeconds) this.#late.push(point);
    this.#consider(candidate);
  }

  #consider(candidate: Candidate): void {
    const { bounds } = this.#options;
    if (candidate.p99Seconds > this.#limitSeconds || !isWithin(candidate, bounds)) return;
    if (this.#best === undefined || isBetter(candidate, this.#best)) this.#best = candidate;
  }

  #fateOf(point: SearchPoint, bar: number): Fate {
    const { outcome } = this.#known.get(keyOf(point)) as Known;
    const { end, cost, p99Seconds } = outcome;
    if (end === 'late' || (end === 'whole' && p99Seconds > this.#limitSeconds)) return 'late';
    return end === 'whole' && cost < bar ? 'ahead' : 'dear';
  }
}

function isBetter(one: Candidate, other: Candidate): boolean {
  return one.cost === other.cost ? one.p99Seconds < other.p99Seconds : one.cost < other.cost;
}

/** Never names a set that `check` would refuse. */
export function isAllowed(base: ResolvedParameters, point: SearchPoint): boolean {
  return checkEndpointGroup(givenOf({ ...base, ...point })).findings.every(
    ({ severity }) => severity !== 'error',
  );
}
