/**
 * What steering does for one endpoint, each minute: a function of what it knows, what is seen, and the time. It sends
 * nothing by itself. Whoever carries it out stores the state first, and sends only what was stored:
 *
 * 1. A change that is under way is settled before anything else, and the duty to put old values back waits for nothing.
 * 2. Something new moves only where nothing speaks against it, and advice is asked for only then.
 */
import type { Advice, AdvisedParameter } from '../advice/advice.ts';
import type { Bounds } from './bounds.ts';
import { troubleIn } from './evidence.ts';
import type { Minute } from './minutes.ts';
import { propose } from './propose.ts';
import { reachOf, STEP_FACTOR } from './reach.ts';
import { IGNORED, settle } from './settle.ts';
import {
  isUnderWay,
  notAhead,
  type Numbers,
  type Pause,
  type PauseReason,
  type Some,
  type SteeringState,
} from './state.ts';
import { TRIAL_MS, WATCH_MS } from './watch.ts';

/** Between two changes, ms; advice is as old at most. */
export const CHANGE_EVERY_MS = TRIAL_MS;

export interface Seen {
  readonly nowMs: number;
  /** Which endpoint it is: another one may come to its name. */
  readonly endpointId: number;
  /** Since when this process steers, Unix ms. */
  readonly sinceMs: number;
  /** Of this endpoint; empty: nothing of it may move. */
  readonly bounds: Bounds;
  /** As far as the service tells them just now; undefined: it did not answer. */
  readonly parameters: Numbers | undefined;
  /** Whether the endpoint runs. */
  readonly isActive: boolean;
  /** The last EVIDENCE_MS of the history. */
  readonly minutes: readonly Minute[];
  /** The newest there is. */
  readonly advice: Advice | undefined;
  readonly workerPerformance: number | undefined;
}

export interface Decision {
  readonly state: SteeringState;
  /** What to send to the service once the state is stored. */
  readonly send: Some | undefined;
  /** Nothing but the lack of advice keeps it from moving. */
  readonly wantsAdvice: boolean;
  /** Why nothing new moves, in words; undefined where something does. */
  readonly holds: string | undefined;
}

/** @param stepFactor For tests that prove that a longer step is noticed */
export function decide(state: SteeringState, seen: Seen, stepFactor = STEP_FACTOR): Decision {
  const { parameters, nowMs } = seen;
  const settled = settle(notAhead(state, nowMs), seen);
  const { change, odd } = settled.state;
  if (odd) return hold(settled.state, 'the parameters are not as last set or read: they are read once more');
  if (isUnderWay(change)) return { ...hold(settled.state, PHASE_WORDS[change.phase]), send: settled.send };
  if (!parameters) return hold(settled.state, 'the parameters could not be read');
  return move(settled.state, seen, parameters, stepFactor);
}

const PHASE_WORDS = {
  sending: 'a change is being sent',
  watching: 'a change is on trial',
  returning: 'old values are being put back',
  over: '',
} as const;

const PAUSE_WORDS: Readonly<Record<PauseReason, string>> = {
  change: 'the last change is not six hours old',
  'rolled back': 'a change was taken back',
  'a hand': 'somebody changed parameters',
};

function pauseWords({ for: reason, untilMs }: Pause): string {
  const until = new Date(untilMs).toISOString().slice(0, 16).replace('T', ' ');
  return `${PAUSE_WORDS[reason]}: nothing moves before ${until} UTC`;
}

function move(state: SteeringState, seen: Seen, parameters: Numbers, stepFactor: number): Decision {
  const { nowMs, endpointId, advice, bounds, workerPerformance } = seen;
  const against = standsAgainst(state, seen) ?? beyondReach(parameters, seen, stepFactor);
  if (against !== undefined) return hold(state, against);
  // One of the future is of a clock that was set back since.
  if (!advice || Math.abs(nowMs - advice.atMs) >= CHANGE_EVERY_MS) {
    return { ...hold(state, 'advice is awaited'), wantsAdvice: true };
  }
  const around = { nowMs, endpointId, bounds, parameters, workerPerformance, stepFactor };
  const proposed = propose(advice, around, (state.change?.id ?? 0) + 1);
  if (typeof proposed === 'string') return hold(state, proposed);
  const pause = { untilMs: nowMs + CHANGE_EVERY_MS, for: 'change' } as const;
  return {
    state: { ...state, baseline: parameters, endpointId, pause, change: proposed },
    send: proposed.to,
    wantsAdvice: false,
    holds: undefined,
  };
}

function standsAgainst(
  { pause }: SteeringState,
  { nowMs, sinceMs, bounds, minutes }: Seen,
): string | undefined {
  if (Object.keys(bounds).length === 0) return 'no bounds name any of its parameters';
  if (pause && nowMs < pause.untilMs) return pauseWords(pause);
  if (nowMs - sinceMs < WATCH_MS) return 'nothing moves in the first hour after a start';
  return troubleIn(minutes, nowMs);
}

/** Where no parameter that bounds name can get inside them by one step, no advice could move any. */
function beyondReach(
  parameters: Numbers,
  { bounds, workerPerformance }: Seen,
  stepFactor: number,
): string | undefined {
  const reach = reachOf(parameters, bounds, workerPerformance, stepFactor);
  const names = Object.keys(bounds) as AdvisedParameter[];
  if (names.some((name) => reach[name])) return undefined;
  const told = names.filter((name) => parameters[name] !== undefined);
  if (told.length === 0) return `the service does not tell ${names.join(', ')}`;
  const words = told.map((name) => `${name} is ${parameters[name]}`).join(', ');
  return `${words}: one step does not bring any of it inside its bounds`;
}

function hold(state: SteeringState, holds: string): Decision {
  return { state, send: undefined, wantsAdvice: false, holds };
}

/** `taken`: it said so. `refused`: it said no. `unknown`: it said nothing, and may have taken it. */
export interface Answer {
  readonly kind: 'taken' | 'refused' | 'unknown';
  /** What it said. */
  readonly words: string;
}

/**
 * The service answered what was sent, or did not. Neither yes nor no is believed: a gateway says no to what has arrived, a
 * list is behind a yes. What came of it is read at the next looks.
 */
export function answered(state: SteeringState, { kind, words }: Answer, nowMs: number): SteeringState {
  const { change } = state;
  if (!isUnderWay(change)) return state;
  const isTaken = kind === 'taken';
  switch (change.phase) {
    case 'sending':
      if (kind === 'unknown') return state;
      return { ...state, change: { ...change, ...(isTaken ? { setMs: nowMs } : { because: words }) } };
    case 'returning': {
      const isIgnored = isTaken && change.refused?.words === IGNORED;
      const none = isIgnored ? change.refused : undefined;
      const refused = isTaken ? none : { sinceMs: change.refused?.sinceMs ?? nowMs, words };
      return { ...state, change: { ...change, refused } };
    }
    default:
      return state;
  }
}
