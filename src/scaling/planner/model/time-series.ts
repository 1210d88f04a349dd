/**
 * What happened over time, in a fixed number of intervals whatever the length of the load: when time runs past
 * the last one, neighbours are merged and each interval is twice as long from then on.
 */
import { bucketOfQuantile, QUEUE_TIME_BUCKETS, queueTimeOf } from './structures/queue-times.ts';

const INTERVALS = 400;
const FIRST_WIDTH_SECONDS = 1;
/** Queue times of one interval are kept more coarsely than those of the whole: within 5%. */
const COARSE = 10;
const COARSE_BUCKETS = Math.ceil(QUEUE_TIME_BUCKETS / COARSE) + 1;

/** How many workers there are in each state, and what the hot ones can do in units/s. */
export interface WorkerCounts {
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  readonly capacity: number;
}

const COUNTS = ['hot', 'cold', 'starting', 'capacity'] as const satisfies readonly (keyof WorkerCounts)[];

/** Adds so many seconds of these workers to integrals over time. */
export function addSeconds(
  sums: Record<keyof WorkerCounts, number>,
  workers: WorkerCounts,
  seconds: number,
): void {
  for (const count of COUNTS) sums[count] += workers[count] * seconds;
}

/** One array element an interval; the last interval may be cut short by the end. */
export type PlanSeries = Readonly<ReturnType<TimeSeries['read']>>;

/** Columns of an interval: sums over its time, then the counts of its queue times. */
const SUMS = { work: 0, hot: 1, cold: 2, starting: 3, capacity: 4 } as const;
type Sum = keyof typeof SUMS;
const QUEUE_TIMES = Object.keys(SUMS).length;
const COLUMNS = QUEUE_TIMES + COARSE_BUCKETS;

export class TimeSeries {
  #width = FIRST_WIDTH_SECONDS;
  /** An interval after the other. */
  readonly #cells = new Float64Array(INTERVALS * COLUMNS);

  /** Work that arrived. */
  addWork(atSeconds: number, work: number): void {
    this.#add(SUMS.work, this.#indexOf(atSeconds), work);
  }

  /** A request's queue time, as its bucket, at the time when it arrived. */
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

  /** Everything up to `endSeconds`; prices per hour. */
  read(endSeconds: number, prices: { hot: number; cold: number; starting: number }) {
    const count = Math.min(INTERVALS, Math.max(1, Math.ceil(endSeconds / this.#width)));
    const indexes = Array.from({ length: count }, (_, index) => index);
    const seconds = (index: number) => Math.min(this.#width, endSeconds - index * this.#width) || 1;
    const rate = (sum: Sum) => indexes.map((index) => this.#sum(sum, index) / seconds(index));
    const quantile = (share: number) => indexes.map((index) => this.#quantile(index, share));
    let cost = 0;
    return {
      intervalSeconds: this.#width,
      /** Where each interval starts. */
      atSeconds: indexes.map((index) => index * this.#width),
      /** Arriving work, units/s. */
      load: rate('work'),
      /** What hot workers could do, units/s. */
      capacity: rate('capacity'),
      /** Mean number of workers that serve; that are cold; that are on their way. */
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

  /** The interval of a moment; makes room when it lies past the last one. */
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
