/** Counts requests, work, queue times and workers of a plan. */
import type { ResolvedParameters } from '../../rules/rules.ts';
import type { FleetTotals } from './fleet.ts';
import type { GroupObserver } from './group.ts';
import type { PlanSettings } from '../settings.ts';
import type { WorkerCounts } from './workers.ts';

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
    addSeconds(this.#workers, workers, toSeconds - this.#until);
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

const COUNTS = ['hot', 'cold', 'starting', 'capacity'] as const satisfies readonly (keyof WorkerCounts)[];

export function addSeconds(
  sums: Record<keyof WorkerCounts, number>,
  workers: WorkerCounts,
  seconds: number,
): void {
  for (const count of COUNTS) sums[count] += workers[count] * seconds;
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

const SMALLEST_SECONDS = 1e-4;
const GROWTH = 1.01;
const LOG_GROWTH = Math.log(GROWTH);
/** Up to 10^8 seconds, three years. Longer times share the last bucket. */
const QUEUE_TIME_BUCKETS = Math.ceil(Math.log(1e8 / SMALLEST_SECONDS) / LOG_GROWTH) + 1;
/** Largest relative error of a percentile above `SMALLEST_SECONDS`; below, it counts as zero. */
export const QUEUE_TIME_RELATIVE_ERROR = (GROWTH - 1) / (GROWTH + 1);

/** Bucket 0 means no queue. */
function queueTimeBucket(seconds: number): number {
  if (seconds <= SMALLEST_SECONDS) return 0;
  const bucket = Math.ceil(Math.log(seconds / SMALLEST_SECONDS) / LOG_GROWTH);
  return bucket < QUEUE_TIME_BUCKETS ? bucket : QUEUE_TIME_BUCKETS - 1;
}

/** The middle of a bucket `width` buckets wide, in seconds. */
function queueTimeOf(bucket: number, width = 1): number {
  if (bucket <= 0) return 0;
  const upper = SMALLEST_SECONDS * GROWTH ** bucket;
  return (upper * 2) / (GROWTH ** width + 1);
}

function bucketOfQuantile(counts: Float64Array, total: number, quantile: number): number {
  const rank = Math.max(1, Math.ceil(quantile * total));
  let seen = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    seen += counts[bucket] as number;
    if (seen >= rank) return bucket;
  }
  return -1;
}

/**
 * Queue times in fixed memory: buckets grow by 1%, so any percentile is within 0.5% (the idea of DDSketch: Masson, Rim,
 * Lee, VLDB 2019). Mean and maximum are exact.
 */
export class QueueTimes {
  readonly #counts = new Float64Array(QUEUE_TIME_BUCKETS);
  count = 0;
  max = 0;
  #sum = 0;

  get mean(): number {
    return this.count === 0 ? 0 : this.#sum / this.count;
  }

  /** Returns its bucket. */
  record(seconds: number, weight = 1): number {
    const bucket = queueTimeBucket(seconds);
    this.#counts[bucket] = (this.#counts[bucket] as number) + weight;
    this.count += weight;
    this.#sum += weight * seconds;
    if (seconds > this.max) this.max = seconds;
    return bucket;
  }

  /** Share of the requests that waited longer, as precisely as `quantile`; 0 when nothing was recorded. */
  shareAbove(seconds: number): number {
    if (this.max <= seconds) return 0;
    // The middle of the bucket decides, as it does for a percentile.
    const own = queueTimeBucket(seconds);
    const from = queueTimeOf(own) > seconds ? own : own + 1;
    return this.#counts.subarray(from).reduce((sum, count) => sum + count, 0) / this.count;
  }

  /** Seconds; 0 when nothing was recorded. */
  quantile(quantile: number): number {
    const bucket = bucketOfQuantile(this.#counts, this.count, quantile);
    return Math.min(queueTimeOf(bucket), this.max);
  }
}

const INTERVALS = 400;
const FIRST_WIDTH_SECONDS = 1;
/** Queue times of one interval are within 5%, coarser than those of the whole. */
const COARSE = 10;
const COARSE_BUCKETS = Math.ceil(QUEUE_TIME_BUCKETS / COARSE) + 1;

/** Each array has one element an interval; the last interval may be shorter. */
export type PlanSeries = Readonly<ReturnType<TimeSeries['read']>>;

/** Columns of an interval: sums over time, then counts of queue times. */
const SUMS = { work: 0, hot: 1, cold: 2, starting: 3, capacity: 4 } as const;
type Sum = keyof typeof SUMS;
const QUEUE_TIMES = Object.keys(SUMS).length;
const COLUMNS = QUEUE_TIMES + COARSE_BUCKETS;

/**
 * What happened over time, in a fixed number of intervals. When time runs past the last one, neighbours are
 * merged and each interval becomes twice as long.
 */
export class TimeSeries {
  #width = FIRST_WIDTH_SECONDS;
  readonly #cells = new Float64Array(INTERVALS * COLUMNS);

  addWork(atSeconds: number, work: number): void {
    this.#add(SUMS.work, this.#indexOf(atSeconds), work);
  }

  /** Counted in the interval of the request's arrival. */
  addQueueTime(arrivedSeconds: number, bucket: number): void {
    this.#add(QUEUE_TIMES + Math.ceil(bucket / COARSE), this.#indexOf(arrivedSeconds), 1);
  }

  addWorkers(fromSeconds: number, toSeconds: number, workers: WorkerCounts): void {
    // The last interval first: it may double the width.
    this.#indexOf(toSeconds);
    let from = fromSeconds;
    for (let index = this.#indexOf(from); from < toSeconds; index += 1) {
      const to = Math.min(toSeconds, (index + 1) * this.#width);
      for (const count of COUNTS) this.#add(SUMS[count], index, workers[count] * (to - from));
      from = to;
    }
  }

  /** Prices per hour. */
  read(endSeconds: number, prices: { hot: number; cold: number; starting: number }) {
    const count = Math.min(INTERVALS, Math.max(1, Math.ceil(endSeconds / this.#width)));
    const indexes = Array.from({ length: count }, (_, index) => index);
    const seconds = (index: number) => Math.min(this.#width, endSeconds - index * this.#width) || 1;
    const rate = (sum: Sum) => indexes.map((index) => this.#sum(sum, index) / seconds(index));
    const quantile = (share: number) => indexes.map((index) => this.#quantile(index, share));
    let cost = 0;
    return {
      intervalSeconds: this.#width,
      atSeconds: indexes.map((index) => index * this.#width),
      /** Arriving work, units/s. */
      load: rate('work'),
      capacity: rate('capacity'),
      /** Mean numbers of workers. */
      hot: rate('hot'),
      cold: rate('cold'),
      starting: rate('starting'),
      /** Queue time of the requests that arrived in the interval, seconds; null where none did. Within 5%. */
      queueP50: quantile(0.5),
      queueP95: quantile(0.95),
      queueP99: quantile(0.99),
      /** Since the start. */
      cost: indexes.map((index) => {
        const paid = (sum: 'hot' | 'cold' | 'starting') => this.#sum(sum, index) * prices[sum];
        cost += (paid('hot') + paid('cold') + paid('starting')) / 3600;
        return cost;
      }),
    };
  }

  #sum(sum: Sum, index: number): number {
    return this.#cells[index * COLUMNS + SUMS[sum]] as number;
  }

  #add(column: number, index: number, value: number): void {
    const cell = index * COLUMNS + column;
    this.#cells[cell] = (this.#cells[cell] as number) + value;
  }

  #quantile(index: number, share: number): number | null {
    const counts = this.#cells.subarray(index * COLUMNS + QUEUE_TIMES, (index + 1) * COLUMNS);
    const total = counts.reduce((sum, count) => sum + count, 0);
    if (total === 0) return null;
    return queueTimeOf(bucketOfQuantile(counts, total, share) * COARSE, COARSE);
  }

  /** The interval of a moment; merges intervals if it lies past the last one. */
  #indexOf(atSeconds: number): number {
    while (atSeconds >= INTERVALS * this.#width) this.#merge();
    return Math.floor(atSeconds / this.#width);
  }

  #merge(): void {
    for (let cell = 0; cell < this.#cells.length; cell += 1) {
      const from = 2 * cell - (cell % COLUMNS);
      this.#cells[cell] = (this.#cells[from] ?? 0) + (this.#cells[from + COLUMNS] ?? 0);
    }
    this.#width *= 2;
  }
}
