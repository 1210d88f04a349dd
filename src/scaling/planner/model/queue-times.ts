/**
 * Queue times in fixed memory: buckets grow by 1%, so any percentile is within 0.5% (the idea of DDSketch: Masson, Rim,
 * Lee, VLDB 2019). Mean and maximum are exact.
 */
const SMALLEST_SECONDS = 1e-4;
const GROWTH = 1.01;
const LOG_GROWTH = Math.log(GROWTH);
/** Up to 10^8 seconds, three years. Longer times share the last bucket. */
export const QUEUE_TIME_BUCKETS = Math.ceil(Math.log(1e8 / SMALLEST_SECONDS) / LOG_GROWTH) + 1;
/** Largest relative error of a percentile above `SMALLEST_SECONDS`; below, it counts as zero. */
export const QUEUE_TIME_RELATIVE_ERROR = (GROWTH - 1) / (GROWTH + 1);

/** Bucket 0 means no queue. */
export function queueTimeBucket(seconds: number): number {
  if (seconds <= SMALLEST_SECONDS) return 0;
  const bucket = Math.ceil(Math.log(seconds / SMALLEST_SECONDS) / LOG_GROWTH);
  return bucket < QUEUE_TIME_BUCKETS ? bucket : QUEUE_TIME_BUCKETS - 1;
}

/** The longest queue time of the same bucket. */
export function longestLike(seconds: number): number {
  return SMALLEST_SECONDS * GROWTH ** queueTimeBucket(seconds);
}

/** The middle of a bucket `width` buckets wide, in seconds. */
export function queueTimeOf(bucket: number, width = 1): number {
  if (bucket <= 0) return 0;
  const upper = SMALLEST_SECONDS * GROWTH ** bucket;
  return (upper * 2) / (GROWTH ** width + 1);
}

export function bucketOfQuantile(counts: Float64Array, total: number, quantile: number): number {
  const rank = Math.max(1, Math.ceil(quantile * total));
  let seen = 0;
  for (let bucket = 0; bucket < counts.length; bucket += 1) {
    seen += counts[bucket] as number;
    if (seen >= rank) return bucket;
  }
  return -1;
}

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
