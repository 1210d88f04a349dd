/** One worker group of a world: the model, with prices and starts of its own, looked at from outside. */
import type { Arrival } from '../../../src/scaling/planner/load/load.ts';
import type { Observation } from '../../../src/scaling/planner/model/demand.ts';
import { GroupModel, type SavedGroup } from '../../../src/scaling/planner/model/group.ts';
import type { GroupObserver } from '../../../src/scaling/planner/model/observer.ts';
import { QueueTimes } from '../../../src/scaling/planner/model/structures/queue-times.ts';
import type { WorkerCounts } from '../../../src/scaling/planner/model/time-series.ts';
import { STATE, type State } from '../../../src/scaling/planner/model/worker-pool.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';
import type { RecordedStart } from '../../../src/scaling/advice/recorded.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';
import { LOOK_SECONDS, type Phase, type World } from './spec.ts';

export interface Seen {
  readonly load: number;
  readonly loadAverage: number;
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  readonly ready: number;
  readonly readyCapacity: number;
  readonly costPerHour: number;
}

export class GroupInWorld implements GroupObserver {
  readonly starts: RecordedStart[] = [];
  readonly #phases: readonly Phase[];
  readonly #settings: PlanSettings;
  readonly #parameters: ResolvedParameters;
  readonly #waits = new QueueTimes();
  /** By place: since when it starts, and from what. */
  readonly #starting = new Map<number, { readonly at: number; readonly from: 'new' | 'cold' }>();
  #model: GroupModel;
  #phase = 0;
  #work = 0;
  #rate = 0;
  #until = 0;
  #cost = 0;

  constructor(world: World, index: number, parameters: ResolvedParameters) {
    const { speed, share } = world.groups[index] ?? { speed: 1, share: 1 };
    this.#phases = world.phases;
    const { performance } = world.settings;
    this.#settings = {
      ...world.settings,
      seed: world.seed + index,
      performance: { least: performance.least * speed, most: performance.most * speed },
    };
    // What is the endpoint's is shared out among its groups.
    this.#parameters = {
      ...parameters,
      min_load: parameters.min_load * share,
      min_cold_load: parameters.min_cold_load * share,
      cold_workers: Math.ceil(parameters.cold_workers * share),
      max_workers: Math.ceil(parameters.max_workers * share),
    };
    this.#model = this.#modelIn(this.#phases[0] as Phase);
    this.#model.place();
  }

  arrive({ atSeconds, work }: Arrival): void {
    this.#enter(atSeconds);
    this.#model.arrive(Math.max(this.#model.now, atSeconds), work);
  }

  look(at: number): Seen {
    this.#enter(at);
    this.#model.advance(Math.max(this.#model.now, at));
    this.workersUntil(at, this.#model.workers);
    const { hot, cold, starting } = this.#model.workers;
    let [ready, readyCapacity] = [0, 0];
    for (let place = 0; place < this.#parameters.max_workers; place += 1) {
      if (this.#model.stateOf(place) !== STATE.hot) continue;
      ready += 1;
      readyCapacity += this.#model.speedOf(place);
    }
    const costPerHour = this.#costOf({ hot, cold, starting });
    return {
      load: this.#rate,
      loadAverage: this.#model.load,
      hot,
      cold,
      starting,
      ready,
      readyCapacity,
      costPerHour,
    };
  }

  /** Of the workers that there are now, as a watch has them; units/s. */
  get performances(): number[] {
    const places = Array.from({ length: this.#parameters.max_workers }, (_, place) => place);
    return places
      .filter((place) => this.#model.stateOf(place) !== STATE.none)
      .map((place) => this.#model.speedOf(place));
  }

  /** So far. */
  get cost(): number {
    return this.#cost;
  }

  get p99Seconds(): number {
    return this.#waits.quantile(0.99);
  }

  // What the model tells.

  arrived(_at: number, work: number): void {
    this.#work += work;
  }

  looked(_observed: Observation): void {
    this.#rate = this.#work / this.#settings.controlSeconds;
    this.#work = 0;
  }

  begun(_arrived: number, waited: number): void {
    this.#waits.record(waited);
  }

  abandoned(): void {}

  workersUntil(to: number, workers: WorkerCounts): void {
    if (to <= this.#until) return;
    this.#cost += (this.#costOf(workers) * (to - this.#until)) / 3600;
    this.#until = to;
  }

  moved(place: number, from: State, to: State, at: number): void {
    if (to === STATE.creating) this.#starting.set(place, { at, from: 'new' });
    else if (to === STATE.starting) this.#starting.set(place, { at, from: 'cold' });
    else {
      const start = this.#starting.get(place);
      this.#starting.delete(place);
      if (!start || to !== STATE.hot) return;
      // As exact as looks are: from the one that saw it begin to the one that saw it ready.
      const looks = Math.ceil(at / LOOK_SECONDS) - Math.ceil(start.at / LOOK_SECONDS);
      this.starts.push({ from: start.from, seconds: Math.max(looks, 0.5) * LOOK_SECONDS });
    }
    void from;
  }

  #costOf({ hot, cold, starting }: Pick<WorkerCounts, 'hot' | 'cold' | 'starting'>): number {
    const { priceHot, priceCold, priceStarting } = this.#settings;
    const { prices = 1 } = this.#phases[this.#phase] ?? {};
    return prices * (hot * priceHot + cold * priceCold + starting * priceStarting);
  }

  /** The next phase begins where its time has come. */
  #enter(at: number): void {
    for (let next = this.#phases[this.#phase + 1]; next && next.fromSeconds <= at;) {
      this.#model.advance(Math.max(this.#model.now, next.fromSeconds));
      this.workersUntil(next.fromSeconds, this.#model.workers);
      const { performance: before } = this.#phases[this.#phase] as Phase;
      this.#model = this.#modelIn(next, faster(this.#model.save(), next.performance / before));
      this.#phase += 1;
      next = this.#phases[this.#phase + 1];
    }
  }

  #modelIn({ performance, starts }: Phase, saved?: SavedGroup): GroupModel {
    const { performance: first, startSeconds, coldStartSeconds } = this.#settings;
    const settings = {
      ...this.#settings,
      performance: { least: first.least * performance, most: first.most * performance },
      startSeconds: startSeconds * starts,
      coldStartSeconds: coldStartSeconds * starts,
    };
    return new GroupModel({ parameters: this.#parameters, settings, observer: this }, saved);
  }
}

/** All workers that are there do so many times as much from now on. */
function faster(saved: SavedGroup, factor: number): SavedGroup {
  const { pool } = saved.fleet;
  const times = (values: Float64Array) => values.map((value) => value * factor);
  return {
    ...saved,
    fleet: {
      ...saved.fleet,
      pool: {
        ...pool,
        speeds: times(pool.speeds),
        capacities: times(pool.capacities),
        totalCapacity: pool.totalCapacity * factor,
      },
    },
  };
}
