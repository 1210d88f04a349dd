/** What a cold worker costs, where nobody tells it: whether the answer hangs on that. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { outcomeOf } from '../prediction.ts';
import { sceneOf, type SceneSource } from '../scenes.ts';

/** Nothing, and double of what is assumed. */
const FACTORS = [0, 2];
/** What is left of a gain, a share: less, and what is promised is a guess at a price. */
const LEAST_LEFT = 0.5;

/** @returns whether the advised set saves less than half where a cold worker costs nothing, or double */
export function turnsOnColdPrice(
  [today, advised]: readonly [ResolvedParameters, ResolvedParameters],
  source: SceneSource,
): boolean {
  const gainWith = (factor: number) => {
    const scene = sceneOf(source, 1, { settings: { priceCold: factor * source.settings.priceCold } });
    return 1 - outcomeOf(advised, scene).cost.perHour / outcomeOf(today, scene).cost.perHour;
  };
  const least = LEAST_LEFT * gainWith(1);
  return FACTORS.some((factor) => gainWith(factor) < least);
}
