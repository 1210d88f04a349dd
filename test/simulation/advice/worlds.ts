/** Small worlds by the thousand: each kind differs from what a planner takes for granted in one way, or in none. */
import { planSettings } from '../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../src/scaling/rules/check.ts';
import { Random } from '../random.ts';
import type { Phase, World } from './spec.ts';

export const KINDS = [
  'truthful',
  'performance drifts',
  'starts twice as slow',
  'prices change',
  'holes of hours',
  'ten minutes',
  'no load',
  'two speeds',
  'other delays',
] as const;
export type Kind = (typeof KINDS)[number];

const AS_AT_FIRST: Phase = { fromSeconds: 0, performance: 1, prices: 1, starts: 1 };

export function worldOf(kind: Kind, seed: number): World {
  const random = new Random(seed);
  const hours = random.pick([2, 3]);
  const middle = random.between(4, 8);
  const spread = random.pick([0, 0, 0.1, 0.25]);
  const performance = 100;
  const shape = random.pick(['poisson', 'diurnal', 'diurnal', 'bursts']);
  const unitsPerRequest = performance * random.between(2, 6);
  const seconds = hours * 3600;
  const max_workers = Math.ceil(middle * 2);
  const world: World = {
    seed,
    hours,
    parameters: {
      ...resolveDefaults({}),
      target_util: random.pick([0.4, 0.5, 0.6, 0.7, 0.8, 0.9]),
      cold_mult: random.pick([1, 1.5, 2.5, 3]),
      cold_workers: random.pick([0, 2, 5]),
      min_load: random.pick([0, 0, 100, 200]),
      max_workers,
      target_queue_time: random.pick([5, 10, 20]),
    },
    settings: planSettings({
      performance: { least: performance * (1 - spread), most: performance * (1 + spread) },
      startSeconds: random.between(120, 400),
      coldStartSeconds: random.between(20, 80),
      priceHot: 0.4,
      priceCold: 0.02,
      priceStarting: random.pick([0.4, 0.3]),
      seed,
    }),
    load: {
      shape,
      unitsPerSecond: (performance * middle) / 2,
      unitsPerRequest,
      sizes: random.pick(['exponential', 'exponential', 'fixed']),
    },
    phases: [AS_AT_FIRST],
    groups: [{ share: 1, speed: 1 }],
    holes: [],
  };
  return { ...world, ...OTHERWISE[kind](world, random, seconds) };
}

const OTHERWISE: Readonly<Record<Kind, (world: World, random: Random, seconds: number) => Partial<World>>> = {
  // Six hours are what the first advice of a daemon goes by; in fewer, and with larger requests, chance alone moves workers
  // by more than a backtest may be off.
  truthful: ({ load, hours }) => ({
    hours: 3 * hours,
    load: { ...load, unitsPerRequest: load.unitsPerRequest / 4 },
  }),
  'performance drifts'(_, random, seconds) {
    const end = random.pick([0.5, 0.7, 0.85, 1.2, 1.5]);
    const steps = Array.from({ length: 8 }, (_unused, index) => index / 8);
    return {
      phases: steps.map((share): Phase => ({
        fromSeconds: share * seconds,
        performance: 1 + (end - 1) * share,
        prices: 1,
        starts: 1,
      })),
    };
  },
  'starts twice as slow': (_, random, seconds) => ({
    phases: [AS_AT_FIRST, { ...AS_AT_FIRST, fromSeconds: seconds * random.between(0.2, 0.8), starts: 2 }],
  }),
  'prices change': (_, random, seconds) => ({
    phases: [
      AS_AT_FIRST,
      {
        ...AS_AT_FIRST,
        fromSeconds: seconds * random.between(0.2, 0.8),
        prices: random.pick([0.5, 0.75, 1.3, 2]),
      },
    ],
  }),
  'holes of hours'({ hours }, random) {
    const longer = hours + 4;
    const from = random.between(0.5, hours - 1) * 3600;
    const hole = [from, from + random.between(1.5, 3.5) * 3600] as const;
    const other = hole[1] + random.between(0.5, 1) * 3600;
    return { hours: longer, holes: [hole, [other, other + 3600 * random.between(0.5, 1)]] };
  },
  'ten minutes': () => ({ hours: 1 / 6 }),
  'no load': ({ load }) => ({ load: { ...load, unitsPerSecond: 0 } }),
  'two speeds': (_, random) => ({
    groups: [
      { share: 0.5, speed: 1 },
      { share: 0.5, speed: random.pick([0.4, 0.6, 1.8]) },
    ],
  }),
  'other delays': ({ settings }, random) => ({
    settings: {
      ...settings,
      scaleDownSeconds: random.pick([15, 180, 600, 1800]),
      destroySeconds: random.pick([300, 7200]),
      loadWindowSeconds: random.pick([30, 300]),
    },
  }),
};
