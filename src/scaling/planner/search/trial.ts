/**
 * One set of parameters under the loads of a search, or a sample of them. A trial ends once it costs too much.
 */
import { createRandom, type Random, type RecordedLoad } from '../load.ts';
import type { PlanSettings } from '../settings.ts';
import type { ResolvedParameters } from '../../rules/rules.ts';
import { GroupModel, type GroupObserver } from '../model/group.ts';
import { addSeconds, costOf, QueueTimes } from '../model/stats.ts';
import type { WorkerCounts } from '../model/workers.ts';

export interface Trial {
  readonly parameters: ResolvedParameters;
  readonly mostCost: number;
  readonly limitSeconds: number;
  readonly sampled: boolean;
}

export interface TrialOutcome {
  /** `dear` ended early: costs and times are Infinity, and `lateShare` is 1. */
  readonly end: 'whole' | 'dear';
  /** Means of all loads; estimates on a sample. */
  readonly cost: number;
  readonly costPerHour: number;
  readonly p99Seconds: number;
  readonly lateShare: number;
}

export interface TrialGround {
  readonly settings: PlanSettings;
  /** At least one. Each has its own seed for workers and routing. */
  readonly loads: readonly RecordedLoad[];
  readonly sample?: readonly Part[] | undefined;
}

const LOOK_EVERY = 256;

export function runTrial(ground: TrialGround, trial: Trial): TrialOutcome {
  const { loads } = ground;
  const parts = (trial.sampled && ground.sample) || loads.map((_, load) => wholeOf(load));
  const tally = new Tally(ground, trial);
  for (const part of parts) {
    runPart(ground, trial.parameters, part, tally);
    if (tally.isDear)
      return { end: 'dear', cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity, lateShare: 1 };
  }
  return {
    end: 'whole',
    cost: tally.cost / loads.length,
    costPerHour: tally.perHour,
    p99Seconds: tally.queueTimes.quantile(0.99),
    lateShare: tally.queueTimes.shareAbove(trial.limitSeconds),
  };
}

function runPart(
  { settings, loads }: TrialGround,
  parameters: ResolvedParameters,
  part: Part,
  tally: Tally,
): void {
  const { warmFrom, to, began } = part;
  const own = { ...settings, seed: settings.seed + part.load };
  const group = new GroupModel({ parameters, settings: own, observer: tally });
  if (began) group.placeFor(began.hot, began.total);
  else group.place();
  tally.begin(part);
  let countdown = LOOK_EVERY;
  const arrive = (atSeconds: number, work: number) => {
    group.arrive(atSeconds - warmFrom, work);
    countdown -= 1;
    if (countdown > 0) return true;
    countdown = LOOK_EVERY;
    return !tally.isDear;
  };
  (loads[part.load] as RecordedLoad).replay(arrive, warmFrom, to);
  if (tally.isDear) return;
  if (to < Infinity) group.advance(to - warmFrom);
  group.finish();
  tally.finish(group.now);
}

/** Money and queue times of a trial. Times are those of the part. */
class Tally implements GroupObserver {
  readonly queueTimes = new QueueTimes();
  readonly #workerSeconds = { hot: 0, cold: 0, starting: 0, capacity: 0 };
  #seconds = 0;
  readonly #settings: PlanSettings;
  readonly #mostCost: number;
  /** The running part, in its own seconds; nothing before `from` or after `to` counts. */
  #part = { from: 0, to: Infinity, weight: 1 };
  #until = 0;

  constructor({ settings, loads }: TrialGround, { mostCost }: Trial) {
    this.#settings = settings;
    this.#mostCost = mostCost * loads.length;
  }

  get isDear(): boolean {
    return this.cost > this.#mostCost;
  }

  get cost(): number {
    return costOf(this.#workerSeconds, this.#settings);
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
    if (arrivedSeconds >= from) this.queueTimes.record(waited, weight);
  }

  abandoned(arrivedSeconds: number): void {
    this.begun(arrivedSeconds, this.#settings.giveUpSeconds);
  }

  workersUntil(toSeconds: number, workers: WorkerCounts): void {
    const { to, weight } = this.#part;
    const until = Math.min(toSeconds, to);
    const passed = weight * (until - this.#until);
    if (passed <= 0) return;
    addSeconds(this.#workerSeconds, workers, passed);
    this.#until = until;
  }
}

/** Runs trials in this thread or in several, with the same outcomes. */
export interface TrialRunner extends AsyncDisposable {
  /** Outcomes are in the order of the trials. Throws the signal's reason once it is aborted. */
  run(trials: readonly Trial[], signal?: AbortSignal): Promise<readonly TrialOutcome[]>;
}

export type OpenRunner = (ground: TrialGround) => TrialRunner;

/** Runs one trial after the other in this thread, which may do other work between them. */
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

/** A stretch of a load, in seconds of that load. */
interface Part {
  /** Index of the load. */
  readonly load: number;
  /** Requests arrive from here on, and count from `from` on. */
  readonly warmFrom: number;
  readonly from: number;
  /** Infinity: until the last request is done. */
  readonly to: number;
  /** Number of stretches that it stands for. */
  readonly weight: number;
  /** Loads that the group still keeps workers for at `warmFrom`, units/s; undefined at the start. */
  readonly began?: { readonly hot: number; readonly total: number };
}

function wholeOf(load: number): Part {
  return { load, warmFrom: 0, from: 0, to: Infinity, weight: 1 };
}

const STRETCH_SECONDS = 1200;
/** Share of the sample in which the load rises most. */
const HARDEST_SHARE = 0.5;

/**
 * Stretches that stand for a long load: the beginning, which may hold a queue; the steepest stretches, which decide how long requests wait; and
 * some others, by the seed. Undefined if the loads are short enough to be taken whole.
 */
export function sampleOf(
  settings: PlanSettings,
  loads: readonly RecordedLoad[],
  mostRequests: number,
): readonly Part[] | undefined {
  const every = loads.reduce((sum, load) => sum + load.length, 0) / mostRequests;
  if (every <= 2) return undefined;
  const random = createRandom(settings.seed);
  return loads.flatMap(
    (load, index) => stretchesOf(settings, load, { index, every, random }) ?? [wholeOf(index)],
  );
}

/** Undefined if the load is not much longer than its beginning. */
function stretchesOf(
  settings: PlanSettings,
  load: RecordedLoad,
  about: { readonly index: number; readonly every: number; readonly random: Random },
): readonly Part[] | undefined {
  const { index, every, random } = about;
  const { startSeconds, coldStartSeconds, scaleDownSeconds, destroySeconds } = settings;
  const window = settings.loadWindowSeconds;
  // A queue takes a few starts to clear.
  const first = Math.ceil((3 * startSeconds + 2 * window) / STRETCH_SECONDS);
  const count = Math.floor(load.seconds / STRETCH_SECONDS) - first;
  const drawn = Math.ceil(count / every);
  if (drawn < 4) return undefined;
  const rates = ratesOf(load, window);
  const highest = (from: number, to: number) =>
    rates
      .subarray(Math.max(0, Math.floor(from / window)), Math.ceil(to / window))
      .reduce((most, rate) => Math.max(most, rate), 0);
  /** The most by which one of its windows exceeds the two before. */
  const riseIn = (from: number) => {
    let most = 0;
    for (let at = from; at < from + STRETCH_SECONDS; at += window)
      most = Math.max(most, highest(at, at + window) - highest(at - 2 * window, at));
    return most;
  };
  const partAt = (from: number, weight: number): Part => {
    const warmFrom = Math.max(0, from - 2 * window - coldStartSeconds);
    const keptFor = (seconds: number) => highest(warmFrom - Math.max(window, seconds), warmFrom);
    const began = { hot: keptFor(scaleDownSeconds), total: keptFor(destroySeconds) };
    return { load: index, warmFrom, from, to: from + STRETCH_SECONDS, weight, began };
  };
  const byRise = Array.from({ length: count }, (_, place) => (first + place) * STRETCH_SECONDS)
    .map((from) => ({ from, rise: riseIn(from) }))
    .toSorted((one, other) => other.rise - one.rise)
    .map(({ from }) => from);
  const hardest = Math.floor(drawn * HARDEST_SHARE);
  const weight = (count - hardest) / (drawn - hardest);
  return [
    { ...wholeOf(index), to: first * STRETCH_SECONDS },
    ...byRise.slice(0, hardest).map((from) => partAt(from, 1)),
    ...Array.from({ length: drawn - hardest }, (_, place) =>
      partAt(byRise[hardest + Math.floor((place + random()) * weight)] as number, weight),
    ),
  ];
}

/** Load in each window, units/s. */
function ratesOf(load: RecordedLoad, window: number): Float64Array {
  const rates = new Float64Array(Math.floor(load.seconds / window) + 1);
  load.replay((atSeconds, work) => {
    const place = Math.floor(atSeconds / window);
    rates[place] = (rates[place] as number) + work / window;
  });
  return rates;
}
