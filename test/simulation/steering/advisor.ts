/**
 * An advisor for steered worlds: the planner over the requests that were recorded, as `pilotlight plan --trace` does it. It
 * goes by what it believes of the workers, which is the truth or not, and tests itself back as the real one does.
 */
import type { Advice, AdvisedSet, Estimate } from '../../../src/scaling/advice/advice.ts';
import type { Minute } from '../../../src/scaling/autotune/evidence.ts';
import { HOUR_MS } from '../../../src/scaling/autotune/evidence.ts';
import type { Reach } from '../../../src/scaling/autotune/reach.ts';
import { searchStep } from '../../../src/scaling/autotune/step-search.ts';
import { RecordedLoad, type Arrival } from '../../../src/scaling/planner/load/load.ts';
import { Simulation } from '../../../src/scaling/planner/model/simulation.ts';
import type { PlanSettings } from '../../../src/scaling/planner/settings.ts';
import type { ResolvedParameters } from '../../../src/scaling/rules/findings.ts';

export interface Question {
  readonly nowMs: number;
  readonly parameters: ResolvedParameters;
  /** Since when these are set, Unix ms: what is tested back. */
  readonly sinceMs: number;
  readonly reach: Reach;
  readonly limitSeconds: number;
  readonly believed: PlanSettings;
  /** What was recorded: requests, and minutes. */
  readonly arrivals: readonly Arrival[];
  readonly minutes: readonly Minute[];
  /** false: says that the backtest held, whatever it found. For what breaks steering on purpose. */
  readonly gate?: boolean;
}

/** Less of a gain is not worth a change. */
const LEAST_GAIN = 0.02;
const MOST_ERROR = 0.25;
/** Tested back over so long at most, ms. */
const BACKTEST_MS = 24 * HOUR_MS;

export function adviseIn(question: Question): Advice {
  const { nowMs, parameters, believed, reach, limitSeconds, arrivals } = question;
  const errorRatio = backtestError(question);
  const held = errorRatio <= MOST_ERROR || question.gate === false;
  const fromMs = Math.floor((arrivals[0]?.atSeconds ?? 0) / 60) * 60_000;
  const base = {
    endpoint: 'chat',
    atMs: nowMs,
    fromMs,
    toMs: nowMs,
    limitSeconds,
    backtest: { errorRatio, held },
  };
  if (!held) {
    return {
      ...base,
      verdict: 'declined',
      sentence: 'the backtest did not hold',
      today: undefined,
      best: undefined,
    };
  }
  const load = RecordedLoad.of(
    arrivals.map(({ atSeconds, work }) => ({ atSeconds: atSeconds - fromMs / 1000, work })),
  );
  const seconds = (nowMs - fromMs) / 1000;
  const slower = {
    ...believed,
    startSeconds: 2 * believed.startSeconds,
    coldStartSeconds: 2 * believed.coldStartSeconds,
  };
  const evaluate = (set: AdvisedSet) => {
    const { cost, queueTime } = run({ ...parameters, ...set }, believed, load, seconds);
    if (queueTime.p99 > limitSeconds) return { cost: cost.perHour, p99Seconds: queueTime.p99 };
    // What keeps the limit only while starts stay as quick as they are is no set to go to by oneself.
    const { queueTime: otherwise } = run({ ...parameters, ...set }, slower, load, seconds);
    return { cost: cost.perHour, p99Seconds: Math.max(queueTime.p99, otherwise.p99) };
  };
  const search = searchStep({ today: setOf(parameters), reach, limitSeconds, evaluate });
  let step = search.next();
  const today = step.value;
  while (!step.done) step = search.next();
  const best = step.value;
  const gain = 1 - best.cost / today.cost;
  const keeps = best.p99Seconds <= limitSeconds;
  const verdict = !keeps || best.cost > today.cost ? 'dearer' : gain < LEAST_GAIN ? 'keep' : 'change';
  const prediction = ({ set, cost, p99Seconds }: typeof best) => ({
    parameters: set,
    costPerHour: exactly(cost),
    p99Seconds: exactly(p99Seconds),
    peakHotWorkers: 0,
    meanHotWorkers: 0,
  });
  const sentence = `${Math.round(gain * 100)}% cheaper`;
  return { ...base, verdict, sentence, today: prediction(today), best: prediction(best) };
}

/** By how much hot workers and cost are off, where the parameters that were set meet the requests that came. */
function backtestError({ nowMs, sinceMs, arrivals, minutes, parameters, believed }: Question): number {
  const fromMs = Math.max(sinceMs, nowMs - BACKTEST_MS);
  const seen = minutes.filter((minute) => minute.fromMs >= fromMs && minute.load !== null);
  if (seen.length < 60) return Infinity;
  const recent = arrivals.filter(({ atSeconds }) => atSeconds * 1000 >= fromMs);
  const load = RecordedLoad.of(
    recent.map(({ atSeconds, work }) => ({ atSeconds: atSeconds - fromMs / 1000, work })),
  );
  const seconds = (nowMs - fromMs) / 1000;
  const begin = { ...believed, initialWorkers: Math.round(seen[0]?.ready ?? 0) };
  const planned = run(parameters, begin, load, seconds);
  const hours = seconds / 3600;
  const off = (predicted: number, recorded: number) => Math.abs(predicted / recorded - 1);
  return Math.max(
    off(planned.workerHours.hot / hours, meanOf(seen.map(({ ready }) => ready))),
    off(planned.cost.perHour, meanOf(seen.map(({ cost }) => cost ?? 0))),
  );
}

function run(parameters: ResolvedParameters, settings: PlanSettings, load: RecordedLoad, seconds: number) {
  const simulation = new Simulation({ parameters, settings, series: false });
  load.replay((atSeconds, work) => simulation.arrive(atSeconds, work));
  return simulation.finish(seconds);
}

export function setOf(parameters: AdvisedSet): AdvisedSet {
  const { target_util, cold_mult, cold_workers, min_load, min_cold_load } = parameters;
  return { target_util, cold_mult, cold_workers, min_load, min_cold_load };
}

function exactly(mean: number): Estimate {
  return { mean, low: mean, high: mean };
}

function meanOf(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
