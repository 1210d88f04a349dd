import { setTimeout as sleep } from 'node:timers/promises';
import { PilotlightError } from '../contract/pilotlight-error.ts';

export interface Clock {
  now(): number;
  /** Rejects at once with the signal's reason when it aborts. */
  sleep(ms: number, signal: AbortSignal): Promise<void>;
}

export const systemClock: Clock = {
  now: () => Date.now(),
  sleep: (ms, signal) => sleep(ms, undefined, { signal }),
};

export class NoAnswer extends PilotlightError {
  readonly code = 'no_answer';
  readonly actor = 'service';
}

/** Without a reason, an AbortController makes an error with a stack for each poll. */
const OVER = Symbol('over');

/** Runs something that may never answer. When `signal` aborts or the time is up, it rejects and aborts. */
export async function within<Answer>(
  clock: Clock,
  ms: number,
  signal: AbortSignal,
  run: (signal: AbortSignal) => Promise<Answer>,
): Promise<Answer> {
  const over = new AbortController();
  const either = AbortSignal.any([signal, over.signal]);
  const overdue = clock.sleep(ms, either).then(() => {
    throw new NoAnswer(`no answer within ${ms} ms`);
  });
  try {
    return await Promise.race([run(either), overdue]);
  } finally {
    over.abort(OVER);
  }
}
