/** Where the model has the truth, steering gets to what the best fixed set costs. */
import { expect, test } from 'vitest';
import { bestFixedSet } from './best-set.ts';
import { isForeseen } from './judge.ts';
import { steer } from './steered.ts';
import { worldOf } from './world.ts';
import { medianOf, PATIENCE_MS, seeds, WORLDS } from './worlds.ts';

/** Four steps a day, and three days. */
const MOST_STEPS = 12;
const MOST_REGRET = 1.15;

test(
  'from day four on it costs at most 15% more than the best fixed set that is near enough',
  async () => {
    const regrets: number[] = [];
    const above: string[] = [];
    for (const seed of seeds(1, Math.ceil(WORLDS / 10))) {
      const world = worldOf(seed, 'truthful');
      if (!world) continue;
      const steered = await steer(world);
      const best = bestFixedSet(world);
      const regret = steered.late.steered.cost / best.cost;
      const isNear = best.steps <= MOST_STEPS && isForeseen(steered) && best.p99Seconds <= world.limitSeconds;
      const words = `seed ${seed}: ${world.source}, ${regret.toFixed(3)} of the best, ${best.steps} steps away`;
      console.log(`${words}${isNear ? '' : ' (not bounded)'}`);
      if (!isNear) continue;
      regrets.push(regret);
      if (regret > MOST_REGRET) above.push(words);
    }
    console.log(
      `regret from day four on: median ${medianOf(regrets).toFixed(3)} of ${regrets.length} worlds`,
    );
    expect(above).toEqual([]);
  },
  PATIENCE_MS,
);
