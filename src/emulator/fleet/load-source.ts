/** The requests of a load, one after the other as they are due: none is made before its time. */
import { generateLoad } from '../../scaling/planner/load/generators.ts';
import type { Arrival } from '../../scaling/planner/load/load.ts';
import type { GeneratedLoadSpec, LoadRecord, TraceLoadSpec } from '../state/loads.ts';

/** A load goes on until it is stopped; longer than anybody's clock runs. */
const FOREVER_SECONDS = 1e11;

export class LoadSource {
  readonly record: LoadRecord;
  readonly #offset: number;
  readonly #requests: Iterator<Arrival>;
  #taken = 0;
  #next: Arrival | undefined;

  /** `epochMs`: what its times count from; `taken`: requests that have come already. */
  constructor(record: LoadRecord, epochMs: number, taken = 0) {
    this.record = record;
    this.#offset = (record.sinceMs - epochMs) / 1000;
    const { spec } = record;
    if (spec.shape === 'trace') {
      this.#requests = requestsOf(spec, taken);
      this.#taken = taken - 1;
    } else {
      this.#requests = generated(spec)[Symbol.iterator]();
      this.#taken = -1;
    }
    // A made-up load is made up anew to where it was, since a generator cannot be put away: 0.05 s of a restore for each
    // million requests of a constant load, 0.2 s of poisson, 0.5 s of bursts. A trace goes on at once.
    while (this.#taken < taken) this.shift();
  }

  /** Requests that have come so far. */
  get taken(): number {
    return this.#taken;
  }

  /** When the next one comes, seconds since the epoch; Infinity when there is none. */
  get nextAt(): number {
    return this.#next === undefined ? Infinity : this.#offset + this.#next.atSeconds;
  }

  get nextWork(): number {
    return this.#next?.work ?? 0;
  }

  shift(): void {
    const { done, value } = this.#requests.next();
    this.#next = done ? undefined : value;
    this.#taken += 1;
  }
}

function generated(spec: GeneratedLoadSpec): Iterable<Arrival> {
  return generateLoad({
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
}

function* requestsOf(
  { times, works, loop, period_seconds }: TraceLoadSpec,
  taken: number,
): Generator<Arrival> {
  const end = loop ? Infinity : times.length;
  for (let index = taken; index < end; index += 1) {
    const round = Math.floor(index / times.length);
    const place = index % times.length;
    yield { atSeconds: round * period_seconds + (times[place] as number), work: works[place] as number };
  }
}
