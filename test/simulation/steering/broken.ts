/** Steering with one rule broken each: a promise that does not notice proves nothing. */
import { decide, type Decision, type Seen } from '../../../src/scaling/autotune/decide.ts';
import type { SteeringState } from '../../../src/scaling/autotune/state.ts';
import { STEERING, type Steering } from './steered.ts';

/** What was to go back stays, as if its hour had been fine. */
function withoutRollback(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const decision = decide(state, seen, stepFactor);
  const { change } = decision.state;
  if (change?.phase !== 'returning') return decision;
  const kept = { ...change, phase: 'over', outcome: 'kept', endedMs: seen.nowMs } as const;
  return { ...decision, send: undefined, state: { ...decision.state, pause: state.pause, change: kept } };
}

function withoutPause(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const { advice, nowMs } = seen;
  const impatient = advice && nowMs - advice.atMs > 10 * 60_000 ? undefined : advice;
  return decide({ ...state, pause: undefined }, { ...seen, advice: impatient }, stepFactor);
}

/** Advice that does not care how long requests wait: what the first hour is there for. */
export const RECKLESS: Steering = {
  ...STEERING,
  advise: (question) => STEERING.advise({ ...question, limitSeconds: Infinity }),
};

export const BROKEN = {
  'no rollback': { ...RECKLESS, decide: withoutRollback },
  'no pause': { ...STEERING, decide: withoutPause },
  'no backtest gate': { ...STEERING, advise: (question) => STEERING.advise({ ...question, gate: false }) },
  'factor 10': { ...STEERING, stepFactor: 10 },
} as const satisfies Record<string, Steering>;
