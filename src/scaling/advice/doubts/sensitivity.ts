/** What becomes of the answer where something that it goes by is half or double. */
import type { ResolvedParameters } from '../../rules/findings.ts';
import { PRICE_COLD, REQUEST_SIZE, VARIED } from '../assumptions.ts';
import { outcomeOf } from '../prediction.ts';
import type { Sensitivity } from '../report.ts';
import { sceneOf, type Otherwise, type SceneSource } from '../scenes.ts';

const FACTORS = [0.5, 2] as const;
/** What moves the answer by less is nothing that it hangs on. */
const LEAST_MOVE = 0.01;

/**
 * The first is as it is taken to be, with factor 1.
 * @param isColdAssumed Whether nobody told what a cold worker costs: what was measured is not varied
 */
export function sensitivityOf(
  sets: readonly [today: ResolvedParameters, best: ResolvedParameters],
  source: SceneSource,
  isColdAssumed: boolean,
): Sensitivity[] {
  const names = { ...VARIED, ...(isColdAssumed && { priceCold: PRICE_COLD }) };
  const varied = (Object.keys(names) as (keyof typeof names)[]).flatMap((name) =>
    FACTORS.map((factor) => ({
      assumption: names[name] ?? '',
      factor,
      otherwise: { settings: { [name]: source.settings[name] * factor } },
    })),
  );
  const sizes = source.trace
    ? []
    : FACTORS.map((factor) => ({ assumption: REQUEST_SIZE, factor, otherwise: { sizeFactor: factor } }));
  const asTaken = { assumption: 'as taken', factor: 1, otherwise: {} as Otherwise };
  return [asTaken, ...sizes, ...varied].map(({ assumption, factor, otherwise }) => {
    const scene = sceneOf(source, 1, otherwise);
    const [today, best] = [outcomeOf(sets[0], scene), outcomeOf(sets[1], scene)];
    return {
      assumption,
      factor,
      gain: 1 - best.cost.perHour / today.cost.perHour,
      todayPerHour: today.cost.perHour,
      todayP99Seconds: today.queueTime.p99,
      bestP99Seconds: best.queueTime.p99,
    };
  });
}

/** The assumption that moves a figure most: the gain in points, a cost as a share of it. */
export function mostMoving(all: readonly Sensitivity[], figure: 'gain' | 'todayPerHour'): string | undefined {
  const [asTaken, ...varied] = all;
  if (!asTaken) return undefined;
  const scale = figure === 'gain' ? 1 : asTaken.todayPerHour || 1;
  const moves = varied.map((one) => ({
    assumption: one.assumption,
    by: Math.abs(one[figure] - asTaken[figure]) / scale,
  }));
  const [most] = moves.toSorted((a, b) => b.by - a.by);
  return most && most.by >= LEAST_MOVE ? most.assumption : undefined;
}
