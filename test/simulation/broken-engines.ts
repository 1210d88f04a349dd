/**
 * Engines with one mistake each, most of them known from the field. The simulation must notice every one; a test
 * that passes with these proves nothing about the real engine.
 */
import { step, type Step, type StepFunction } from '../../src/heartbeat/engine/engine.ts';
import type { Action, Event, Heartbeat, Instant } from '../../src/heartbeat/engine/state.ts';
import { type Departure, type RateAnswer, RateLimiter, type Who } from '../../src/client/rate-limiter.ts';
import { RequestQueue, type Waiting } from '../../src/client/request-queue.ts';
import type { RunOptions } from './scenario.ts';
import { SPACINGS } from './world.ts';

type Amend = (result: Step, before: Heartbeat, event: Event, now: Instant, random: () => number) => Step;

function amended(amend: Amend): StepFunction {
  return (before, event, now, random) => amend(step(before, event, now, random), before, event, now, random);
}

function acting(change: (action: Action) => Action | undefined): StepFunction {
  return amended(({ beat, actions }) => ({
    beat,
    actions: actions.map(change).filter((action) => action !== undefined),
  }));
}

function deaf(type: Event['type']): StepFunction {
  return (beat, event, now, random) =>
    event.type === type ? { beat, actions: [] } : step(beat, event, now, random);
}

function clocked(read: (now: Instant) => Instant): StepFunction {
  return (beat, event, now, random) => step(beat, event, read(now), random);
}

function timed(change: (timing: Heartbeat['timing']) => Partial<Heartbeat['timing']>): StepFunction {
  return (beat, event, now, random) => {
    const amend = { ...beat.timing, ...change(beat.timing) };
    const { beat: next, actions } = step({ ...beat, timing: amend }, event, now, random);
    return { beat: { ...next, timing: amend }, actions };
  };
}

function afterFailure(change: (beat: Heartbeat, now: Instant) => Partial<Heartbeat>): StepFunction {
  return amended(({ beat, actions }, before, _event, now) =>
    beat.failures > before.failures
      ? { beat: { ...beat, ...change(beat, now) }, actions }
      : { beat, actions },
  );
}

export const BROKEN_ENGINES = {
  /** No timeout at all, as the vendor's SDK: one hang is the end. */
  'no timeout': timed(() => ({ attemptTimeout: 1e9, attemptLife: 1e9 })),
  /** etcd: remaining time from the receipt of the answer. */
  'basis at receipt': amended(({ beat, actions }, before, event, now) =>
    event.type === 'ended' && beat.basis !== before.basis
      ? { beat: { ...beat, basis: now.mono + beat.drift.hidden }, actions }
      : { beat, actions },
  ),
  /** Set the clock back by an hour, and there seems to be an hour more, and nothing is due for as long. */
  'wall clock only': amended(({ beat, actions }, before) => {
    const back = Math.max(0, before.drift.offset - beat.drift.offset);
    return { beat: { ...beat, dueAt: beat.dueAt + back, basis: beat.basis + back }, actions };
  }),
  'monotonic clock only': clocked(({ mono }) => ({ mono, wall: mono })),
  /** Consul #912: gives up after a number of failures. */
  'retry budget': afterFailure(({ failures }) => (failures >= 5 ? { dueAt: Infinity } : {})),
  /** The vendor's SDK: the first exception ends the thread. */
  'first failure is the last': afterFailure(() => ({ dueAt: Infinity })),
  /** undici #3492, kubernetes #48638: a half-open connection is used again and again. */
  'reused socket': acting((action) => (action.type === 'send' ? { ...action, fresh: false } : action)),
  '404 is final at first sight': amended(({ beat, actions }) =>
    beat.trouble === 'not-found' ? { beat: { ...beat, dueAt: Infinity }, actions } : { beat, actions },
  ),
  'gone is for ever': amended(({ beat, actions }) =>
    beat.gone ? { beat: { ...beat, dueAt: Infinity }, actions } : { beat, actions },
  ),
  'backoff without a cap': afterFailure((beat, now) =>
    beat.trouble === 'failing' ? { dueAt: now.mono + 1000 * 2 ** Math.min(beat.failures, 30) } : {},
  ),
  /** Jitter both ways: the interval is no upper bound any more. */
  'interval jittered to later': amended(({ beat, actions }, before, event, _now, random) =>
    event.type === 'ended' && beat.basis !== before.basis
      ? { beat: { ...beat, dueAt: beat.dueAt + beat.timing.interval * 1.5 * random() }, actions }
      : { beat, actions },
  ),
  /** vault #26382: a hot loop. */
  'retries at once': afterFailure((_beat, now) => ({ dueAt: now.mono, lastSentAt: -Infinity })),
  /** A Retry-After is obeyed whatever it costs. */
  'wait not cut short': amended(({ beat, actions }) => ({ beat: { ...beat, latestAt: Infinity }, actions })),
  /** pekko-management #543: the key is what it was at the start. */
  'key read once': acting((action) => (action.type === 'read-key' ? undefined : action)),
  /** The vendor's SDK again: the status is never looked at. */
  'any answer is success': (beat, event, now, random) => {
    const blind: Event =
      event.type === 'ended' && event.outcome.type !== 'failed'
        ? { ...event, outcome: { type: 'accepted' } }
        : event;
    return step(beat, blind, now, random);
  },
  'slow attempts given up at A': timed(({ attemptTimeout }) => ({ attemptLife: attemptTimeout })),
  'nothing is aborted': acting((action) => (action.type === 'abort' ? undefined : action)),
  'no attempt gives way': deaf('evict'),
  /** A GPU that nobody needs burns on. */
  'withheld ones are beaten': deaf('withhold'),
  'withheld for ever': deaf('resume'),
  /** The app is back, and its deployment waits for a beat that would have been due some time. */
  'resumed at its interval': amended(({ beat, actions }, _before, event, now) =>
    event.type === 'resume'
      ? { beat: { ...beat, dueAt: now.mono + beat.timing.interval }, actions }
      : { beat, actions },
  ),
} as const satisfies Record<string, StepFunction>;

export type BrokenEngine = keyof typeof BROKEN_ENGINES;

/** Rate limiters and queues with one mistake each: a scenario that does not notice its mistake proves nothing. */

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

class ComesBackAtOnce extends RateLimiter {
  override opensAt(operation: string, who?: Who, now?: number): number {
    return super.opensAt(operation, who === 'daemon' ? 'call' : who, now);
  }
}

class NeverEarly extends RateLimiter {
  override mayLeaveEarly(): boolean {
    return false;
  }
}

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
