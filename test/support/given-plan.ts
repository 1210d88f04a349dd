/** A plan and its report as the planner makes them, with round figures, but for what is named. */
import { createReport, type LabelledPlan, type PlanReport } from '../../src/cli/plan/run-plan.ts';
import { planSettings } from '../../src/scaling/planner/settings.ts';
import type { Candidate, SearchResult } from '../../src/scaling/planner/search/search.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';

const SETTINGS = planSettings({ performance: { least: 10, most: 10 } });

export function givenPlan(over: Partial<LabelledPlan> = {}): LabelledPlan {
  return {
    label: 'given',
    findings: [],
    estimates: undefined,
    parameters: resolveDefaults({ max_workers: 8 }),
    settings: SETTINGS,
    requests: 1_200,
    seconds: 1_500,
    loadSeconds: 1_200,
    work: { arrived: 60_000, served: 60_000, abandoned: 0 },
    queueTime: { mean: 0.5, p50: 0.05, p95: 3, p99: 150, max: 9_000, relativeError: 0.01 },
    share: { overTargetQueueTime: 0.125, overMaxQueueTime: 0.00001, abandoned: 0 },
    workerHours: { hot: 2.5, cold: 0.25, starting: 0.5 },
    peakWorkers: { hot: 7, total: 8 },
    starts: { fromCold: 3, fromNothing: 5 },
    utilisation: 0.889,
    cost: { total: 1_234.5, perHour: 6.956, perThousandRequests: 0.0389 },
    series: undefined,
    ...over,
  };
}

export function givenReport(plans: readonly LabelledPlan[], over: Partial<PlanReport> = {}): PlanReport {
  async function* arrivals() {}
  const load = { name: 'requests.csv', work: 'GeneratedTokens', guessedWeights: [], arrivals: arrivals() };
  const outcome = { plans, search: undefined, sensitivity: [] };
  const given = { performance: SETTINGS.performance };
  const report = createReport(load, SETTINGS, { given, measured: {} }, outcome);
  return { ...report, ...over };
}

export function candidate(cost: number, p99Seconds: number): Candidate {
  return {
    target_util: 0.8,
    cold_mult: 2,
    cold_workers: 3,
    min_load: 40,
    cost,
    costPerHour: cost / 2,
    p99Seconds,
  };
}

export function givenSearch(over: Partial<SearchResult> = {}): SearchResult {
  const [cheap, middle, dear] = [candidate(10, 100), candidate(20, 1), candidate(30, 0.001)];
  const tried = [cheap, middle, dear, candidate(25, 50)];
  return {
    p99LimitSeconds: 5,
    space: { target_util: [], cold_mult: [], cold_workers: [], min_load: [] },
    tried,
    givenUp: 2,
    frontier: [cheap, middle, dear],
    given: cheap,
    best: middle,
    ...over,
  };
}
