/** What a look at the service says of the change that is under way, and of a person's hand. Pure. */
import type { AdvisedParameter } from '../advice/advice.ts';
import { experienceOf, priceOf, type Minute } from './evidence.ts';
import { isSame } from './reach.ts';
import {
  isUnderWay,
  LONG_PAUSE_MS,
  type Change,
  type Numbers,
  type PauseReason,
  type Some,
  type SteeringState,
} from './state.ts';
import { judge } from './watch.ts';

/** A request that nobody heard of may still arrive for so long, ms. */
const ARRIVES_WITHIN_MS = 120_000;

export interface Look {
  readonly nowMs: number;
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
export function settle(state: SteeringState, look: Look): Settled {
  const { change, baseline } = state;
  const { parameters } = look;
  if (!baseline) return { state: { ...state, baseline: parameters }, send: undefined };
  if (!isUnderWay(change)) {
    return matches(parameters, baseline) ? { state, send: undefined } : handOf(state, look);
  }
  if (!isOurs(parameters, baseline, change)) return handOf(state, look);
  switch (change.phase) {
    case 'sending':
      return settleSending(state, change, look);
    case 'watching':
      return has(parameters, change.to) ? settleWatching(state, change, look) : handOf(state, look);
    case 'returning':
      return settleReturning(state, change, look);
    case 'over':
      return { state, send: undefined };
  }
}

/** Whether it arrived is read back: its answer may be lost, and this process may be another than the one that sent it. */
function settleSending(state: SteeringState, change: Change, look: Look): Settled {
  const { parameters, nowMs } = look;
  if (has(parameters, change.to)) return settle(arrived(state, change, change.atMs, parameters), look);
  if (!has(parameters, change.from)) return goBack(state, change, 'only a part of it arrived', look);
  const isOverdue = nowMs - change.atMs >= ARRIVES_WITHIN_MS;
  return { state: isOverdue ? lost(state, change, nowMs) : state, send: undefined };
}

function settleWatching(state: SteeringState, change: Change, look: Look): Settled {
  const { minutes, nowMs } = look;
  const setMs = change.setMs ?? change.atMs;
  const came = experienceOf(minutes, setMs, nowMs);
  const verdict = judge(came, nowMs - setMs, priceOf(minutes));
  if (verdict.kind === 'go on') return { state, send: undefined };
  if (verdict.kind === 'go back') return goBack(state, { ...change, came }, verdict.because, look);
  const kept: Change = { ...change, came, phase: 'over', outcome: 'kept', endedMs: nowMs };
  return { state: { ...state, change: kept }, send: undefined };
}

/** It waits for no pause, and goes on until the service has the old values, whoever sends them. */
function settleReturning(state: SteeringState, change: Change, { parameters, nowMs }: Look): Settled {
  if (!has(parameters, change.from)) return { state, send: change.from };
  const over: Change = { ...change, phase: 'over', outcome: 'rolled_back', endedMs: nowMs };
  return {
    state: { ...paused(state, nowMs, 'rolled back'), change: over, baseline: parameters },
    send: undefined,
  };
}

function goBack(state: SteeringState, change: Change, because: string, { nowMs }: Look): Settled {
  const returning: Change = { ...change, phase: 'returning', because };
  return { state: { ...paused(state, nowMs, 'rolled back'), change: returning }, send: change.from };
}

/** What somebody else has set is the new baseline, and wins over a change that is under way. */
function handOf(state: SteeringState, { parameters, nowMs, minutes }: Look): Settled {
  const { change } = state;
  const after = { ...paused(state, nowMs, 'a hand'), baseline: parameters };
  if (!isUnderWay(change)) return { state: after, send: undefined };
  const overruled: Change = {
    ...change,
    came:
      change.came ?? (change.setMs === undefined ? undefined : experienceOf(minutes, change.setMs, nowMs)),
    phase: 'over',
    outcome: 'overruled',
    because: 'somebody changed the parameters',
    endedMs: nowMs,
  };
  return { state: { ...after, change: overruled }, send: undefined };
}

/** It is in force. */
export function arrived(
  state: SteeringState,
  change: Change,
  setMs: number,
  parameters: Numbers = { ...state.baseline, ...change.to },
): SteeringState {
  return { ...state, baseline: parameters, change: { ...change, phase: 'watching', setMs } };
}

function lost(state: SteeringState, change: Change, nowMs: number): SteeringState {
  const because = 'it was not sent, or not answered, and the service does not have it';
  return { ...state, change: { ...change, phase: 'over', outcome: 'lost', because, endedMs: nowMs } };
}

function paused(state: SteeringState, nowMs: number, reason: PauseReason): SteeringState {
  const untilMs = Math.max(nowMs + LONG_PAUSE_MS, state.pause?.untilMs ?? 0);
  return { ...state, pause: { untilMs, for: reason } };
}

/** Nobody but steering has touched it: each value that the change moves is its old or its new one, all others stay. */
function isOurs(parameters: Numbers, baseline: Numbers, { from, to }: Change): boolean {
  const others = (numbers: Numbers) =>
    Object.fromEntries(Object.entries(numbers).filter(([name]) => !(name in to)));
  const names = Object.keys(to) as AdvisedParameter[];
  const isEither = (name: AdvisedParameter) =>
    [from[name], to[name]].some(
      (value) => value !== undefined && isSame(parameters[name] ?? Number.NaN, value),
    );
  return matches(others(parameters), others(baseline)) && names.every(isEither);
}

function has(parameters: Numbers, some: Some): boolean {
  return Object.entries(some).every(([name, value]) => isSame(parameters[name] ?? Number.NaN, value));
}

function matches(one: Numbers, other: Numbers): boolean {
  const names = new Set([...Object.keys(one), ...Object.keys(other)]);
  return [...names].every((name) => isSame(one[name] ?? Number.NaN, other[name] ?? Number.NaN));
}
