/** The run of a trial over loads and stretches of them: what it has cost, who was late, and whether it is over. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { RecordedLoad } from '../load/load.ts';
import { GroupModel } from '../model/group.ts';
import { longestLike, QueueTimes } from '../model/structures/queue-times.ts';
import { RequestQueue } from '../model/structures/request-queue.ts';
import { Simulation } from '../model/simulation.ts';
import { PlanStats } from '../model/stats.ts';
import type { PlanSettings } from '../settings.ts';
import type { Stretch } from './sample.ts';

export interface CourseLimits {
  readonly limitSeconds: number;
  /** Requests that may wait longer. */
  readonly mostLate: number;
  readonly mostCost: number;
}

/**
 * What one trial after the other counts and queues in. With arrays of its own for each, which lie outside of V8's heap,
 * tens of megabytes of them wait to be collected: a trial makes hardly any other garbage.
 */
export class TrialMemory {
  /** Of all parts. */
  readonly queueTimes = new QueueTimes();
  /** Of one part of a load after the other. */
  readonly ofPart = new QueueTimes();
  readonly queue = new RequestQueue();
}

/** Requests between two looks at what they have cost. */
const LOOK_EVERY = 256;

export class Course {
  readonly #limits: CourseLimits;
  readonly #memory: TrialMemory;
  /** What the stretches that are still to come cost at the least. */
  #ahead: number;
  end: 'whole' | 'late' | 'dear' = 'whole';
  /** So far. */
  cost: number;
  costPerHour = 0;
  late = 0;

  /** @param known What is sure of its cost: what is beside all stretches, and the least of all of these. */
  constructor(limits: CourseLimits, memory: TrialMemory, known: { cost: number; ahead: number }) {
    this.#limits = limits;
    this.#memory = memory;
    memory.queueTimes.clear();
    this.cost = known.cost;
    this.#ahead = known.ahead;
  }

  /** All of a load. Whether there is a point in going on. */
  runWhole(parameters: ResolvedParameters, settings: PlanSettings, load: RecordedLoad): boolean {
    const stats = this.#statsFrom(parameters, settings);
    const simulation = new Simulation({ parameters, settings, series: false }, stats, this.#memory.queue);
    let countdown = LOOK_EVERY;
    load.replay((atSeconds, work) => {
      simulation.arrive(atSeconds, work);
      countdown -= 1;
      if (countdown > 0) return true;
      countdown = LOOK_EVERY;
      return this.#goesOn(stats.late, stats.cost);
    });
    if (this.end !== 'whole') return false;
    const { cost } = simulation.finish();
    this.costPerHour += cost.perHour;
    this.#memory.queueTimes.add(stats.queueTimes);
    return this.#take(stats.late, cost.total);
  }

  /**
   * From where the group would be by then, with nobody waiting; from the start of a load as it begins.
   * @param floor What it costs at the least, as often as it stands for.
   */
  runStretch(
    parameters: ResolvedParameters,
    settings: PlanSettings,
    load: RecordedLoad,
    { warmFrom, from, to, weight, began }: Stretch,
    floor: number,
  ): boolean {
    this.#ahead -= floor;
    const stats = this.#statsFrom(parameters, settings, from - warmFrom);
    const group = new GroupModel({ parameters, settings, observer: stats, queue: this.#memory.queue });
    const { initialWorkers } = settings;
    if (began) group.placeFor(began.hotLoad, began.totalLoad);
    else group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
    const costAt = (seconds: number) => {
      group.advance(seconds);
      stats.workersUntil(seconds, group.workers);
      return stats.cost;
    };
    const arrive = (atSeconds: number, work: number) => group.arrive(atSeconds - warmFrom, work);
    load.replay(arrive, warmFrom, from);
    const before = costAt(from - warmFrom);
    let countdown = LOOK_EVERY;
    load.replay(
      (atSeconds, work) => {
        arrive(atSeconds, work);
        countdown -= 1;
        if (countdown > 0) return true;
        countdown = LOOK_EVERY;
        return this.#goesOn(weight * stats.late, weight * (stats.cost - before));
      },
      from,
      to,
    );
    if (this.end !== 'whole') return false;
    const cost = costAt(to - warmFrom) - before;
    while (group.waiting > 0) group.advance(group.nextDecision);
    this.#memory.queueTimes.add(stats.queueTimes, weight);
    return this.#take(weight * stats.late, weight * cost);
  }

  #statsFrom(parameters: ResolvedParameters, settings: PlanSettings, from = 0): LateStats {
    const { queue, ofPart: queueTimes } = this.#memory;
    queue.clear();
    queueTimes.clear();
    const { limitSeconds } = this.#limits;
    return new LateStats(parameters, settings, { limitSeconds, from, queueTimes });
  }

  #take(late: number, cost: number): boolean {
    if (!this.#goesOn(late, cost)) return false;
    this.late += late;
    this.cost += cost;
    return true;
  }

  #goesOn(late: number, cost: number): boolean {
    if (this.late + late > this.#limits.mostLate) this.end = 'late';
    else if (this.cost + cost + this.#ahead > this.#limits.mostCost) this.end = 'dear';
    return this.end === 'whole';
  }
}

/** Counts beside it how many wait too long, so finely that the percentile of all cannot say otherwise. */
class LateStats extends PlanStats {
  /** Requests that have waited too long. */
  late = 0;
  readonly #limit: number;
  readonly #from: number;

  /** `from`: of the requests that arrive before it none counts, seconds. */
  constructor(
    parameters: ResolvedParameters,
    settings: PlanSettings,
    { limitSeconds, from, queueTimes }: { limitSeconds: number; from: number; queueTimes: QueueTimes },
  ) {
    super(parameters, settings, false, undefined, queueTimes);
    this.#limit = longestLike(limitSeconds) * (1 + 1e-9);
    this.#from = from;
  }

  override begun(arrivedSeconds: number, waited: number): void {
    if (arrivedSeconds < this.#from) return;
    super.begun(arrivedSeconds, waited);
    if (waited > this.#limit) this.late += 1;
  }
}
