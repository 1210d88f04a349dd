/**
 * Virtual time for a follower that polls a real service over real sockets: the service's clock moves along, and time
 * stands still while a poll is on its way, so that a poll takes none.
 */
import type { FetchTail } from '../../src/logs/follow/group-follower.ts';
import { settled, VirtualClock } from './log-time.ts';

export class ServiceTime {
  readonly clock: VirtualClock;
  readonly #moveService: (ms: number) => Promise<void>;
  #underway = 0;

  constructor(moveService: (ms: number) => Promise<void>, begins?: number) {
    this.#moveService = moveService;
    this.clock = new VirtualClock(begins);
  }

  waitingFor(fetchTail: FetchTail): FetchTail {
    return async (request) => {
      this.#underway += 1;
      try {
        return await fetchTail(request);
      } finally {
        this.#underway -= 1;
      }
    };
  }

  /** Lets time pass, in steps: whoever wakes within a step wakes at its end as the service sees it. */
  async advance(ms: number, stepMs: number): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      const step = Math.min(left, stepMs);
      await this.#moveService(step);
      await this.clock.advance(step);
      await this.idle();
    }
  }

  async idle(): Promise<void> {
    await settled();
    while (this.#underway > 0) await settled();
    await settled();
  }
}
