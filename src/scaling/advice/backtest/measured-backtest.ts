/** The backtest as advice makes it: over several seeds, with workers like those that were measured. */
import type { RecordedLoad } from '../../planner/load/load.ts';
import type { PlanSettings } from '../../planner/settings.ts';
import { backtest, capacityOfHot, type DetailedBacktest } from './backtest.ts';
import type { Recorded } from '../recorded.ts';
import { sceneOf, type SceneSource } from '../scenes.ts';
import { workersLike } from '../workers/composition.ts';

/** Less than that was not seen for long enough to say anything. */
export const LEAST_SECONDS = 3600;
const SEEDS = [1, 2, 3];
/** Enough to compare it with others of its like. */
export const ONE_SEED = [1];

/** With other settings than the source's too; undefined where less than half an hour can be compared. */
export type MeasuredBacktest = (
  settings: PlanSettings,
  seeds?: readonly number[],
) => DetailedBacktest | undefined;

export function backtestOf(recorded: Recorded, source: SceneSource): MeasuredBacktest {
  const { parameters, stretches, performances, parametersSinceMs = -Infinity } = recorded;
  const { rate } = source.recorded;
  const options = (settings: PlanSettings, seeds: readonly number[]) => ({
    parameters,
    settings,
    rate,
    stretches,
    loads: loadsOf(source, seeds),
    fromMs: parametersSinceMs,
  });
  const performance = workersLike(performances, source.settings.performance, (likely) =>
    capacityOfHot(options({ ...source.settings, performance: likely }, ONE_SEED)),
  );
  return (settings, seeds = SEEDS) => {
    const tested = backtest(options({ ...settings, performance }, seeds));
    const seconds = tested?.hours.reduce((sum, hour) => sum + hour.seconds, 0) ?? 0;
    return seconds < LEAST_SECONDS / 2 ? undefined : tested;
  };
}

function* loadsOf(source: SceneSource, seeds: readonly number[]): Generator<RecordedLoad> {
  for (const seed of seeds) yield sceneOf(source, seed).load;
}
