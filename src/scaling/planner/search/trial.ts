/**
 * One set of parameters under the loads of a search, or under a sample of them. A trial ends early once more requests are
 * late, or more money is spent, than its limits allow.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import { createRandom } from '../load/random.ts';
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
  const requests = parts.reduce((sum, part) => sum + part.weight * requestsIn(ground, part), 0);
  const tally = new Tally(ground.settings, trial.limitSeconds);
  const mostLate = requests - Math.max(1, Math.ceil((1 - trial.mostLateShare) * requests));
  const mostCost = trial.mostCost * loads.length;
  const isOver = () => tally.late > mostLate || tally.cost > mostCost;
  for (const part of parts) {
    if (runPart(ground, trial.parameters, part, tally, isOver)) continue;
    const end = tally.late > mostLate ? 'late' : 'dear';
    return { end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity, lateShare: 1 };
  }
  return {
    end: 'whole',
    cost: tally.cost / loads.length,
    costPerHour: tally.perHour,
    p99Seconds: tally.queueTimes.quantile(0.99),
    lateShare: requests === 0 ? 0 : tally.late / requests,
  };
}

/** Whether there is a point in going on. */
function runPart(
  { settings, loads }: TrialGround,
  parameters: ResolvedParameters,
  part: Part,
  tally: Tally,
  isOver: () => boolean,
): boolean {
  const { warmFrom, began } = part;
  const own = { ...settings, seed: settings.seed + part.load };
  const group = new GroupModel({ parameters, settings: own, observer: tally });
  const { initialWorkers } = settings;
  if (began) group.placeFor(began.hot, began.total);
  else group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
  tally.begin(part);
  let countdown = LOOK_EVERY;
  loads[part.load]?.replay(
    (atSeconds, work) => {
      group.arrive(atSeconds - warmFrom, work);
      countdown -= 1;
      if (countdown > 0) return true;
      countdown = LOOK_EVERY;
      return !isOver();
    },
    warmFrom,
    part.to,
  );
  if (isOver()) return false;
  if (part.to < Infinity) group.advance(part.to - warmFrom);
  while (group.waiting > 0) group.advance(group.nextDecision);
  group.advance(group.lastBusy);
  tally.workersUntil(group.now, group.workers);
  tally.end(group.now);
  return !isOver();
}

/** What matters of a trial: money, queue times, and who was late. Times are those of the part. */
class Tally implements GroupObserver {
  readonly queueTimes = new QueueTimes();
  /** Sums over all parts, by their weights. */
  late = 0;
  cost = 0;
  #seconds = 0;
  readonly #settings: PlanSettings;
  readonly #limit: number;
  #part = { from: 0, to: Infinity, weight: 1 };
  #until = 0;

  constructor(settings: PlanSettings, limitSeconds: number) {
    this.#settings = settings;
    // As finely as the percentile tells queue times apart, so that the two agree.
    this.#limit = longestLike(limitSeconds) * (1 + 1e-9);
  }

  get perHour(): number {
    return this.#seconds === 0 ? 0 : (this.cost * 3600) / this.#seconds;
  }

  begin({ warmFrom, from, to, weight }: Part): void {
    this.#part = { from: from - warmFrom, to: to - warmFrom, weight };
    this.#until = this.#part.from;
  }

  end(now: number): void {
    const { from, to, weight } = this.#part;
    this.#seconds += weight * (Math.min(now, to) - from);
  }

  arrived(): void {}

  begun(arrivedSeconds: number, waited: number): void {
    const { from, weight } = this.#part;
    if (arrivedSeconds < from) return;
    this.queueTimes.record(waited, weight);
    if (waited > this.#limit) this.late += weight;
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

function requestsIn({ loads }: TrialGround, { load, from, to }: Part): number {
  return loads[load]?.countBetween(from, to) ?? 0;
}

const STRETCH_SECONDS = 1200;

/**
 * Stretches that stand for long loads: the beginning, in which a load that starts in mid-traffic has a queue, and of the
 * rest one stretch out of every so many, drawn by the seed.
 * @param mostRequests of all loads together, about
 * @returns undefined if the loads are short enough to be taken whole
 */
export function sampleOf(
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  mostRequests: number,
): readonly Part[] | undefined {
  const requests = loads.reduce((sum, load) => sum + load.length, 0);
  const every = requests / mostRequests;
  if (every <= 2) return undefined;
  const { loadWindowSeconds, coldStartSeconds, startSeconds, scaleDownSeconds, destroySeconds } = settings;
  const random = createRandom(settings.seed);
  return loads.flatMap((load, index): Part[] => {
    const beginning =
      STRETCH_SECONDS * Math.ceil((3 * startSeconds + 2 * loadWindowSeconds) / STRETCH_SECONDS);
    const stretches = Math.floor((load.seconds - beginning) / STRETCH_SECONDS);
    const drawn = Math.ceil(stretches / every);
    // A load that begins in the middle of its traffic would be cut off by its own beginning.
    if (drawn < 4) return [wholeOf(index)];
    const weight = stretches / drawn;
    const rest = Array.from({ length: drawn }, (_, place): Part => {
      const from = beginning + STRETCH_SECONDS * Math.floor((place + random()) * weight);
      const warmFrom = Math.max(0, from - 2 * loadWindowSeconds - coldStartSeconds);
      const highest = (seconds: number) => highestRate(load, warmFrom, seconds, loadWindowSeconds);
      const began = { hot: highest(scaleDownSeconds), total: highest(destroySeconds) };
      return { load: index, warmFrom, from, to: from + STRETCH_SECONDS, weight, began };
    });
    return [{ ...wholeOf(index), to: beginning }, ...rest];
  });
}

/** The highest mean of a window of those that lie before `until`, units/s; at least one window is looked at. */
function highestRate(load: RecordedLoad, until: number, seconds: number, window: number): number {
  const from = Math.max(0, Math.min(until - window, until - seconds));
  const works = new Float64Array(Math.ceil((until - from) / window));
  load.replay(
    (atSeconds, work) => {
      const place = Math.floor((atSeconds - from) / window);
      works[place] = (works[place] ?? 0) + work;
    },
    from,
    until,
  );
  return works.reduce((most, work) => Math.max(most, work / window), 0);
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
