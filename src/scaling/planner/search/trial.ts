/**
 * One set of parameters under the loads of a search. A trial ends early once more requests are late, or more money is
 * spent, than its limits allow.
 */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
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
}

export interface TrialOutcome {
  /** `late` and `dear`: ended early. The other fields are Infinity then. */
  readonly end: 'whole' | 'late' | 'dear';
  /** Means of all loads. */
  readonly cost: number;
  readonly costPerHour: number;
  /** Of the requests of all loads together. */
  readonly p99Seconds: number;
}

/** What all trials of a search have in common. */
export interface TrialGround {
  readonly settings: PlanSettings;
  /** At least one. Each has its own seed for the chance in workers and routing. */
  readonly loads: readonly RecordedLoad[];
}

/** Requests between two looks at the limits. */
const LOOK_EVERY = 256;

export function runTrial(ground: TrialGround, trial: Trial): TrialOutcome {
  const { loads } = ground;
  const tally = new Tally(ground, trial);
  for (const [index, load] of loads.entries()) {
    const settings = { ...ground.settings, seed: ground.settings.seed + index };
    runLoad(settings, trial.parameters, load, tally);
    if (!tally.end) continue;
    return { end: tally.end, cost: Infinity, costPerHour: Infinity, p99Seconds: Infinity };
  }
  return {
    end: 'whole',
    cost: tally.cost / loads.length,
    costPerHour: tally.perHour,
    p99Seconds: tally.queueTimes.quantile(0.99),
  };
}

/** Up to its end, or to the limits of the trial. */
function runLoad(
  settings: PlanSettings,
  parameters: ResolvedParameters,
  load: RecordedLoad,
  tally: Tally,
): void {
  const group = new GroupModel({ parameters, settings, observer: tally });
  const { initialWorkers } = settings;
  group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
  tally.begin();
  let countdown = LOOK_EVERY;
  load.replay((atSeconds, work) => {
    group.arrive(atSeconds, work);
    countdown -= 1;
    if (countdown > 0) return true;
    countdown = LOOK_EVERY;
    return tally.end === undefined;
  });
  if (tally.end) return;
  while (group.waiting > 0) group.advance(group.nextDecision);
  group.advance(group.lastBusy);
  tally.workersUntil(group.now, group.workers);
}

/** What matters of a trial: money, queue times, and who was late. */
class Tally implements GroupObserver {
  readonly queueTimes = new QueueTimes();
  #late = 0;
  readonly #workerSeconds = { hot: 0, cold: 0, starting: 0 };
  /** Of all loads up to now. */
  #seconds = 0;
  readonly #settings: PlanSettings;
  readonly #limitSeconds: number;
  readonly #mostLate: number;
  readonly #mostCost: number;
  /** Of the load that runs. */
  #until = 0;

  constructor({ settings, loads }: TrialGround, { limitSeconds, mostLateShare, mostCost }: Trial) {
    this.#settings = settings;
    // No more than the percentile will say, which does not tell queue times apart that are almost alike.
    this.#limitSeconds = longestLike(limitSeconds) * (1 + 1e-9);
    const requests = loads.reduce((sum, { length }) => sum + length, 0);
    this.#mostLate = Math.max(0, requests - Math.max(1, Math.ceil((1 - mostLateShare) * requests)));
    this.#mostCost = mostCost * loads.length;
  }

  /** Why there is no point in going on. */
  get end(): 'late' | 'dear' | undefined {
    if (this.#late > this.#mostLate) return 'late';
    return this.cost > this.#mostCost ? 'dear' : undefined;
  }

  get cost(): number {
    const { priceHot, priceCold, priceStarting } = this.#settings;
    const { hot, cold, starting } = this.#workerSeconds;
    return (hot * priceHot + cold * priceCold + starting * priceStarting) / 3600;
  }

  get perHour(): number {
    return this.#seconds === 0 ? 0 : (this.cost * 3600) / this.#seconds;
  }

  /** The next load. */
  begin(): void {
    this.#until = 0;
  }

  arrived(): void {}

  begun(_arrivedSeconds: number, waited: number): void {
    this.queueTimes.record(waited);
    if (waited > this.#limitSeconds) this.#late += 1;
  }

  abandoned(arrivedSeconds: number): void {
    this.begun(arrivedSeconds, this.#settings.giveUpSeconds);
  }

  workersUntil(toSeconds: number, { hot, cold, starting }: WorkerCounts): void {
    const passed = toSeconds - this.#until;
    this.#workerSeconds.hot += hot * passed;
    this.#workerSeconds.cold += cold * passed;
    this.#workerSeconds.starting += starting * passed;
    this.#seconds += passed;
    this.#until = toSeconds;
  }
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
