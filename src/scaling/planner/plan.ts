/** Runs plans: one or several endpoint groups under a load that is read once, and what matters most to the outcome. */
import type { ResolvedParameters } from '../rules/rules.ts';
import type { Arrival, ArrivalStream } from './load.ts';
import { GroupModel } from './model/group.ts';
import { type PlanResult, PlanStats } from './model/stats.ts';
import type { PlanSetting, PlanSettings } from './settings.ts';
import type { Candidate } from './search/search.ts';

/** An endpoint group with what is assumed of its workers and of the service. */
export interface Scenario {
  readonly parameters: ResolvedParameters;
  readonly settings: PlanSettings;
  /** False leaves the series out, which saves time and memory where only the totals count. */
  readonly series?: boolean;
}

/** More take gigabytes, and hours. */
const MOST_PLACES = 1_000_000;

/** One endpoint group under a load that is handed over request by request, in order of time. */
export class Simulation {
  readonly #stats: PlanStats;
  readonly #group: GroupModel;

  /** Throws a RangeError for parameters that no load could ever be planned with. */
  constructor({ parameters, settings, series = true }: Scenario) {
    if (!(Number.isSafeInteger(parameters.max_workers) && parameters.max_workers >= 1)) {
      throw new RangeError(`max_workers: an integer of at least 1, not ${parameters.max_workers}`);
    }
    const places = parameters.max_workers * settings.slots;
    if (places > MOST_PLACES)
      throw new RangeError(
        `max_workers times slots: got ${places}; allowed: at most ${MOST_PLACES} in a plan`,
      );
    this.#stats = new PlanStats(parameters, settings, series);
    this.#group = new GroupModel({ parameters, settings, observer: this.#stats });
    this.#group.place();
  }

  /**
   * A request arrives. Throws a RangeError when it comes before the one in front of it, or its work is not a
   * number of at least 0.
   */
  arrive(atSeconds: number, work: number): void {
    this.#group.arrive(atSeconds, work);
  }

  /** Runs on until every request is done, and `atLeastSeconds` have passed, and says what came of it. */
  finish(atLeastSeconds = 0): PlanResult {
    const group = this.#group;
    group.advance(Math.max(group.now, atLeastSeconds));
    group.finish();
    return this.#stats.result(group.totals);
  }
}

/** Plans for a load in memory. Throws a RangeError for requests that are not in order of time. */
export function plan(scenario: Scenario, load: Iterable<Arrival>): PlanResult {
  const simulation = new Simulation(scenario);
  for (const { atSeconds, work } of load) simulation.arrive(atSeconds, work);
  return simulation.finish();
}

/** Plans for a load that streams by, for several scenarios at once; memory does not grow with its length. */
export async function planStream(
  scenarios: readonly Scenario[],
  load: ArrivalStream,
): Promise<readonly PlanResult[]> {
  const simulations = scenarios.map((scenario) => new Simulation(scenario));
  for await (const arrivals of load) {
    for (const simulation of simulations) {
      for (const { atSeconds, work } of arrivals) simulation.arrive(atSeconds, work);
    }
  }
  return simulations.map((simulation) => simulation.finish());
}

export interface Estimate {
  readonly mean: number;
  /** 95 of 100 such means lie between the two. With a single seed both are the mean. */
  readonly low: number;
  readonly high: number;
}

/** Student's t, two-sided 95%: exact for one to three degrees of freedom, and to 0.3% beyond. */
function student(freedom: number): number {
  return (
    [12.71, 4.303, 3.182][freedom - 1] ?? 1.96 + 2.37 / freedom + 2.82 / freedom ** 2 + 2.5 / freedom ** 3
  );
}

export function estimateOf(values: readonly number[]): Estimate {
  const count = values.length;
  const mean = values.reduce((sum, value) => sum + value, 0) / count;
  if (count < 2) return { mean, low: mean, high: mean };
  const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / (count - 1);
  const half = student(count - 1) * Math.sqrt(variance / count);
  return { mean, low: mean - half, high: mean + half };
}

/** Measured or guessed assumptions, halved and doubled one at a time. Prices are known, and choices have no half. */
const VARIED = [
  'performance',
  'startSeconds',
  'coldStartSeconds',
  'controlSeconds',
  'loadWindowSeconds',
  'scaleDownSeconds',
  'destroySeconds',
] as const satisfies readonly PlanSetting[];
type VariedSetting = (typeof VARIED)[number];
const FACTORS = [0.5, 2] as const;

export type CostAndWait = Pick<Candidate, 'costPerHour' | 'p99Seconds'>;

export interface Sensitivity {
  readonly setting: VariedSetting;
  readonly half: CostAndWait;
  readonly double: CostAndWait;
}

/** In the order in which `sensitivityOf` takes the results. */
export function variedScenarios(parameters: ResolvedParameters, settings: PlanSettings): readonly Scenario[] {
  return variedOf(settings).flatMap((setting) =>
    FACTORS.map((factor) => ({
      parameters,
      settings: { ...settings, [setting]: times(settings[setting], factor) },
      series: false,
    })),
  );
}

/** The assumptions that move cost or p99 most come first. */
export function sensitivityOf(usual: PlanResult, varied: readonly PlanResult[]): readonly Sensitivity[] {
  const found = variedOf(usual.settings).map((setting, index): Sensitivity => {
    const [half, double] = [varied[2 * index], varied[2 * index + 1]];
    return { setting, half: costAndWaitOf(half ?? usual), double: costAndWaitOf(double ?? usual) };
  });
  return found.toSorted((one, other) => weightOf(usual, other) - weightOf(usual, one));
}

/** The largest factor of change. Differences of less than a second of waiting hardly count. */
function weightOf(usual: PlanResult, { half, double }: Sensitivity): number {
  const own = costAndWaitOf(usual);
  const moved = (value: number, by: number) => Math.abs(Math.log(by / value));
  return Math.max(
    ...[half, double].flatMap(({ costPerHour, p99Seconds }) => [
      own.costPerHour > 0 && costPerHour > 0 ? moved(own.costPerHour, costPerHour) : 0,
      moved(own.p99Seconds + 1, p99Seconds + 1),
    ]),
  );
}

function variedOf(settings: PlanSettings): readonly VariedSetting[] {
  return VARIED.filter((setting) => {
    const value = settings[setting];
    return typeof value !== 'number' || (value > 0 && value < Infinity);
  });
}

function times(value: PlanSettings[VariedSetting], factor: number): PlanSettings[VariedSetting] {
  if (typeof value === 'number') return value * factor;
  return { least: value.least * factor, most: value.most * factor };
}

function costAndWaitOf({ cost, queueTime }: PlanResult): CostAndWait {
  return { costPerHour: cost.perHour, p99Seconds: queueTime.p99 };
}
