import type { AttemptOutcome } from '../../src/heartbeat/engine/state.ts';
import type { BeatRequest } from '../../src/heartbeat/driver/ports.ts';
import type { VirtualTime } from '../support/virtual-time.ts';
import type { Fate } from './faults.ts';
import type { Service } from './service.ts';

/** What a request meets when it leaves: a fault, or a healthy service that takes this long, ms. */
export type Sky = { readonly fate: Fate } | { readonly latency: number };

/** The course of things between the driver and the service, as a scenario makes it. */
export interface Weather {
  meet(request: BeatRequest): Sky;
  /** Counts the changes between healthy and not: an exchange that spans one is broken by it. */
  readonly changes: number;
}

export interface Flight {
  readonly number: number;
  readonly deploymentId: number;
  readonly fresh: boolean;
  readonly sentAt: number;
  /** When it was answered, failed or was aborted; undefined while it is under way. */
  settledAt?: number;
}

/**
 * Carries heartbeats to the service, or loses them. One connection is kept alive and shared by all requests that
 * are not `fresh`; once it is half open it stays so until a fresh one replaces it, as HTTP/2 sessions do
 * (kubernetes #48638).
 */
export class Network {
  readonly flights: Flight[] = [];
  mostOpen = 0;
  #open = 0;
  onSend: (flight: Flight) => void = () => {};
  onSettle: (flight: Flight, how: string) => void = () => {};
  #socketBroken = false;
  readonly #time: VirtualTime;
  readonly #service: Service;
  readonly #weather: Weather;

  constructor(time: VirtualTime, service: Service, weather: Weather) {
    this.#time = time;
    this.#service = service;
    this.#weather = weather;
  }

  readonly beat = (request: BeatRequest): Promise<AttemptOutcome> => {
    const { deploymentId, fresh } = request;
    const flight: Flight = { number: this.flights.length, deploymentId, fresh, sentAt: this.#time.now };
    this.flights.push(flight);
    this.#open += 1;
    this.mostOpen = Math.max(this.mostOpen, this.#open);
    const sky = this.#weather.meet(request);
    this.onSend(flight);
    const { promise, resolve, reject } = Promise.withResolvers<AttemptOutcome>();
    request.signal.addEventListener('abort', () => {
      this.#settle(flight, 'aborted');
      reject(new Error('aborted'));
    });
    this.#carry(request, flight, sky, (outcome) => {
      if (flight.settledAt !== undefined) return;
      this.#settle(flight, describe(outcome));
      resolve(outcome);
    });
    return promise;
  };

  #settle(flight: Flight, how: string): void {
    this.#open -= 1;
    flight.settledAt = this.#time.now;
    this.onSettle(flight, how);
  }

  #carry(request: BeatRequest, flight: Flight, sky: Sky, answer: (outcome: AttemptOutcome) => void): void {
    const reused = !request.fresh;
    if (reused && this.#socketBroken) return;
    const { changes } = this.#weather;
    const healthy = 'latency' in sky;
    const fate: Fate = healthy ? { effectAfter: sky.latency, after: sky.latency } : sky.fate;
    if (fate.connects !== false) request.connected();
    if (fate.breaksSocket && reused) this.#socketBroken = true;

    let answered: AttemptOutcome | undefined = fate.outcome;
    const carryOut = (): void => {
      if (healthy && this.#weather.changes !== changes) return;
      const said = this.#service.beat(request.deploymentId, request.key);
      answered ??= said;
    };
    if (fate.effectAfter !== undefined) this.#time.at(flight.sentAt + fate.effectAfter, carryOut);
    if (fate.after === undefined) return;
    this.#time.deliver(flight.sentAt + fate.after + ANSWER_AFTER_EFFECT, () => {
      if (answered === undefined || (healthy && this.#weather.changes !== changes)) return;
      if (answered.type === 'accepted' && !reused) this.#socketBroken = false;
      answer(answered);
    });
  }
}

/** Keeps cause before effect where both fall on the same moment, ms. */
const ANSWER_AFTER_EFFECT = 1e-4;

function describe(outcome: AttemptOutcome): string {
  if (outcome.type === 'failed') return outcome.reason;
  if (outcome.type !== 'throttled') return outcome.type;
  const { retryAfterMs, thresholdMs } = outcome;
  return `throttled${retryAfterMs === undefined ? '' : ` retry-after ${Math.round(retryAfterMs)} ms`}${thresholdMs === undefined ? '' : ` threshold ${Math.round(thresholdMs)} ms`}`;
}
