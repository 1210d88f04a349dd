/** Yields the requests of a load when they are due. */
import { generateLoad } from '../../scaling/planner/load/generators.ts';
import type { Arrival } from '../../scaling/planner/load/load.ts';
import type { LoadRecord } from '../state/loads.ts';

const FOREVER_SECONDS = 1e11;

export class LoadSource {
  readonly record: LoadRecord;
  readonly #offset: number;
  readonly #requests: Iterator<Arrival>;
  #taken = -1;
  #next: Arrival | undefined;

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

  get nextAt(): number {
    return this.#next === undefined ? Infinity : this.#offset + this.#next.atSeconds;
  }

  take(): number {
    const work = this.#next?.work ?? 0;
    const { done, value } = this.#requests.next();
    this.#next = done ? undefined : value;
    this.#taken += 1;
    return work;
  }
}
