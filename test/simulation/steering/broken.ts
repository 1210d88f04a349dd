/** Steering with one rule broken each: a promise that does not notice proves nothing. */
import type { Advice, AdvisedSet } from '../../../src/scaling/advice/advice.ts';
import { decide, type Decision, type Seen } from '../../../src/scaling/autotune/decide.ts';
import type { SteeringState } from '../../../src/scaling/autotune/state.ts';
import { setOf, type Question } from './advisor.ts';
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

/** Advice that calls the dearest set that is in reach the cheaper one: what the first hour is there for. */
function reckless(question: Question): Advice {
  const { nowMs, parameters, reach, limitSeconds } = question;
  const today = setOf(parameters);
  const dear = { target_util: reach.target_util?.least, min_load: reach.min_load?.most };
  const best = {
    ...today,
    ...Object.fromEntries(Object.entries(dear).filter(([, value]) => value !== undefined)),
  };
  const prediction = (set: AdvisedSet, cost: number) => ({
    parameters: set,
    costPerHour: { mean: cost, low: cost, high: cost },
    p99Seconds: { mean: 0, low: 0, high: 0 },
    peakHotWorkers: 0,
    meanHotWorkers: 0,
  });
  return {
    endpoint: 'chat',
    atMs: nowMs,
    fromMs: 0,
    toMs: nowMs,
    limitSeconds,
    verdict: 'change',
    sentence: 'it is cheaper',
    backtest: { errorRatio: 0, held: true },
    today: prediction(today, 2),
    best: prediction(best, 1),
  };
}

export const RECKLESS: Steering = { ...STEERING, advise: reckless };

export const BROKEN = {
  'no rollback': { ...RECKLESS, decide: withoutRollback },
  'no pause': { ...STEERING, decide: withoutPause },
  'no backtest gate': { ...STEERING, advise: (question) => STEERING.advise({ ...question, gate: false }) },
  'factor 10': { ...STEERING, stepFactor: 10 },
} as const satisfies Record<string, Steering>;
