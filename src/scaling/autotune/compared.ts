/** What the service has, beside what was set and what was read before: whether somebody else has changed anything. Pure. */
import type { AdvisedParameter } from '../advice/advice.ts';
import { isSame } from './reach.ts';
import { isUnderWay, type Change, type Numbers, type Some, type SteeringState } from './state.ts';

/** A service that rounds, or keeps single precision, has what was sent as near as this share of the step. */
const NEAR = 0.1;

/** As near as a service that rounds has it, and no nearer to the old value. */
export function hasArrived(
  { from, to }: Change,
  name: AdvisedParameter,
  value: number | undefined = Number.NaN,
): boolean {
  const [old, sent] = [from[name] ?? Number.NaN, to[name] ?? Number.NaN];
  return isSame(value, sent) || Math.abs(value - sent) <= NEAR * Math.abs(sent - old);
}

/**
 * The share of its step that a parameter has made: 0 at its old value, 1 at the one that was sent; NaN where it is not told.
 * A service that rounds to its own steps, or keeps to bounds of its own, makes less of a step than was sent, or up to twice
 * as much. What is beyond that was set by somebody else.
 */
export function stepMade(
  { from, to }: Change,
  name: AdvisedParameter,
  value: number | undefined = Number.NaN,
): number {
  const [old, sent] = [from[name] ?? Number.NaN, to[name] ?? Number.NaN];
  return isSame(value, old) ? 0 : (value - old) / (sent - old);
}

/**
 * Nobody but steering has touched what a change moves: it has its old or its new value, or, while it is being sent, what
 * the service may have made of that; once that was read to be in force, it until the old ones go back. What is not told
 * just now may be as it was.
 */
export function isExplained(parameters: Numbers, change: Change): boolean {
  const { from, to, phase } = change;
  return (Object.keys(to) as AdvisedParameter[]).every((name) => {
    const value = parameters[name];
    if (value === undefined) return true;
    const is = (other = Number.NaN) => isSame(value, other);
    // On trial it is known what the service made of it: what is only near is a hand.
    if (phase === 'watching') return is(to[name]);
    if (hasArrived(change, name, value) || is(from[name])) return true;
    const made = stepMade(change, name, value);
    return phase === 'sending' && made > 0 && made < 2;
  });
}

/** Without what a change that is under way moves. */
export function besides(change: Change | undefined, numbers: Numbers): Numbers {
  if (!isUnderWay(change)) return numbers;
  return Object.fromEntries(Object.entries(numbers).filter(([name]) => !(name in change.to)));
}

export function has(parameters: Numbers, some: Some): boolean {
  return Object.entries(some).every(([name, value]) => isSame(parameters[name] ?? Number.NaN, value));
}

/** What only one of them tells is no difference: lists leave something out, and begin to tell it. */
export function matches(one: Numbers, other: Numbers): boolean {
  return Object.entries(one).every(([name, value]) => isSame(value, other[name] ?? value));
}

/** With what is told for the first time; the same state where nothing is. */
export function withNews(state: SteeringState, baseline: Numbers, parameters: Numbers): SteeringState {
  const isNew = Object.keys(parameters).some((name) => baseline[name] === undefined);
  return isNew ? { ...state, baseline: { ...parameters, ...baseline } } : state;
}
