/**
 * An endpoint on virtual time: the planner's model of a group, with what a watch of it would record by the minute, and what
 * no watch can record: how long requests really waited.
 */
import type { Minute } from '../../../src/scaling/autotune/evidence.ts';
import { GroupModel } from '../../../src/scaling/planner/model/group.ts';
import type { GroupObserver } from '../../../src/scaling/planner/model/observer.ts';
import { QueueTimes } from '../../../src/scaling/planner/model/queue-times.ts';
import type { WorkerCounts } from '../../../src/scaling/planner/model/time-series.ts';
import { STATE } from '../../../src/scaling/planner/model/worker-pool.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';

/** How the service's figures relate to the truth: 1 where it says it. */
export interface Sayings {
  /** What it says that workers can do, of what they can. */
  readonly capacity: number;
}

/** What a day cost and how long its requests waited. */
export interface DayTotals {
  cost: number;
  readonly waits: QueueTimes;
}

const MINUTE_SECONDS = 60;
const DAY_SECONDS = 86_400;

export class Endpoint implements GroupObserver {
  readonly days: DayTotals[] = [];
  #model: GroupModel;
  #settings: PlanSettings;
  #parameters: ResolvedParameters;
  readonly #sayings: Sayings;
  #until = 0;
  /** Of the minute that is under way: work, and seconds times workers, capacity, money. */
  #minute = { work: 0, ready: 0, capacity: 0, cost: 0 };
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

  /** The minute that ends then, as the service tells of it. */
  endMinute(atSeconds: number): Minute {
    this.#model.advance(atSeconds);
    this.workersUntil(atSeconds, this.#model.workers);
    const { work, ready, capacity, cost } = this.#minute;
    this.#minute = { work: 0, ready: 0, capacity: 0, cost: 0 };
    const fromSeconds = atSeconds - MINUTE_SECONDS;
    this.#errors = this.#errors.filter((until) => until > fromSeconds);
    return {
      fromMs: fromSeconds * 1000,
      load: work / this.#drift / MINUTE_SECONDS,
      capacity: ((capacity / MINUTE_SECONDS) * this.#sayings.capacity) / this.#drift,
      cost: (cost / MINUTE_SECONDS) * 3600,
      ready: ready / MINUTE_SECONDS,
      errors: this.#errors.length,
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
    this.#minute.ready += hot * seconds;
    this.#minute.capacity += capacity * seconds;
    this.#minute.cost += cost;
    this.#dayOf(this.#until).cost += cost;
    this.#until = toSeconds;
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
