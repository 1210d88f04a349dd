/** What a look at the service says of the change that is under way, and of a person's hand. Pure. */
import type { AdvisedParameter } from '../advice/advice.ts';
import { experienceOf } from './experience.ts';
import { priceOf, type Minute } from './minutes.ts';
import { isSame } from './reach.ts';
import {
  isUnderWay,
  LONG_PAUSE_MS,
  pauseAfter,
  type Change,
  type Numbers,
  type Some,
  type SteeringState,
} from './state.ts';
import { judge } from './watch.ts';

/** A request that nobody heard of may still arrive for so long, and a list be behind, ms. */
const ARRIVES_WITHIN_MS = 120_000;
/** By less a clock is set again and again, ms. */
const CLOCK_STEP_MS = 120_000;
/** A service that rounds, or keeps single precision, has what was sent as near as this share of the step. */
const NEAR = 0.1;

export interface Look {
  readonly nowMs: number;
  readonly endpointId: number;
  /** As the service has them. */
  readonly parameters: Numbers;
  /** The last day and hour, by the minute. */
  readonly minutes: readonly Minute[];
}

export interface Settled {
  readonly state: SteeringState;
  /** To be sent once the state is stored: old values go back. */
  readonly send: Some | undefined;
}

/** Nothing of it begins anything new: it ends what is under way, or puts the old values back. */
export function settle(known: SteeringState, look: Look): Settled {
  const { odd, change, baseline } = known;
  const state = odd ? { ...known, odd: undefined } : known;
  const { parameters, endpointId } = look;
  if (!baseline) return { state: { ...state, baseline: parameters }, send: undefined };
  if (isUnderWay(change) && endpointId !== (change.endpointId ?? endpointId)) {
    return handOf(state, look, `its name is another endpoint's now: ${endpointId}, not ${change.endpointId}`);
  }
  if (isExplained(parameters, baseline, change)) {
    return isUnderWay(change) ? settleChange(state, change, look) : { state, send: undefined };
  }
  // A list may be behind, or leave something out, once.
  if (!odd || !matches(odd, parameters)) return { state: { ...state, odd: parameters }, send: undefined };
  return handOf(state, look, 'somebody changed the parameters');
}

function settleChange(state: SteeringState, change: Change, look: Look): Settled {
  switch (change.phase) {
    case 'sending':
      return settleSending(state, change, look);
    case 'watching':
      return settleWatching(state, change, look);
    case 'returning':
      return settleReturning(state, change, look);
    case 'over':
      return { state, send: undefined };
  }
}

/** Whether it arrived is read back: the answer proves nothing, and this process may be another than the one that sent it. */
function settleSending(state: SteeringState, change: Change, look: Look): Settled {
  const { parameters, nowMs } = look;
  const names = Object.keys(change.to) as AdvisedParameter[];
  if (names.every((name) => hasArrived(change, name, parameters[name]))) {
    const to = Object.fromEntries(names.map((name) => [name, parameters[name]]));
    const setMs = change.setMs ?? change.atMs;
    const here: Change = { ...change, to, phase: 'watching', setMs, because: undefined };
    return settle({ ...state, baseline: parameters, change: here }, look);
  }
  if (!has(parameters, change.from)) return goBack(state, change, 'only a part of it arrived', look);
  const isOverdue = nowMs - change.atMs >= ARRIVES_WITHIN_MS;
  return { state: isOverdue ? notArrived(state, change, nowMs) : state, send: undefined };
}

/** As near as a service that rounds has it, and no nearer to the old value. */
function hasArrived(
  { from, to }: Change,
  name: AdvisedParameter,
  value: number | undefined = Number.NaN,
): boolean {
  const [old, sent] = [from[name] ?? Number.NaN, to[name] ?? Number.NaN];
  return isSame(value, sent) || Math.abs(value - sent) <= NEAR * Math.abs(sent - old);
}

function settleWatching(state: SteeringState, change: Change, look: Look): Settled {
  const { minutes, nowMs } = look;
  const setMs = change.setMs ?? change.atMs;
  if (setMs - nowMs > CLOCK_STEP_MS)
    return goBack(state, change, 'the clock was set back, so what comes of it cannot be told', look);
  const came = experienceOf(minutes, setMs, nowMs);
  const verdict = judge({
    came,
    expected: change.expected,
    lastedMs: nowMs - setMs,
    price: priceOf(minutes),
  });
  if (verdict.kind === 'go on') return { state, send: undefined };
  if (verdict.kind === 'go back') return goBack(state, { ...change, came }, verdict.because, look);
  const kept: Change = { ...change, came, phase: 'over', outcome: 'kept', endedMs: nowMs };
  return { state: { ...state, change: kept, takenBack: undefined }, send: undefined };
}

/** It waits for no pause, and goes on until the service has the old values, whoever sends them. */
function settleReturning(state: SteeringState, change: Change, { parameters, nowMs }: Look): Settled {
  if (!has(parameters, change.from)) return { state, send: change.from };
  const over: Change = { ...change, phase: 'over', outcome: 'rolled_back', endedMs: nowMs };
  const takenBack = (state.takenBack ?? 0) + 1;
  const pause = { untilMs: nowMs + pauseAfter(takenBack), for: 'rolled back' } as const;
  return { state: { ...state, pause, takenBack, change: over, baseline: parameters }, send: undefined };
}

function goBack(state: SteeringState, change: Change, because: string, { nowMs }: Look): Settled {
  const returning: Change = { ...change, phase: 'returning', because };
  const pause = { untilMs: nowMs + LONG_PAUSE_MS, for: 'rolled back' } as const;
  return { state: { ...state, pause, change: returning }, send: change.from };
}

/** What somebody else has set is the new baseline, and wins over a change that is under way. */
function handOf(state: SteeringState, { parameters, nowMs, minutes }: Look, because: string): Settled {
  const { change } = state;
  const pause = { untilMs: nowMs + LONG_PAUSE_MS, for: 'a hand' } as const;
  const after = { ...state, pause, takenBack: undefined, baseline: parameters };
  if (!isUnderWay(change)) return { state: after, send: undefined };
  const overruled: Change = {
    ...change,
    came:
      change.came ?? (change.setMs === undefined ? undefined : experienceOf(minutes, change.setMs, nowMs)),
    phase: 'over',
    outcome: 'overruled',
    because,
    endedMs: nowMs,
  };
  return { state: { ...after, change: overruled }, send: undefined };
}

function notArrived(state: SteeringState, change: Change, nowMs: number): SteeringState {
  const { because, setMs } = change;
  const why =
    setMs === undefined
      ? 'it was not sent, or not answered, and the service does not have it'
      : 'the service said that it took it, and does not have it';
  const over = { ...change, phase: 'over', endedMs: nowMs, setMs: undefined } as const;
  return {
    ...state,
    change:
      because === undefined
        ? { ...over, outcome: 'lost', because: why }
        : { ...over, outcome: 'refused', because },
  };
}

/**
 * Nobody but steering has touched it: what a change moves has its old or its new value, or, once that was read to be in
 * force, its new one until the old ones go back; all others stay.
 */
function isExplained(parameters: Numbers, baseline: Numbers, change: Change | undefined): boolean {
  if (!isUnderWay(change)) return matches(parameters, baseline);
  const { from, to, phase } = change;
  const others = (numbers: Numbers) =>
    Object.fromEntries(Object.entries(numbers).filter(([name]) => !(name in to)));
  const is = (name: AdvisedParameter, value = Number.NaN) => isSame(parameters[name] ?? Number.NaN, value);
  // On trial it is known what the service made of it: what is only near is a hand.
  const isEither = (name: AdvisedParameter) =>
    phase === 'watching'
      ? is(name, to[name])
      : hasArrived(change, name, parameters[name]) || is(name, from[name]);
  return (
    matches(others(parameters), others(baseline)) && (Object.keys(to) as AdvisedParameter[]).every(isEither)
  );
}

function has(parameters: Numbers, some: Some): boolean {
  return Object.entries(some).every(([name, value]) => isSame(parameters[name] ?? Number.NaN, value));
}

function matches(one: Numbers, other: Numbers): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name] ?? Number.NaN, other[name] ?? Number.NaN));
}
