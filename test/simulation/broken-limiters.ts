/** Rate limiters and queues with one mistake each: a scenario that does not notice its mistake proves nothing. */
import { RateLimiter, type Departure, type RateAnswer, type Who } from '../../src/client/rate-limiter.ts';
import { RequestQueue, type Waiting } from '../../src/client/request-queue.ts';
import type { RunOptions } from './scenario.ts';
import { SPACINGS } from './world.ts';

type Broken = Pick<RunOptions, 'makeLimiter' | 'Queue'>;

function made(Limiter: typeof RateLimiter): Broken {
  return { makeLimiter: (random) => new Limiter({ spacings: SPACINGS, random }) };
}

/** The daemon gets whatever it asks for. */
class NeverYields extends RateLimiter {
  override grant(operation: string, now: number): Departure {
    return this.sent(operation, now, 'daemon');
  }
}

/** A retry leaves before the service wants it. */
class AsksEarly extends RateLimiter {
  override opensAt(): number {
    return -Infinity;
  }
}

/** Each refusal is waited out, and the next request comes too soon again. */
class LearnsNoSpacing extends RateLimiter {
  override answered(departure: Departure, answer: RateAnswer, now: number): void {
    const { throttled, retryAfterMs = answer.thresholdMs } = answer;
    if (throttled) super.answered(departure, { throttled, retryAfterMs }, now);
    else this.lost(departure);
  }
}

/** The daemon waits out a refusal of the key, and then goes on as fast as before. */
class ComesBackAtOnce extends RateLimiter {
  override opensAt(operation: string, who?: Who, now?: number): number {
    return super.opensAt(operation, who === 'daemon' ? 'call' : who, now);
  }
}

/** No heartbeat leaves before the service wants it, whatever that costs. */
class NeverEarly extends RateLimiter {
  override mayLeaveEarly(): boolean {
    return false;
  }
}

/** A log is always before a watch. */
class StrictOrder extends RequestQueue {
  protected override overdue({ turn }: Waiting): number {
    return -turn.everyMs;
  }
}

export const BROKEN_LIMITERS = {
  'the daemon does not yield': made(NeverYields),
  'a closed bucket is asked early': made(AsksEarly),
  'no spacing is learned': made(LearnsNoSpacing),
  'the daemon comes back at once': made(ComesBackAtOnce),
  'a wait is never cut short': made(NeverEarly),
  'logs are always first': { Queue: StrictOrder },
} as const satisfies Record<string, Broken>;

export type BrokenLimiter = keyof typeof BROKEN_LIMITERS;
