/** Steering with one rule broken each: a promise that does not notice proves nothing. */
import { ADVISED_PARAMETERS, type Advice, type AdvisedSet } from '../../../src/scaling/advice/advice.ts';
import { decide, type Decision, type Seen } from '../../../src/scaling/autotune/decide.ts';
import type { SteeringState } from '../../../src/scaling/autotune/state.ts';
import { WATCH_MS } from '../../../src/scaling/autotune/watch.ts';
import type { Question } from './advisor.ts';
import { STEERING, type Steering } from './steered.ts';

/** What was to go back stays, as if its hour had been fine. */
function withoutRollback(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const decision = decide(state, seen, stepFactor);
  const { change } = decision.state;
  if (change?.phase !== 'returning') return decision;
  const kept = { ...change, phase: 'over', outcome: 'kept', endedMs: seen.nowMs } as const;
  return { ...decision, send: undefined, state: { ...decision.state, pause: state.pause, change: kept } };
}

/** Whose first hour was fine stays. */
function withoutTrial(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const decision = decide(state, seen, stepFactor);
  const { change } = decision.state;
  if (change?.phase !== 'watching' || seen.nowMs - (change.setMs ?? Infinity) < WATCH_MS) return decision;
  const kept = { ...change, phase: 'over', outcome: 'kept', endedMs: seen.nowMs } as const;
  return { ...decision, state: { ...decision.state, change: kept } };
}

function withoutPause(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const { advice, nowMs } = seen;
  const impatient = advice && nowMs - advice.atMs > 10 * 60_000 ? undefined : advice;
  return decide({ ...state, pause: undefined }, { ...seen, advice: impatient }, stepFactor);
}

/** Goes by advice as if its backtest had held exactly; the journal still says how far it was off. */
function withoutGate(state: SteeringState, seen: Seen, stepFactor?: number): Decision {
  const { advice } = seen;
  const backtest = { errorRatio: 0, held: true };
  const decision = decide(state, { ...seen, advice: advice && { ...advice, backtest } }, stepFactor);
  const { change } = decision.state;
  if (!change || change === state.change) return decision;
  const expected = { ...change.expected, backtestError: advice?.backtest?.errorRatio ?? Infinity };
  return { ...decision, state: { ...decision.state, change: { ...change, expected } } };
}

/** Advice that calls the dearest set that is in reach the cheaper one: what a trial is there for. */
function reckless(question: Question, backtestError = 0): Promise<Advice> {
  const { nowMs, parameters, reach, limitSeconds } = question;
  const today = Object.fromEntries(ADVISED_PARAMETERS.map((name) => [name, parameters[name]])) as AdvisedSet;
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
  return Promise.resolve({
    endpoint: 'chat',
    atMs: nowMs,
    fromMs: 0,
    toMs: nowMs,
    limitSeconds,
    verdict: 'change',
    sentence: 'it is cheaper',
    backtest: { errorRatio: backtestError, held: true },
    today: prediction(today, 2),
    best: prediction(best, 1),
  });
}

export const RECKLESS: Steering = { ...STEERING, advise: (question) => reckless(question) };

export const BROKEN = {
  'no rollback': { ...RECKLESS, decide: withoutRollback },
  'no trial': { ...RECKLESS, decide: withoutTrial },
  'no pause': { ...RECKLESS, decide: withoutPause },
  'no backtest gate': { ...STEERING, decide: withoutGate, advise: (question) => reckless(question, 0.4) },
  'factor 10': { ...RECKLESS, stepFactor: 10 },
} as const satisfies Record<string, Steering>;
