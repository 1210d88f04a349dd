/** What a look at the service says of the change that is under way, and of a person's hand. Pure. */
import type { AdvisedParameter } from '../advice/advice.ts';
import { besides, has, hasArrived, isExplained, matches, stepMade, withNews } from './compared.ts';
import { experienceOf } from './experience.ts';
import { priceOf, type Minute } from './minutes.ts';
import {
  isUnderWay,
  LONG_PAUSE_MS,
  pauseAfter,
  type Change,
  type Experience,
  type Numbers,
  type Outcome,
  type Some,
  type SteeringState,
} from './state.ts';
import { judge, type Verdict } from './watch.ts';

/** A request that nobody heard of may still arrive for so long, and a list be behind, ms. */
const ARRIVES_WITHIN_MS = 120_000;
/** What counts as lost, and is read for so long after it was sent, has come late, ms. */
const ARRIVES_LATE_MS = 3_600_000;
const MAY_BE_LATE: ReadonlySet<Outcome> = new Set(['lost', 'refused', 'overruled']);
/** Old values that are taken, and not there after so long, are ignored, ms. */
const TAKES_WITHIN_MS = 300_000;
export const IGNORED = 'it says that it takes them, and does not have them';
/** By less a clock is set again and again, ms. */
const CLOCK_STEP_MS = 120_000;

export interface Look {
  readonly nowMs: number;
  readonly endpointId: number;
  /** As far as the service tells them; undefined: it did not answer. */
  readonly parameters: Numbers | undefined;
  /** Whether it runs: of what is stopped nothing is seen. */
  readonly isActive: boolean;
  /** The last day and hour, by the minute. */
  readonly minutes: readonly Minute[];
}

type ReadLook = Look & { readonly parameters: Numbers };

export interface Settled {
  readonly state: SteeringState;
  /** To be sent once the state is stored: old values go back. */
  readonly send: Some | undefined;
}

/** Nothing of it begins anything new: it ends what is under way, or puts the old values back. */
export function settle(state: SteeringState, look: Look): Settled {
  const { parameters } = look;
  return parameters ? settleRead(state, { ...look, parameters }) : settleUnread(state, look);
}

/**
 * Harm shows without them too, also of a change that was sent and never read: it may be in force, and where it is not, old
 * values change nothing.
 */
function settleUnread(state: SteeringState, look: Look): Settled {
  const { change } = state;
  const isOurs = isUnderWay(change) && look.endpointId === (change.endpointId ?? look.endpointId);
  if (isOurs && change.phase === 'returning') return { state, send: change.from };
  if (isOurs && (change.phase === 'watching' || change.phase === 'sending')) {
    const { verdict, came } = triedSoFar(change, look);
    if (verdict.kind === 'go back') return goBack(state, { ...change, came }, verdict.because, look);
  }
  return { state, send: undefined };
}

function settleRead(known: SteeringState, look: ReadLook): Settled {
  const { odd, change, baseline } = known;
  const state = odd ? { ...known, odd: undefined } : known;
  const { parameters, endpointId } = look;
  if (!baseline) return { state: { ...state, baseline: parameters, endpointId }, send: undefined };
  const before = isUnderWay(change) ? change.endpointId : known.endpointId;
  if (endpointId !== (before ?? endpointId))
    return handOf(state, look, `its name is another endpoint's now: ${endpointId}, not ${before}`);
  const isElsewhere = !matches(besides(change, parameters), besides(change, baseline));
  const isMoved = isUnderWay(change) && !isExplained(parameters, change);
  if (!isElsewhere && !isMoved) {
    const after = withNews(state, baseline, parameters);
    return isUnderWay(change) ? settleChange(after, change, look) : { state: after, send: undefined };
  }
  const late = arrivedLate(state, baseline, look);
  if (late) return settleRead(late, look);
  // A list may be behind, or leave something out, once.
  if (!odd || !matches(odd, parameters)) return { state: { ...state, odd: parameters }, send: undefined };
  if (isUnderWay(change) && !isMoved) return settleChange(handBeside(state, change, look), change, look);
  return handOf(state, look, 'somebody changed the parameters');
}

function settleChange(state: SteeringState, change: Change, look: ReadLook): Settled {
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
function settleSending(state: SteeringState, change: Change, look: ReadLook): Settled {
  const { parameters, nowMs } = look;
  const names = Object.keys(change.to) as AdvisedParameter[];
  // Not beyond what was sent: bounds and predictions hold up to there.
  const isThere = (name: AdvisedParameter) => {
    const made = stepMade(change, name, parameters[name]);
    return hasArrived(change, name, parameters[name]) || (made > 0 && made <= 1);
  };
  if (names.every(isThere)) {
    const to = Object.fromEntries(names.map((name) => [name, parameters[name]]));
    const setMs = change.setMs ?? change.atMs;
    const here: Change = { ...change, to, phase: 'watching', setMs, because: undefined };
    return settle({ ...state, baseline: parameters, change: here }, look);
  }
  const made = names.filter((name) => !isThere(name) && !has(parameters, { [name]: change.from[name] }));
  if (made.some((name) => parameters[name] !== undefined)) {
    const words = made.map((name) => `${name} ${parameters[name]}`).join(' and ');
    return goBack(state, change, `the service made ${words} of it`, look);
  }
  if (!has(parameters, change.from)) return goBack(state, change, 'only a part of it arrived', look);
  const isOverdue = nowMs - change.atMs >= ARRIVES_WITHIN_MS;
  return { state: isOverdue ? notArrived(state, change, nowMs) : state, send: undefined };
}

function settleWatching(state: SteeringState, change: Change, look: Look): Settled {
  if (!look.isActive)
    return goBack(state, change, 'the endpoint was stopped, so what comes of it cannot be told', look);
  const { verdict, came } = triedSoFar(change, look);
  if (verdict.kind === 'go on') return { state, send: undefined };
  if (verdict.kind === 'go back') return goBack(state, { ...change, came }, verdict.because, look);
  const kept: Change = { ...change, came, phase: 'over', outcome: 'kept', endedMs: look.nowMs };
  return { state: { ...state, change: kept, takenBack: undefined }, send: undefined };
}

function triedSoFar(change: Change, { minutes, nowMs }: Look): { verdict: Verdict; came?: Experience } {
  const setMs = change.setMs ?? change.atMs;
  if (setMs - nowMs > CLOCK_STEP_MS) {
    const because = 'the clock was set back, so what comes of it cannot be told';
    return { verdict: { kind: 'go back', because } };
  }
  const came = experienceOf(minutes, setMs, nowMs);
  const price = priceOf(minutes);
  return { verdict: judge({ came, expected: change.expected, lastedMs: nowMs - setMs, price }), came };
}

/** It waits for no pause, and goes on until the service has the old values, whoever sends them. */
function settleReturning(state: SteeringState, change: Change, { parameters, nowMs }: ReadLook): Settled {
  if (!has(parameters, change.from)) {
    const sinceMs = state.pause?.for === 'rolled back' ? state.pause.untilMs - LONG_PAUSE_MS : nowMs;
    const isIgnored = change.refused === undefined && nowMs - sinceMs >= TAKES_WITHIN_MS;
    const told = isIgnored ? { ...change, refused: { sinceMs, words: IGNORED } } : change;
    return { state: isIgnored ? { ...state, change: told } : state, send: change.from };
  }
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

/** Of what the change does not move: that is the new baseline, and what the change does is watched on. */
function handBeside(state: SteeringState, change: Change, { parameters, nowMs }: ReadLook): SteeringState {
  const pause = { untilMs: nowMs + LONG_PAUSE_MS, for: 'a hand' } as const;
  const moved = Object.entries(state.baseline ?? {}).filter(([name]) => name in change.to);
  return { ...state, pause, baseline: { ...parameters, ...Object.fromEntries(moved) } };
}

/** What somebody else has set is the new baseline, and wins over a change that is under way. */
function handOf(
  state: SteeringState,
  { parameters, endpointId, nowMs, minutes }: ReadLook,
  because: string,
): Settled {
  const { change } = state;
  const pause = { untilMs: nowMs + LONG_PAUSE_MS, for: 'a hand' } as const;
  const after = { ...state, pause, takenBack: undefined, baseline: parameters, endpointId };
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
 * It counts as not taken, or as overruled by a list that had the old values, and is all that has changed since: a list was
 * further behind, or the request on its way.
 */
function arrivedLate(
  state: SteeringState,
  baseline: Numbers,
  { parameters, nowMs, endpointId }: ReadLook,
): SteeringState | undefined {
  const { change } = state;
  if (!change?.outcome || !MAY_BE_LATE.has(change.outcome)) return undefined;
  if (endpointId !== (change.endpointId ?? endpointId)) return undefined;
  const names = Object.keys(change.to) as AdvisedParameter[];
  const isIt =
    nowMs - change.atMs < ARRIVES_LATE_MS &&
    names.every((name) => hasArrived(change, name, parameters[name])) &&
    matches({ ...parameters, ...change.from }, baseline);
  if (!isIt) return undefined;
  const again = { outcome: undefined, endedMs: undefined, because: undefined } as const;
  return { ...state, change: { ...change, ...again, phase: 'sending', setMs: change.atMs } };
}
