/** What happens in the model of a group, told as it happens. Positional arguments: there are millions of requests. */
import type { Demand, Observation } from './demand.ts';
import type { WorkerCounts } from './time-series.ts';
import type { State } from './workers.ts';

/** A look of the group at its load, and what it concludes. */
export interface Decision {
  readonly observed: Observation;
  readonly wanted: Demand;
}

/** Times in seconds since the model began. `request` is the name that it arrived under, 0 without one. */
export interface GroupObserver {
  arrived(atSeconds: number, work: number): void;
  /** The time up to then is over, and these were the workers in it. */
  workersUntil(toSeconds: number, workers: WorkerCounts): void;
  /** A worker takes a request that arrived then, and begins with it after it has waited so long in all. */
  begun(arrivedSeconds: number, waited: number): void;
  /** Of the same request: who takes it, and when it will be done if nothing happens to that worker. */
  taken?(request: number, work: number, place: number, ends: number): void;
  /** Its client has gone before a worker began with it. */
  abandoned(arrivedSeconds: number, work: number, request: number): void;
  /** It came when as many waited as may. */
  refused?(atSeconds: number, work: number, request: number): void;
  /** Whether the client of a named request still waits; asked when its turn has come. */
  waits?(request: number, atSeconds: number): boolean;
  /** The worker at that place is another one after it was `none`. */
  moved?(place: number, from: State, to: State, atSeconds: number): void;
  /** At each decision that is due, also of a group that carries none out. */
  looked?(observed: Observation, atSeconds: number): void;
  /** Before the moves that follow from it. */
  decided?(decision: Decision, atSeconds: number): void;
  /** After them. */
  carriedOut?(atSeconds: number): void;
}
