/** Which assumption matters most to a plan: each is halved and doubled, all else being equal. */
import type { ResolvedParameters } from '../rules/findings.ts';
import type { Scenario } from './plan.ts';
import type { PlanResult } from './model/stats.ts';
import type { Candidate } from './search/search-space.ts';
import type { PlanSetting, PlanSettings } from './settings.ts';

/** Measured or guessed assumptions. Prices are known, and choices have no half. */
const VARIED = [
  'performance',
  'startSeconds',
  'coldStartSeconds',
  'controlSeconds',
  'loadWindowSeconds',
  'scaleDownSeconds',
  'destroySeconds',
] as const satisfies readonly PlanSetting[];
export type VariedSetting = (typeof VARIED)[number];
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
export function sensitivityOf(plan: PlanResult, varied: readonly PlanResult[]): readonly Sensitivity[] {
  const found = variedOf(plan.settings).map((setting, index): Sensitivity => {
    const [half, double] = [varied[2 * index], varied[2 * index + 1]];
    return { setting, half: costAndWaitOf(half ?? plan), double: costAndWaitOf(double ?? plan) };
  });
  return found.toSorted((one, other) => weightOf(plan, other) - weightOf(plan, one));
}

/** The largest factor of change. Differences of less than a second of waiting hardly count. */
function weightOf(plan: PlanResult, { half, double }: Sensitivity): number {
  const own = costAndWaitOf(plan);
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
