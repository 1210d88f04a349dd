/** The requests of a load, one after the other as they are due: none is made before its time. */
import { generateLoad } from '../../scaling/planner/load/generators.ts';
import type { Arrival } from '../../scaling/planner/load/load.ts';
import type { LoadRecord } from '../state/loads.ts';

/** A load goes on until it is stopped; longer than anybody's clock runs. */
const FOREVER_SECONDS = 1e11;

export class LoadSource {
  readonly record: LoadRecord;
  readonly #offset: number;
  readonly #requests: Iterator<Arrival>;
  #taken = -1;
  #next: Arrival | undefined;

  /** `epochMs`: what its times count from; requests before then have come already. */
  constructor(record: LoadRecord, epochMs: number) {
    this.record = record;
    this.#offset = (record.sinceMs - epochMs) / 1000;
    const { spec } = record;
    const load = generateLoad({
      shape: spec.shape,
      unitsPerSecond: spec.rate,
      unitsPerRequest: spec.request_work,
      seconds: FOREVER_SECONDS,
      seed: spec.seed,
      sizes: spec.sizes,
      peakRatio: spec.peak_ratio,
      periodSeconds: spec.period_seconds,
      burstRatio: spec.burst_ratio,
      burstEverySeconds: spec.burst_every_seconds,
      burstSeconds: spec.burst_seconds,
    });
    this.#requests = load[Symbol.iterator]();
    do this.take();
    while (this.nextAt < 0);
  }

  get taken(): number {
    return this.#taken;
  }

  /** When the next one comes, seconds since the epoch. */
  get nextAt(): number {
    return this.#next === undefined ? Infinity : this.#offset + this.#next.atSeconds;
  }

  /** Takes the next one, and returns its work. */
  take(): number {
    const work = this.#next?.work ?? 0;
    const { done, value } = this.#requests.next();
    this.#next = done ? undefined : value;
    this.#taken += 1;
    return work;
  }
}
