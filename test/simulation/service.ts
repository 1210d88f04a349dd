import type { AttemptOutcome } from '../../src/heartbeat/engine/state.ts';
import type { CancelTimer } from '../../src/heartbeat/driver/ports.ts';
import type { VirtualTime } from '../support/virtual-time.ts';

interface Deployment {
  readonly ttl: number;
  expiresAt: number;
  watch: CancelTimer | undefined;
}

/** A minimum time between any two heartbeats with the same key, as the public service has it. */
export interface Limit {
  readonly threshold: number;
  /** Whether a refused request starts the time anew. */
  readonly countsRefused: boolean;
  /** What the refusal says besides: θ, when to come back, both or neither. */
  readonly says: 'threshold' | 'retry-after' | 'both' | 'nothing';
}

/** The service behind the network: it keeps the deployments' real clocks, and deletes what is not refreshed. */
export class Service {
  /** How fast its clock runs against ours; the engine allows for one part in a hundred. */
  rate = 1;
  key = 'key-1';
  limit: Limit | undefined;
  #limitedFrom = -Infinity;
  onLoss: (id: number) => void = () => {};
  readonly #time: VirtualTime;
  readonly #deployments = new Map<number, Deployment>();

  constructor(time: VirtualTime) {
    this.#time = time;
  }

  create(id: number, ttl: number): void {
    const deployment: Deployment = { ttl, expiresAt: 0, watch: undefined };
    this.#deployments.set(id, deployment);
    this.#refresh(id, deployment);
  }

  expiresAt(id: number): number | undefined {
    return this.#deployments.get(id)?.expiresAt;
  }

  beat(id: number, key: string): AttemptOutcome {
    if (key !== this.key) return { type: 'unauthorized' };
    if (this.limit !== undefined && !this.#admits(this.limit)) return refusal(this.limit);
    const deployment = this.#deployments.get(id);
    if (deployment === undefined) return { type: 'not-found' };
    this.#refresh(id, deployment);
    return { type: 'accepted' };
  }

  /** Spares a deployment until a true time, whatever its TTL says. */
  spare(id: number, until: number): void {
    const deployment = this.#deployments.get(id);
    if (deployment !== undefined) this.#expire(id, deployment, until);
  }

  #admits({ threshold, countsRefused }: Limit): boolean {
    const admitted = this.#time.now - this.#limitedFrom >= threshold;
    if (admitted || countsRefused) this.#limitedFrom = this.#time.now;
    return admitted;
  }

  #refresh(id: number, deployment: Deployment): void {
    this.#expire(id, deployment, this.#time.now + deployment.ttl / this.rate);
  }

  #expire(id: number, deployment: Deployment, at: number): void {
    deployment.expiresAt = at;
    deployment.watch?.();
    deployment.watch = this.#time.at(at, () => {
      this.#deployments.delete(id);
      this.onLoss(id);
    });
  }
}

function refusal({ threshold, says }: Limit): AttemptOutcome {
  return {
    type: 'throttled',
    ...((says === 'threshold' || says === 'both') && { thresholdMs: threshold }),
    ...((says === 'retry-after' || says === 'both') && { retryAfterMs: threshold }),
  };
}
