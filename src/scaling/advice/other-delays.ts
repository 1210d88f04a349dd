/**
 * How soon the service stops a worker, and over what time it looks at the load, is assumed: nothing that is recorded names
 * it. Where delays far from those reproduce what was recorded as well, and make the answer another, nobody knows it.
 */
import type { PlanSettings } from '../planner/settings.ts';
import type { ResolvedParameters } from '../rules/findings.ts';
import { outcomeOf } from './prediction.ts';
import { sceneOf, type SceneSource } from './scenes.ts';

type Delay = 'scaleDownSeconds' | 'loadWindowSeconds';

/** Of what is assumed: half an hour where it is a minute, and five minutes. */
const FAR: readonly Readonly<Record<Delay, number>>[] = [
  { scaleDownSeconds: 3, loadWindowSeconds: 1 },
  { scaleDownSeconds: 10, loadWindowSeconds: 1 },
  { scaleDownSeconds: 30, loadWindowSeconds: 1 },
  { scaleDownSeconds: 1, loadWindowSeconds: 5 },
  { scaleDownSeconds: 10, loadWindowSeconds: 5 },
  { scaleDownSeconds: 30, loadWindowSeconds: 5 },
];
/** So much is chance in how far a backtest is off, a share. */
const AS_WELL = 0.02;
/** The cost of a set, a share: more, and it is another answer. */
const MOST_CHANGE = 0.2;

export interface OtherDelays {
  readonly sets: readonly ResolvedParameters[];
  readonly source: SceneSource;
  /** Delays that somebody knows are not doubted. */
  readonly given: Partial<PlanSettings>;
  /** By how much the backtest is off, and would be with other settings. */
  readonly error: number;
  readonly errorWith: (settings: PlanSettings) => number;
}

/** @returns whether others fit as well, with which one of the sets costs something else */
export function turnsOnDelays({ sets, source, given, error, errorWith }: OtherDelays): boolean {
  const costsWith = (settings: PlanSettings) =>
    sets.map((set) => outcomeOf(set, sceneOf({ ...source, settings }, 1)).cost.perHour);
  const { settings } = source;
  const others = FAR.map((factors) => farther(settings, given, factors)).filter(
    (other) =>
      other.scaleDownSeconds !== settings.scaleDownSeconds ||
      other.loadWindowSeconds !== settings.loadWindowSeconds,
  );
  const fitting = others.filter((other) => errorWith(other) <= error + AS_WELL);
  if (fitting.length === 0) return false;
  const costs = costsWith(settings);
  return fitting.some((other) =>
    costsWith(other).some((cost, index) => Math.abs(cost / (costs[index] ?? cost) - 1) > MOST_CHANGE),
  );
}

function farther(
  settings: PlanSettings,
  given: Partial<PlanSettings>,
  factors: Readonly<Record<Delay, number>>,
): PlanSettings {
  const of = (name: Delay) => (given[name] === undefined ? settings[name] * factors[name] : settings[name]);
  return {
    ...settings,
    scaleDownSeconds: of('scaleDownSeconds'),
    loadWindowSeconds: of('loadWindowSeconds'),
  };
}
