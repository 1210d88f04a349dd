/**
 * One set of parameters under the loads of a search, or under a sample of them. A trial ends early once more requests are
 * late, or more money is spent, than its limits allow.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import { createRandom, type Random } from '../load/random.ts';
import { GroupModel } from '../model/group.ts';
import type { GroupObserver } from '../model/observer.ts';
import { longestLike, QueueTimes } from '../model/structures/queue-times.ts';
import type { WorkerCounts } from '../model/time-series.ts';
import type { PlanSettings } from '../settings.ts';

export interface TrialLimits {
  /** Share of the requests that may be late; 1 allows all. A p99 allows 0.01. */
  readonly mostLateShare: number;
  /** Mean cost of the loads; may be Infinity. */
  readonly mostCost: number;
}

export interface Trial extends TrialLimits {
  readonly parameters: ResolvedParameters;
  /** A request that waits longer is late; may be Infinity. */
  readonly limitSeconds: number;
  /** Runs on the sample, if the ground has one. */
  readonly sampled: boolean;
}

export interface TrialOutcome {
  /** `late` and `dear`: ended early. The other fields are Infinity then, and `lateShare` is 1. */
  readonly end: 'whole' | 'late' | 'dear';
  /** Means of all loads; estimates on a sample. */
  readonly cost: number;
  readonly costPerHour: number;
  /** Of the requests of all loads together. */
  readonly p99Seconds: number;
  readonly lateShare: number;
}

/** A stretch of a load, in its seconds. */
export interface Part {
  /** Index of the load. */
  readonly load: number;
  /** Requests come from here on, and count from `from` on. */
  readonly warmFrom: number;
  readonly from: number;
  /** Infinity: until the last request is done. */
  readonly to: number;
  /** It stands for so many stretches. */
  readonly weight: number;
  /** Highest loads that the group still keeps workers for at `warmFrom`, units/s; undefined at the start of a load. */
  readonly began?: { readonly hot: number; readonly total: number };
}

/** What all trials of a search have in common. */
export interface TrialGround {
  readonly settings: PlanSettings;
  /** At least one. Each has its own seed for the chance in workers and routing. */
  readonly loads: readonly RecordedLoad[];
  readonly sample?: readonly Part[] | undefined;
}

/** Requests between two looks at the limits. */
const LOOK_EVERY = 256;

export function runTrial(ground: TrialGround, trial: Trial): TrialOutcome {
  const { loads } = ground;
  const parts = (trial.sampled && ground.sample) || loads.map((_, load) => wholeOf(load));
  const requests = parts.reduce(
    (sum, { load, from, to, weight }) => sum + weight * (loads[load]?.countBetween(from, to) ?? 0),
    0,
  );
  const tally = new Tally(ground, trial, requests);
  for (const part of parts) {
    runPart(ground, trial.parameters, part, tally);
    if (!tally.end) continue;
    return { end: tally.end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity, lateShare: 1 };
  }
  return {
    end: 'whole',
    cost: tally.cost / loads.length,
    costPerHour: tally.perHour,
    p99Seconds: tally.queueTimes.quantile(0.99),
    lateShare: tally.queueTimes.shareAbove(trial.limitSeconds),
  };
}

/** Up to its end, or to the limits of the trial. */
function runPart(
  { settings, loads }: TrialGround,
  parameters: ResolvedParameters,
  part: Part,
  tally: Tally,
): void {
  const { warmFrom, to, began } = part;
  const own = { ...settings, seed: settings.seed + part.load };
  const group = new GroupModel({ parameters, settings: own, observer: tally });
  const { initialWorkers } = settings;
  if (began) group.placeFor(began.hot, began.total);
  else group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
  tally.begin(part);
  let countdown = LOOK_EVERY;
  const arrive = (atSeconds: number, work: number) => {
    group.arrive(atSeconds - warmFrom, work);
    countdown -= 1;
    if (countdown > 0) return true;
    countdown = LOOK_EVERY;
    return tally.end === undefined;
  };
  loads[part.load]?.replay(arrive, warmFrom, to);
  if (tally.end) return;
  if (to < Infinity) group.advance(to - warmFrom);
  while (group.waiting > 0) group.advance(group.nextDecision);
  group.advance(group.lastBusy);
  tally.workersUntil(group.now, group.workers);
  tally.finish(group.now);
}

/** What matters of a trial: money, queue times, and who was late. Times are those of the part. */
class Tally implements GroupObserver {
  readonly queueTimes = new QueueTimes();
  /** Sums over all parts, by their weights. */
  late = 0;
  cost = 0;
  #seconds = 0;
  readonly #settings: PlanSettings;
  readonly #limitSeconds: number;
  readonly #mostLate: number;
  readonly #mostCost: number;
  /** The part that runs, in seconds of its own; what happens before `from` or after `to` does not count. */
  #part = { from: 0, to: Infinity, weight: 1 };
  #until = 0;

  constructor({ settings, loads }: TrialGround, trial: Trial, requests: number) {
    this.#settings = settings;
    // No more than the percentile will say, which does not tell queue times apart that are almost alike.
    this.#limitSeconds = longestLike(trial.limitSeconds) * (1 + 1e-9);
    this.#mostLate = Math.max(0, requests - Math.max(1, Math.ceil((1 - trial.mostLateShare) * requests)));
    this.#mostCost = trial.mostCost * loads.length;
  }

  /** Why there is no point in going on. */
  get end(): 'late' | 'dear' | undefined {
    if (this.late > this.#mostLate) return 'late';
    return this.cost > this.#mostCost ? 'dear' : undefined;
  }

  get perHour(): number {
    return this.#seconds === 0 ? 0 : (this.cost * 3600) / this.#seconds;
  }

  begin({ warmFrom, from, to, weight }: Part): void {
    this.#part = { from: from - warmFrom, to: to - warmFrom, weight };
    this.#until = this.#part.from;
  }

  finish(now: number): void {
    const { from, to, weight } = this.#part;
    this.#seconds += weight * (Math.min(now, to) - from);
  }

  arrived(): void {}

  begun(arrivedSeconds: number, waited: number): void {
    const { from, weight } = this.#part;
    if (arrivedSeconds < from) return;
    this.queueTimes.record(waited, weight);
    if (waited > this.#limitSeconds) this.late += weight;
  }

  abandoned(arrivedSeconds: number): void {
    this.begun(arrivedSeconds, this.#settings.giveUpSeconds);
  }

  workersUntil(toSeconds: number, { hot, cold, starting }: WorkerCounts): void {
    const { to, weight } = this.#part;
    const passed = Math.min(toSeconds, to) - this.#until;
    if (passed <= 0) return;
    const { priceHot, priceCold, priceStarting } = this.#settings;
    this.cost += (weight * passed * (hot * priceHot + cold * priceCold + starting * priceStarting)) / 3600;
    this.#until += passed;
  }
}

function wholeOf(load: number): Part {
  return { load, warmFrom: 0, from: 0, to: Infinity, weight: 1 };
}

const STRETCH_SECONDS = 1200;
/** Of the stretches of a sample, those that are there because the load rises most in them. */
const HARDEST_SHARE = 0.5;

/**
 * Stretches that stand for long loads: the beginning, in which a load that starts in mid-traffic has a queue; those in
 * which the load rises most, which decide how long requests wait; and of the rest one of every so many, by the seed.
 * @param mostRequests of all loads together, about
 * @returns undefined if the loads are short enough to be taken whole
 */
export function sampleOf(
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  mostRequests: number,
): readonly Part[] | undefined {
  const every = loads.reduce((sum, load) => sum + load.length, 0) / mostRequests;
  if (every <= 2) return undefined;
  const random = createRandom(settings.seed);
  return loads.flatMap((load, index) => {
    const parts = new Stretches(settings, load, index).draw(every, random);
    return parts ?? [wholeOf(index)];
  });
}

/** A load in stretches, with the rates that say how hard each one is and what the group has kept for it. */
class Stretches {
  readonly #settings: PlanSettings;
  readonly #load: RecordedLoad;
  readonly #index: number;
  /** Of each window of the group's estimate, units/s. */
  readonly #rates: Float64Array;

  constructor(settings: PlanSettings, load: RecordedLoad, index: number) {
    this.#settings = settings;
    this.#load = load;
    this.#index = index;
    this.#rates = ratesOf(load, settings.loadWindowSeconds);
  }

  /** One of every so many; undefined if the load is not much longer than its beginning. */
  draw(every: number, random: Random): readonly Part[] | undefined {
    const { startSeconds, loadWindowSeconds } = this.#settings;
    // A queue takes a few starts to clear.
    const first = Math.ceil((3 * startSeconds + 2 * loadWindowSeconds) / STRETCH_SECONDS);
    const count = Math.floor(this.#load.seconds / STRETCH_SECONDS) - first;
    const drawn = Math.ceil(count / every);
    if (drawn < 4) return undefined;
    const byRise = Array.from({ length: count }, (_, place) => (first + place) * STRETCH_SECONDS)
      .map((from) => ({ from, rise: this.#riseIn(from) }))
      .toSorted((one, other) => other.rise - one.rise)
      .map(({ from }) => from);
    const hardest = Math.floor(drawn * HARDEST_SHARE);
    const weight = (count - hardest) / (drawn - hardest);
    return [
      { ...wholeOf(this.#index), to: first * STRETCH_SECONDS },
      ...byRise.slice(0, hardest).map((from) => this.#partAt(from, 1)),
      ...Array.from({ length: drawn - hardest }, (_, place) =>
        this.#partAt(byRise[hardest + Math.floor((place + random()) * weight)] as number, weight),
      ),
    ];
  }

  /** By how much a window of it is above the two before, at most. */
  #riseIn(from: number): number {
    const window = this.#settings.loadWindowSeconds;
    let most = 0;
    for (let at = from; at < from + STRETCH_SECONDS; at += window) {
      most = Math.max(most, this.#highest(at, at + window) - this.#highest(at - 2 * window, at));
    }
    return most;
  }

  #partAt(from: number, weight: number): Part {
    const { loadWindowSeconds, coldStartSeconds, scaleDownSeconds, destroySeconds } = this.#settings;
    const warmFrom = Math.max(0, from - 2 * loadWindowSeconds - coldStartSeconds);
    const keptFor = (seconds: number) =>
      this.#highest(warmFrom - Math.max(loadWindowSeconds, seconds), warmFrom);
    const began = { hot: keptFor(scaleDownSeconds), total: keptFor(destroySeconds) };
    return { load: this.#index, warmFrom, from, to: from + STRETCH_SECONDS, weight, began };
  }

  /** The highest rate of the windows between. */
  #highest(from: number, to: number): number {
    const window = this.#settings.loadWindowSeconds;
    const rates = this.#rates.subarray(Math.max(0, Math.floor(from / window)), Math.ceil(to / window));
    return rates.reduce((most, rate) => Math.max(most, rate), 0);
  }
}

/** The work that arrives in each window, units/s. */
function ratesOf(load: RecordedLoad, window: number): Float64Array {
  const rates = new Float64Array(Math.floor(load.seconds / window) + 1);
  load.replay((atSeconds, work) => {
    const place = Math.floor(atSeconds / window);
    rates[place] = (rates[place] as number) + work / window;
  });
  return rates;
}

/** Runs the trials of a search: in this thread or in several, with the same outcomes. */
export interface TrialRunner extends AsyncDisposable {
  /**
   * Outcomes in the order of the trials.
   * @throws the signal's reason, soon after it is aborted; after that it runs nothing any more
   */
  run(trials: readonly Trial[], signal?: AbortSignal): Promise<readonly TrialOutcome[]>;
}

export type OpenRunner = (ground: TrialGround) => TrialRunner;

/** One trial after the other in this thread, which can do something else between them. */
export const openLocalRunner: OpenRunner = (ground) => ({
  async run(trials, signal) {
    const outcomes: TrialOutcome[] = [];
    for (const trial of trials) {
      await new Promise((resolve) => setImmediate(resolve));
      signal?.throwIfAborted();
      outcomes.push(runTrial(ground, trial));
    }
    return outcomes;
  },
  [Symbol.asyncDispose]: () => Promise.resolve(),
});
