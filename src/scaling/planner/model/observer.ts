/** What happens in the model of a group. Arguments are positional, because there are millions of requests. */
import type { Demand, Observation } from './demand.ts';
import type { WorkerCounts } from './time-series.ts';
import type { State } from './workers.ts';

export interface Decision {
  readonly observed: Observation;
  readonly wanted: Demand;
}

/** Times in seconds since the model began. `request` is 0 if it has no name. */
export interface GroupObserver {
  arrived(atSeconds: number, work: number): void;
  /** These were the workers until then. */
  workersUntil(toSeconds: number, workers: WorkerCounts): void;
  /** A worker takes a request, which begins after having waited so long in all. */
  begun(arrivedSeconds: number, waited: number): void;
  /** The same request: its worker, and when it ends if nothing happens to that worker. */
  taken?(request: number, work: number, place: number, ends: number): void;
  /** Its client left before a worker began it. */
  abandoned(arrivedSeconds: number, work: number, request: number): void;
  /** The queue was full. */
  refused?(atSeconds: number, work: number, request: number): void;
  /** Whether the client of a named request still waits; called when its turn comes. */
  waits?(request: number, atSeconds: number): boolean;
  /** After `none`, a place holds another worker. */
  moved?(place: number, from: State, to: State, atSeconds: number): void;
  /** At each decision that is due, even if the group does not carry it out. */
  looked?(observed: Observation, atSeconds: number): void;
  /** Before the resulting moves. */
  decided?(decision: Decision, atSeconds: number): void;
  /** After those moves. */
  carriedOut?(atSeconds: number): void;
}
