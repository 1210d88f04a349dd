/**
 * What happened over time, in a fixed number of intervals. When time runs past the last one, neighbours are
 * merged and each interval becomes twice as long.
 */
import { bucketOfQuantile, QUEUE_TIME_BUCKETS, queueTimeOf } from './queue-times.ts';

const INTERVALS = 400;
const FIRST_WIDTH_SECONDS = 1;
/** Queue times of one interval are within 5%, coarser than those of the whole. */
const COARSE = 10;
const COARSE_BUCKETS = Math.ceil(QUEUE_TIME_BUCKETS / COARSE) + 1;

/** Workers by state, and what the hot ones can do in units/s. */
export interface WorkerCounts {
  readonly hot: number;
  readonly cold: number;
  readonly starting: number;
  readonly capacity: number;
}

const COUNTS = ['hot', 'cold', 'starting', 'capacity'] as const satisfies readonly (keyof WorkerCounts)[];

export function addSeconds(
  sums: Record<keyof WorkerCounts, number>,
  workers: WorkerCounts,
  seconds: number,
): void {
  for (const count of COUNTS) sums[count] += workers[count] * seconds;
}

/** Each array has one element an interval; the last interval may be shorter. */
export type PlanSeries = Readonly<ReturnType<TimeSeries['read']>>;

/** Columns of an interval: sums over time, then counts of queue times. */
const SUMS = { work: 0, hot: 1, cold: 2, starting: 3, capacity: 4 } as const;
type Sum = keyof typeof SUMS;
const QUEUE_TIMES = Object.keys(SUMS).length;
const COLUMNS = QUEUE_TIMES + COARSE_BUCKETS;

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
