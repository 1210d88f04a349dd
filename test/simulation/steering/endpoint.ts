/**
 * An endpoint on virtual time: the planner's model of a group, with what a watch of it would record by the minute, and what
 * no watch can record: how long requests really waited.
 */
import type { RecordedStart, RecordedStretch } from '../../../src/scaling/advice/recorded.ts';
import type { Minute } from '../../../src/scaling/autotune/minutes.ts';
import { GroupModel } from '../../../src/scaling/planner/model/group.ts';
import type { GroupObserver } from '../../../src/scaling/planner/model/observer.ts';
import { QueueTimes } from '../../../src/scaling/planner/model/structures/queue-times.ts';
import type { WorkerCounts } from '../../../src/scaling/planner/model/time-series.ts';
import { STATE, type State } from '../../../src/scaling/planner/model/worker-pool.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';

/** How the service's figures relate to the truth: 1 where it says it. */
export interface Sayings {
  /** What it says that workers can do, of what they can. */
  readonly capacity: number;
}

/** A minute, as steering and as advice have it. */
export interface SeenMinute {
  readonly minute: Minute;
  readonly stretch: RecordedStretch;
}

/** What a day cost and how long its requests waited. */
export interface DayTotals {
  cost: number;
  readonly waits: QueueTimes;
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;
/** A watch keeps the last ones. */
const STARTS_KEPT = 100;
const NOTHING = { work: 0, hot: 0, cold: 0, starting: 0, capacity: 0, cost: 0 };

export class Endpoint implements GroupObserver {
  readonly days: DayTotals[] = [];
  #starts: RecordedStart[] = [];
  /** By place: since when it starts, and from what. */
  readonly #starting = new Map<number, { readonly at: number; readonly from: RecordedStart['from'] }>();
  #model: GroupModel;
  #settings: PlanSettings;
  #parameters: ResolvedParameters;
  readonly #sayings: Sayings;
  #until = 0;
  /** Of the minute that is under way: work, and seconds times workers, capacity, money. */
  #minute = { ...NOTHING };
  /** Workers that died are in error until then, seconds. */
  #errors: number[] = [];
  /** Work that requests take beyond what they ask, because workers do less than they did. */
  #drift = 1;

  constructor(parameters: ResolvedParameters, settings: PlanSettings, sayings: Sayings) {
    this.#parameters = parameters;
    this.#settings = settings;
    this.#sayings = sayings;
    this.#model = new GroupModel({ parameters, settings, observer: this });
    this.#model.place();
  }

  get parameters(): ResolvedParameters {
    return this.#parameters;
  }

  set parameters(parameters: ResolvedParameters) {
    this.#parameters = parameters;
    this.#model.setParameters(parameters);
  }

  arrive(atSeconds: number, work: number): void {
    this.#model.arrive(atSeconds, work * this.#drift);
  }

  /** Workers do so many times less from now on. */
  drift(factor: number): void {
    this.#drift = factor;
  }

  /** From now on workers, or the service, are otherwise. */
  become(settings: Partial<PlanSettings>): void {
    this.#settings = { ...this.#settings, ...settings };
    const { settings: now } = { settings: this.#settings };
    this.#model = new GroupModel(
      { parameters: this.#parameters, settings: now, observer: this },
      this.#model.save(),
    );
  }

  /** One of the workers that take requests dies, and what it had not done yet with it. */
  kill(random: () => number): void {
    const places = Array.from({ length: this.#parameters.max_workers }, (_, place) => place);
    const hot = places.filter((place) => this.#model.stateOf(place) === STATE.hot);
    const place = hot[Math.floor(random() * hot.length)];
    if (place === undefined) return;
    this.#model.drop(place);
    this.#errors.push(this.#model.now + 5 * MINUTE_SECONDS);
  }

  /** How long the last starts took. */
  get starts(): readonly RecordedStart[] {
    return this.#starts;
  }

  /** The minute that ends then, as the service tells of it. */
  endMinute(atSeconds: number): SeenMinute {
    this.#model.advance(atSeconds);
    this.workersUntil(atSeconds, this.#model.workers);
    const sums = this.#minute;
    this.#minute = { ...NOTHING };
    const fromMs = (atSeconds - MINUTE_SECONDS) * 1000;
    this.#errors = this.#errors.filter((until) => until * 1000 > fromMs);
    const load = sums.work / this.#drift / MINUTE_SECONDS;
    const capacity = ((sums.capacity / MINUTE_SECONDS) * this.#sayings.capacity) / this.#drift;
    const cost = (sums.cost / MINUTE_SECONDS) * 3600;
    const ready = sums.hot / MINUTE_SECONDS;
    return {
      minute: { fromMs, load, capacity, cost, ready, errors: this.#errors.length },
      stretch: {
        fromMs,
        toMs: atSeconds * 1000,
        isSample: false,
        load,
        loadAverage: load,
        hot: ready,
        cold: sums.cold / MINUTE_SECONDS,
        starting: sums.starting / MINUTE_SECONDS,
        ready,
        readyCapacity: capacity,
        costPerHour: cost,
      },
    };
  }

  arrived(_atSeconds: number, work: number): void {
    this.#minute.work += work;
  }

  workersUntil(toSeconds: number, { hot, cold, starting, capacity }: WorkerCounts): void {
    const seconds = toSeconds - this.#until;
    if (seconds <= 0) return;
    const { priceHot, priceCold, priceStarting } = this.#settings;
    const cost = ((hot * priceHot + cold * priceCold + starting * priceStarting) * seconds) / 3600;
    this.#minute.hot += hot * seconds;
    this.#minute.cold += cold * seconds;
    this.#minute.starting += starting * seconds;
    this.#minute.capacity += capacity * seconds;
    this.#minute.cost += cost;
    this.#dayOf(this.#until).cost += cost;
    this.#until = toSeconds;
  }

  moved(place: number, _from: State, to: State, at: number): void {
    if (to === STATE.creating) this.#starting.set(place, { at, from: 'new' });
    else if (to === STATE.starting) this.#starting.set(place, { at, from: 'cold' });
    else {
      const start = this.#starting.get(place);
      this.#starting.delete(place);
      if (!start || to !== STATE.hot) return;
      this.#starts = [...this.#starts, { from: start.from, seconds: at - start.at }].slice(-STARTS_KEPT);
    }
  }

  begun(arrivedSeconds: number, waited: number): void {
    this.#dayOf(arrivedSeconds).waits.record(waited);
  }

  abandoned(arrivedSeconds: number): void {
    this.#dayOf(arrivedSeconds).waits.record(this.#settings.giveUpSeconds);
  }

  #dayOf(atSeconds: number): DayTotals {
    const day = Math.floor(atSeconds / DAY_SECONDS);
    return (this.days[day] ??= { cost: 0, waits: new QueueTimes() });
  }
}

/** Of the days from the first on, before the second. */
export function totalsOf(endpoint: Endpoint, from: number, to: number): { cost: number; p99: number } {
  const days = endpoint.days.slice(from, to);
  const counts = days.map(({ waits }) => waits.save());
  const [first] = counts;
  if (!first) return { cost: 0, p99: 0 };
  const all = new QueueTimes({
    counts: first.counts.map((_, bucket) =>
      counts.reduce((sum, each) => sum + (each.counts[bucket] ?? 0), 0),
    ),
    count: counts.reduce((sum, { count }) => sum + count, 0),
    sum: counts.reduce((sum, each) => sum + each.sum, 0),
    max: Math.max(...counts.map(({ max }) => max)),
  });
  return { cost: days.reduce((sum, { cost }) => sum + cost, 0), p99: all.quantile(0.99) };
}
