/** From advice to a change, or why there is none: every rule that a change has to pass is here. Pure. */
import type { EndpointGroupParameter } from '../../contract/operations/serverless/endpoint-groups.ts';
import { ENDPOINT_GROUP_PARAMETERS } from '../../contract/operations/serverless/endpoint-groups.ts';
import { ADVISED_PARAMETERS, type Advice, type AdvisedParameter, type AdvisedSet } from '../advice/advice.ts';
import { checkEndpointGroup } from '../rules/check.ts';
import type { Finding } from '../rules/findings.ts';
import type { Bounds } from './bounds.ts';
import { isSame, limitsOf, reachOf } from './reach.ts';
import type { Change, Numbers, Some } from './state.ts';
import { savingOf } from './watch.ts';

/**
 * What may be told to a person is not yet ground to change anything by itself: a model that is off by a quarter, and is
 * asked every six hours, holds some day by chance.
 */
const MOST_BACKTEST_ERROR = 0.15;
/** What is to be saved, in what the model is off by: less of it may as well be nothing. */
const LEAST_SAVING = 0.5;

export interface Circumstances {
  readonly nowMs: number;
  readonly endpointId: number;
  readonly bounds: Bounds;
  readonly parameters: Numbers;
  /** Units/s that one worker was measured to do; undefined while none was. */
  readonly workerPerformance: number | undefined;
  readonly stepFactor: number;
}

/** @returns The change, ready to be written down; or why nothing is changed, in words. */
export function propose(advice: Advice, around: Circumstances, id: number): Change | string {
  const { bounds, parameters, nowMs, endpointId, workerPerformance, stepFactor } = around;
  const { backtest, today, best, limitSeconds, verdict, sentence } = advice;
  if (!backtest?.held) return 'the model does not reproduce what was recorded: nothing is changed upon it';
  if (backtest.errorRatio > MOST_BACKTEST_ERROR) {
    const [off, most] = [backtest.errorRatio, MOST_BACKTEST_ERROR].map(percent);
    return `the model is off by ${off}: nothing is changed upon more than ${most}`;
  }
  if (verdict !== 'change' || !today || !best) return sentence;
  if (!isOf(today.parameters, parameters)) return 'the advice is of other parameters than are set now';
  const saving = savingOf({ costBefore: today.costPerHour, costAfter: best.costPerHour });
  if (!(saving > 0)) return 'the advised set is predicted to be dearer';
  if (saving < LEAST_SAVING * backtest.errorRatio) {
    const [less, off] = [saving, backtest.errorRatio].map(percent);
    return `the advised set is predicted to cost ${less} less, by a model that is off by ${off}: nothing is changed upon it`;
  }
  if (!(best.p99Seconds.mean <= limitSeconds)) return 'the advised set is predicted to miss the limit';
  const reach = reachOf(parameters, bounds, workerPerformance, stepFactor);
  const to: Partial<Record<AdvisedParameter, number>> = {};
  const from: Partial<Record<AdvisedParameter, number>> = {};
  for (const name of ADVISED_PARAMETERS) {
    const value = best.parameters[name];
    if (isSame(value, today.parameters[name])) continue;
    const span = reach[name];
    if (!bounds[name]) return `the advised set moves ${name}, which no bounds name`;
    if (parameters[name] === undefined)
      return `the advised set moves ${name}, which the service does not tell`;
    if (!span)
      return `${name} is ${today.parameters[name]}, and one step does not bring it inside its bounds`;
    if (value < span.least - 1e-9 || value > span.most + 1e-9)
      return `${name} ${value} is more than one step away`;
    [to[name], from[name]] = [value, today.parameters[name]];
  }
  if (Object.keys(to).length === 0) return sentence;
  const finding = newFinding(parameters, to, workerPerformance);
  if (finding) return `a rule is against it: ${finding.parameter}: ${finding.message}`;
  return {
    id,
    atMs: nowMs,
    endpointId,
    why: sentence,
    from,
    to,
    limits: limitsOf(to, reach),
    expected: {
      costBefore: today.costPerHour,
      costAfter: best.costPerHour,
      p99Before: today.p99Seconds,
      p99After: best.p99Seconds,
      limitSeconds,
      backtestError: backtest.errorRatio,
    },
    phase: 'sending',
    setMs: undefined,
    because: undefined,
    refused: undefined,
    came: undefined,
    outcome: undefined,
    endedMs: undefined,
  };
}

function percent(share: number): string {
  return `${Math.round(share * 100)}%`;
}

/** As far as they are told. */
function isOf(set: AdvisedSet, parameters: Numbers): boolean {
  return ADVISED_PARAMETERS.every((name) => isSame(set[name], parameters[name] ?? set[name]));
}

/** An error, or a warning that today's set does not have as well. */
function newFinding(parameters: Numbers, to: Some, performance: number | undefined): Finding | undefined {
  const facts = performance === undefined ? {} : { workerPerformance: performance };
  const findingsOf = (numbers: Numbers) =>
    checkEndpointGroup(groupOf(numbers), facts).findings.filter(({ severity }) => severity !== 'note');
  const known = new Set(findingsOf(parameters).map(({ rule }) => rule));
  return findingsOf({ ...parameters, ...to }).find(
    ({ rule, severity }) => severity === 'error' || !known.has(rule),
  );
}

function groupOf(numbers: Numbers): Partial<Record<EndpointGroupParameter, number>> {
  return Object.fromEntries(
    ENDPOINT_GROUP_PARAMETERS.flatMap((name) => (numbers[name] === undefined ? [] : [[name, numbers[name]]])),
  );
}
