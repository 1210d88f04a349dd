/**
 * How soon the service stops a worker, and over what time it looks at the load, is assumed: nothing that is recorded names
 * it. Where delays far from those reproduce what was recorded as well, and make the answer another, nobody knows it.
 */
import type { PlanSettings } from '../../planner/settings.ts';
import type { ResolvedParameters } from '../../rules/findings.ts';
import { meanOf, outcomeOf } from '../prediction.ts';
import { sceneOf, seedsThatMatter, type SceneSource } from '../scenes.ts';
import { LEAST_GAIN } from '../verdict.ts';

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
/** Longer delays keep what a burst has started, so that chance moves costs by more: one seed says little. */
const SEEDS = [1, 2, 3];

export interface OtherDelays {
  readonly sets: readonly [today: ResolvedParameters, advised: ResolvedParameters];
  readonly source: SceneSource;
  /** Delays that somebody knows are not doubted. */
  readonly given: Partial<PlanSettings>;
  /** By how much the backtest is off, and would be with other settings. */
  readonly error: number;
  readonly errorWith: (settings: PlanSettings) => number;
}

/** @returns whether others fit as well, with which a set costs something else, or the advised one saves too little */
export function turnsOnDelays({ sets, source, given, error, errorWith }: OtherDelays): boolean {
  const { settings } = source;
  const others = FAR.map((factors) => farther(settings, given, factors)).filter(
    (other) =>
      other.scaleDownSeconds !== settings.scaleDownSeconds ||
      other.loadWindowSeconds !== settings.loadWindowSeconds,
  );
  const fitting = others
    .map((other) => ({ other, off: errorWith(other) }))
    .filter(({ off }) => off <= error + AS_WELL);
  if (fitting.length === 0) return false;
  const taken = costsOf(sets, source);
  const isGain = leastGain(taken) >= LEAST_GAIN;
  return fitting.some(({ other, off }) => {
    const costs = costsOf(sets, { ...source, settings: other });
    // What fits better is more likely than what is assumed, and what it saves has to be worth a change too.
    const least = off < error - AS_WELL ? LEAST_GAIN : 0;
    return (isGain && leastGain(costs) < least) || areOther(costs, taken);
  });
}

/** Of one seed. */
type Costs = readonly [today: number, advised: number];

function costsOf(sets: OtherDelays['sets'], source: SceneSource): readonly Costs[] {
  const [today, advised] = sets;
  return seedsThatMatter(source, SEEDS).map((seed) => {
    const scene = sceneOf(source, seed);
    return [outcomeOf(today, scene).cost.perHour, outcomeOf(advised, scene).cost.perHour];
  });
}

/** Of the seeds: what comes is one of them, and not their mean. */
function leastGain(costs: readonly Costs[]): number {
  return Math.min(...costs.map(([today, advised]) => 1 - advised / today));
}

function areOther(costs: readonly Costs[], taken: readonly Costs[]): boolean {
  return ([0, 1] as const).some((set) => {
    const mean = (of: readonly Costs[]) => meanOf(of.map((each) => each[set]));
    return Math.abs(mean(costs) / mean(taken) - 1) > MOST_CHANGE;
  });
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
