/**
 * A change of steering as it is stored. What a duty hangs on is read whole or not at all: an old value that is not known
 * cannot be put back. What only its story tells is left out where it cannot be read, and takes nothing else with it. Pure.
 */
import { isRecord } from '../../contract/is-record.ts';
import {
  OUTCOMES,
  type Change,
  type Expectation,
  type Experience,
  type Numbers,
  type Outcome,
} from '../../scaling/autotune/state.ts';

const PHASES: ReadonlySet<unknown> = new Set<Change['phase']>(['sending', 'watching', 'returning', 'over']);
/** What Date can say, ms to either side of 1970. */
const FURTHEST_MS = 8.64e15;

/** @returns Undefined where it is none. */
export function changeFrom(value: unknown): Change | undefined {
  if (!isRecord(value)) return undefined;
  const { came, expected, outcome, because, endpointId } = value;
  const read = {
    ...value,
    expected: isRecord(expected) ? expectationFrom(expected) : undefined,
    came: isExperience(came) ? came : undefined,
    outcome: isOutcome(outcome) ? outcome : undefined,
    because: isText(because) ? because : undefined,
    // As of one that an older version wrote.
    endpointId: Number.isFinite(endpointId) ? endpointId : undefined,
  };
  return isChange(read) ? read : undefined;
}

/** Unix ms that can be told as a date. */
export function isMoment(value: unknown): boolean {
  return Math.abs(numberFrom(value)) <= FURTHEST_MS;
}

export function isNumbers(value: unknown): value is Numbers {
  return isRecord(value) && Object.values(value).every(Number.isFinite);
}

/** But for what `changeFrom` has seen to. */
function isChange(value: Record<string, unknown>): value is Record<string, unknown> & Change {
  const { id, atMs, why, from, to, limits, expected, phase, setMs = 0, endedMs = 0, refused } = value;
  return (
    Number.isFinite(id) &&
    [atMs, setMs, endedMs].every(isMoment) &&
    (refused === undefined || isRefusal(refused)) &&
    isText(why) &&
    isNumbers(from) &&
    isNumbers(to) &&
    isRecord(limits) &&
    expected !== undefined &&
    PHASES.has(phase)
  );
}

function isRefusal(value: unknown): boolean {
  return isRecord(value) && isMoment(value['sinceMs']) && isText(value['words']);
}

function expectationFrom(value: Record<string, unknown>): Expectation {
  const { costBefore, costAfter, p99Before, p99After, limitSeconds, backtestError } = value;
  return {
    costBefore: estimateFrom(costBefore),
    costAfter: estimateFrom(costAfter),
    p99Before: estimateFrom(p99Before),
    p99After: estimateFrom(p99After),
    limitSeconds: numberFrom(limitSeconds),
    backtestError: numberFrom(backtestError),
  };
}

function estimateFrom(value: unknown): Expectation['costBefore'] {
  const { mean, low, high } = isRecord(value) ? value : {};
  return { mean: numberFrom(mean), low: numberFrom(low), high: numberFrom(high) };
}

/** NaN where it is none, as JSON's null for a number that has no end. */
function numberFrom(value: unknown): number {
  return typeof value === 'number' ? value : Number.NaN;
}

function isExperience(value: unknown): value is Experience {
  if (!isRecord(value)) return false;
  const { minutes, excessMinutes, excessMinutesBefore, errorMinutes, errorMinutesBefore, hours } = value;
  const counted = [minutes, excessMinutes, excessMinutesBefore, errorMinutes, errorMinutesBefore, hours];
  const costs = [value['costPerHour'], value['costPerHourBefore']];
  return counted.every(Number.isFinite) && costs.every((cost) => cost === null || Number.isFinite(cost));
}

function isOutcome(value: unknown): value is Outcome {
  return OUTCOMES.some((outcome) => outcome === value);
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}
