/**
 * The parameters that were really set, run over the recorded load: what the model says of the workers that there were
 * and what they cost, beside what was recorded. Advice is as good as this.
 */
import { GroupModel } from '../../planner/model/group.ts';
import type { GroupObserver } from '../../planner/model/observer.ts';
import type { WorkerCounts } from '../../planner/model/time-series.ts';
import type { RecordedLoad } from '../../planner/load/load.ts';
import type { PlanSettings } from '../../planner/settings.ts';
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { Backtest } from '../advice.ts';
import type { RecordedRate } from '../load/rate.ts';
import type { RecordedStretch } from '../recorded.ts';

/** More than this, and the model is not that of this endpoint. */
const MOST_ERROR = 0.25;
const HOUR_SECONDS = 3600;
/** Workers that differ by less in the mean differ by nothing that anybody pays for. */
const LEAST_WORKERS = 0.1;

/** Means over an hour: numbers of workers, and cost an hour (null where no price was known). */
export interface HourOfWorkers {
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  readonly costPerHour: number | null;
}

export interface BacktestHour {
  /** Unix ms, of what was recorded. */
  readonly fromMs: number;
  readonly seconds: number;
  /** Mean, units/s. */
  readonly load: number;
  readonly recorded: HourOfWorkers;
  readonly predicted: HourOfWorkers;
}

export interface DetailedBacktest extends Backtest {
  /** Shares by which each is off over the whole: 0.1 is a tenth too much. */
  readonly errors: { readonly hot: number; readonly workers: number; readonly cost: number };
  /** How far the worse half of it is off: what was too little at first and too much later has not held. */
  readonly halfErrorRatio: number;
  /** Oldest first; at most an hour each, none over a hole. */
  readonly hours: readonly BacktestHour[];
}

export interface BacktestOptions {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  readonly rate: RecordedRate;
  readonly stretches: readonly RecordedStretch[];
  /** Of each seed. */
  readonly loads: Iterable<RecordedLoad>;
  /** Unix ms: what was before is run, and not compared. */
  readonly fromMs: number;
}

/** @returns undefined where nothing of it can be compared */
export function backtest(options: BacktestOptions): DetailedBacktest | undefined {
  const { settings } = options;
  const spans = spansOf(options);
  if (spans.length === 0) return undefined;
  const sums = spans.map(() => [0, 0, 0]);
  let runs = 0;
  for (const load of options.loads) {
    runs += 1;
    const means = workersOver(spans, options, load);
    for (const [index, each] of means.entries()) {
      sums[index] = (sums[index] as number[]).map((sum, state) => sum + (each[state] as number));
    }
  }
  const hours = spans.map((span, index): BacktestHour => {
    const [hot = 0, cold = 0, starting = 0] = (sums[index] as number[]).map((sum) => sum / runs);
    const { priceHot, priceCold, priceStarting } = settings;
    const costPerHour = hot * priceHot + cold * priceCold + starting * priceStarting;
    const predicted = { hot, cold, starting, costPerHour };
    const { fromMs, seconds, work } = span;
    return { fromMs, seconds, load: work / seconds, recorded: recordedOver(span), predicted };
  });
  const errors = errorsOver(hours);
  const errorRatio = largest(errors);
  const halfErrorRatio = Math.max(errorRatio, ...halvesOf(hours).map((half) => largest(errorsOver(half))));
  return { errorRatio, held: halfErrorRatio <= MOST_ERROR, errors, halfErrorRatio, hours };
}

/** What a hot worker does in the model, units/s, in the mean of what is compared; undefined where there was none. */
export function capacityOfHot(options: BacktestOptions): number | undefined {
  const spans = spansOf(options);
  let [capacity, workers] = [0, 0];
  for (const load of options.loads) {
    for (const [index, each] of workersOver(spans, options, load).entries()) {
      const { seconds } = spans[index] as Span;
      workers += (each[0] as number) * seconds;
      capacity += (each[3] as number) * seconds;
    }
  }
  return workers > 0 ? capacity / workers : undefined;
}

function largest(errors: DetailedBacktest['errors']): number {
  return Math.max(...Object.values(errors).map(Math.abs));
}

/** A time that is compared as one. */
interface Span {
  readonly atSeconds: number;
  readonly fromMs: number;
  seconds: number;
  /** Units. */
  work: number;
  /** Its stretches, and for how long each is in it. */
  readonly parts: (readonly [stretch: RecordedStretch, seconds: number])[];
}

function spansOf({ rate, stretches, fromMs }: BacktestOptions): Span[] {
  const spans: Span[] = [];
  let last: Span | undefined;
  for (const { atSeconds, seconds, rate: load, stretch: index } of rate.pieces) {
    const stretch = index === undefined ? undefined : stretches[index];
    if (!stretch || stretch.fromMs < fromMs) {
      last = undefined;
      continue;
    }
    if (!last || last.seconds >= HOUR_SECONDS) {
      last = { atSeconds, fromMs: stretch.fromMs, seconds: 0, work: 0, parts: [] };
      spans.push(last);
    }
    last.seconds += seconds;
    last.work += load * seconds;
    last.parts.push([stretch, seconds]);
  }
  return spans;
}

function recordedOver({ parts, seconds }: Span): HourOfWorkers {
  const sums = { hot: 0, cold: 0, starting: 0, cost: 0 };
  let priced = 0;
  for (const [stretch, each] of parts) {
    for (const state of ['hot', 'cold', 'starting'] as const) sums[state] += stretch[state] * each;
    if (stretch.costPerHour === null) continue;
    priced += each;
    sums.cost += stretch.costPerHour * each;
  }
  return {
    hot: sums.hot / seconds,
    cold: sums.cold / seconds,
    starting: sums.starting / seconds,
    costPerHour: priced * 2 > seconds ? sums.cost / priced : null,
  };
}

/** Means of hot, cold and starting workers in each span, and of what the hot ones do, as the model has them. */
function workersOver(
  spans: readonly Span[],
  { parameters, settings, rate }: BacktestOptions,
  load: RecordedLoad,
): number[][] {
  const counted = new WorkersOver(spans);
  const group = new GroupModel({ parameters, settings, observer: counted });
  const { initialWorkers } = settings;
  group.place(initialWorkers === 'floor' ? undefined : initialWorkers);
  load.replay((atSeconds, work) => group.arrive(atSeconds, work));
  group.advance(Math.max(group.now, rate.seconds));
  counted.workersUntil(group.now, group.workers);
  return counted.means;
}

class WorkersOver implements GroupObserver {
  readonly #spans: readonly Span[];
  readonly #sums: number[][];
  #first = 0;
  #until = 0;

  constructor(spans: readonly Span[]) {
    this.#spans = spans;
    this.#sums = spans.map(() => [0, 0, 0, 0]);
  }

  get means(): number[][] {
    return this.#sums.map((sums, index) => sums.map((sum) => sum / (this.#spans[index] as Span).seconds));
  }

  workersUntil(toSeconds: number, { hot, cold, starting, capacity }: WorkerCounts): void {
    const from = this.#until;
    this.#until = toSeconds;
    for (let index = this.#first; index < this.#spans.length; index += 1) {
      const { atSeconds, seconds } = this.#spans[index] as Span;
      if (atSeconds >= toSeconds) break;
      const passed = Math.min(toSeconds, atSeconds + seconds) - Math.max(from, atSeconds);
      if (atSeconds + seconds <= toSeconds) this.#first = index + 1;
      const sums = this.#sums[index] as [number, number, number, number];
      sums[0] += hot * passed;
      sums[1] += cold * passed;
      sums[2] += starting * passed;
      sums[3] += capacity * passed;
    }
  }

  arrived(): void {}
  begun(): void {}
  abandoned(): void {}
}

/** What was off at first and off the other way later is no less off: both halves have to hold. */
function halvesOf(hours: readonly BacktestHour[]): (readonly BacktestHour[])[] {
  const middle = Math.floor(hours.length / 2);
  return middle === 0 ? [] : [hours.slice(0, middle), hours.slice(middle)];
}

function errorsOver(hours: readonly BacktestHour[]): DetailedBacktest['errors'] {
  const priced = hours.filter(({ recorded }) => recorded.costPerHour !== null);
  const sum = (some: readonly BacktestHour[], of: (hour: HourOfWorkers) => number) => ({
    recorded: some.reduce((all, { seconds, recorded }) => all + seconds * of(recorded), 0),
    predicted: some.reduce((all, { seconds, predicted }) => all + seconds * of(predicted), 0),
    seconds: some.reduce((all, { seconds }) => all + seconds, 0),
  });
  const perWorker = sum(priced, ({ costPerHour }) => costPerHour ?? 0).recorded / workersIn(priced);
  return {
    hot: errorOf(
      sum(hours, ({ hot }) => hot),
      LEAST_WORKERS,
    ),
    workers: errorOf(sum(hours, workersOf), LEAST_WORKERS),
    cost: errorOf(
      sum(priced, ({ costPerHour }) => costPerHour ?? 0),
      LEAST_WORKERS * (Number.isFinite(perWorker) ? perWorker : 0),
    ),
  };
}

function workersIn(hours: readonly BacktestHour[]): number {
  return hours.reduce((all, { seconds, recorded }) => all + seconds * workersOf(recorded), 0);
}

function workersOf({ hot, cold, starting }: HourOfWorkers): number {
  return hot + cold + starting;
}

/** A share of what was recorded, or of the least that counts where that was less. */
function errorOf(
  { recorded, predicted, seconds }: { recorded: number; predicted: number; seconds: number },
  least: number,
): number {
  const against = Math.max(recorded, least * seconds);
  return against === 0 ? 0 : (predicted - recorded) / against;
}
