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

/** One array element an interval; the last interval may be cut short by the end. */
export type PlanSeries = Readonly<ReturnType<TimeSeries['read']>>;

type Sum = 'work' | 'hot' | 'cold' | 'starting' | 'capacity';
const SUMS: readonly Sum[] = ['work', 'hot', 'cold', 'starting', 'capacity'];

export class TimeSeries {
  #width = FIRST_WIDTH_SECONDS;
  readonly #sums: Record<Sum, Float64Array>;
  readonly #queue = new Uint32Array(INTERVALS * COARSE_BUCKETS);

  constructor() {
    this.#sums = Object.fromEntries(SUMS.map((sum) => [sum, new Float64Array(INTERVALS)])) as Record<
      Sum,
      Float64Array
    >;
  }

  /** Work that arrived. */
  addWork(atSeconds: number, work: number): void {
    this.#add('work', this.#indexOf(atSeconds), work);
  }

  /** A request's queue time, as its bucket, at the time when it arrived. */
  addQueueTime(arrivedSeconds: number, bucket: number): void {
    const place = this.#indexOf(arrivedSeconds) * COARSE_BUCKETS + Math.ceil(bucket / COARSE);
    this.#queue[place] = (this.#queue[place] as number) + 1;
  }

  addWorkers(fromSeconds: number, toSeconds: number, workers: WorkerCounts): void {
    // The last interval first: it may double the width.
    this.#indexOf(toSeconds);
    let from = fromSeconds;
    for (let index = this.#indexOf(from); from < toSeconds; index += 1) {
      const to = Math.min(toSeconds, (index + 1) * this.#width);
      this.#add('hot', index, workers.hot * (to - from));
      this.#add('cold', index, workers.cold * (to - from));
      this.#add('starting', index, workers.starting * (to - from));
      this.#add('capacity', index, workers.capacity * (to - from));
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
    return this.#sums[sum][index] as number;
  }

  #add(sum: Sum, index: number, value: number): void {
    this.#sums[sum][index] = this.#sum(sum, index) + value;
  }

  #quantile(index: number, share: number): number | null {
    const counts = this.#queue.subarray(index * COARSE_BUCKETS, (index + 1) * COARSE_BUCKETS);
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
    for (const sum of SUMS) {
      const values = this.#sums[sum];
      for (let index = 0; index < INTERVALS; index += 1) {
        values[index] =
          2 * index < INTERVALS ? (values[2 * index] as number) + (values[2 * index + 1] as number) : 0;
      }
    }
    const size = COARSE_BUCKETS;
    for (let place = 0; place < this.#queue.length; place += 1) {
      const [index, bucket] = [Math.floor(place / size), place % size];
      const from = 2 * index * size + bucket;
      this.#queue[place] =
        2 * index < INTERVALS ? (this.#queue[from] as number) + (this.#queue[from + size] as number) : 0;
    }
    this.#width *= 2;
  }
}
