/** Counts requests, work, queue times and workers of a plan. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import type { FleetTotals } from './fleet.ts';
import type { GroupObserver } from './group.ts';
import { QUEUE_TIME_RELATIVE_ERROR, QueueTimes } from './queue-times.ts';
import type { PlanSettings } from '../settings.ts';
import { addSeconds, TimeSeries, type WorkerCounts } from './time-series.ts';

/** What a plan says. Plain data: `pilotlight plan --json` prints it as it is. */
export type PlanResult = Readonly<ReturnType<PlanStats['result']>>;

export class PlanStats implements GroupObserver {
  #parameters: ResolvedParameters;
  readonly #settings: PlanSettings;
  readonly #series: TimeSeries | undefined;
  readonly #queueTimes = new QueueTimes();
  readonly #late = { target: 0, max: 0 };
  readonly #abandoned = { requests: 0, work: 0 };
  /** Integrals over time: worker seconds, and units that hot workers could have done. */
  readonly #workers = { hot: 0, cold: 0, starting: 0, capacity: 0 };
  #arrivedWork = 0;
  #lastArrival = 0;
  #until = 0;

  constructor(parameters: ResolvedParameters, settings: PlanSettings, series: boolean) {
    this.#parameters = parameters;
    this.#settings = settings;
    this.#series = series ? new TimeSeries() : undefined;
  }

  setParameters(parameters: ResolvedParameters): void {
    this.#parameters = parameters;
  }

  arrived(atSeconds: number, work: number): void {
    this.#arrivedWork += work;
    this.#lastArrival = atSeconds;
    this.#series?.addWork(atSeconds, work);
  }

  begun(arrivedSeconds: number, waited: number): void {
    if (waited > this.#parameters.target_queue_time) this.#late.target += 1;
    if (waited > this.#parameters.max_queue_time) this.#late.max += 1;
    const bucket = this.#queueTimes.record(waited);
    this.#series?.addQueueTime(arrivedSeconds, bucket);
  }

  /** Its client waited like any other until it left. */
  abandoned(arrivedSeconds: number, work: number): void {
    this.#abandoned.requests += 1;
    this.#abandoned.work += work;
    this.begun(arrivedSeconds, this.#settings.giveUpSeconds);
  }

  workersUntil(toSeconds: number, workers: WorkerCounts): void {
    const passed = toSeconds - this.#until;
    if (passed <= 0) return;
    addSeconds(this.#workers, workers, passed);
    this.#series?.addWorkers(this.#until, toSeconds, workers);
    this.#until = toSeconds;
  }

  result({ served: servedBy, starts, peak }: FleetTotals) {
    const [times, { hot, cold, starting, capacity }] = [this.#queueTimes, this.#workers];
    const { priceHot, priceCold, priceStarting } = this.#settings;
    const prices = { hot: priceHot, cold: priceCold, starting: priceStarting };
    const [requests, seconds] = [times.count, this.#until];
    const served = servedBy.reduce((sum, work) => sum + work, 0);
    const cost = costOf(this.#workers, this.#settings);
    return {
      parameters: this.#parameters,
      settings: this.#settings,
      requests,
      /** From the start until the last request is done. */
      seconds,
      /** From the start until the last request arrives: the load's own time. */
      loadSeconds: this.#lastArrival,
      /** Units. arrived = served + abandoned. */
      work: { arrived: this.#arrivedWork, served, abandoned: this.#abandoned.work },
      /** From a request's arrival until a worker begins with it, seconds. Percentiles within `relativeError`. */
      queueTime: {
        mean: times.mean,
        p50: times.quantile(0.5),
        p95: times.quantile(0.95),
        p99: times.quantile(0.99),
        max: times.max,
        relativeError: QUEUE_TIME_RELATIVE_ERROR,
      },
      /** Shares of the requests, 0 to 1, that waited longer than a parameter says, or went away. */
      share: {
        overTargetQueueTime: ratio(this.#late.target, requests),
        overMaxQueueTime: ratio(this.#late.max, requests),
        abandoned: ratio(this.#abandoned.requests, requests),
      },
      workerHours: { hot: hot / 3600, cold: cold / 3600, starting: starting / 3600 },
      peakWorkers: { ...peak },
      starts: { ...starts },
      /** Work done over what the hot workers could have done, 0 to 1. */
      utilisation: ratio(served, capacity),
      cost: {
        total: cost,
        perHour: ratio(cost * 3600, seconds),
        perThousandRequests: ratio(cost * 1000, requests),
      },
      /** Undefined where only the totals were wanted. */
      series: this.#series?.read(seconds, prices),
    };
  }
}

export function costOf(
  { hot, cold, starting }: Omit<WorkerCounts, 'capacity'>,
  { priceHot, priceCold, priceStarting }: PlanSettings,
): number {
  return (hot * priceHot + cold * priceCold + starting * priceStarting) / 3600;
}

function ratio(part: number, whole: number): number {
  return whole === 0 ? 0 : part / whole;
}
