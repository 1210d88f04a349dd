import * as fc from '../../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { plan } from '../../../../../src/scaling/planner/plan.ts';
import { CostFloor, courseOf } from '../../../../../src/scaling/planner/search/cost-floor.ts';
import { planSettings } from '../../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { groups, traces } from '../../../../support/plans.ts';

const worlds = fc.record({
  slots: fc.integer({ min: 1, max: 3 }),
  routing: fc.constantFrom('shortest' as const, 'random' as const),
  stopping: fc.constantFrom('drain' as const, 'idle' as const),
  queueResponse: fc.constantFrom('clear' as const, 'one-worker' as const),
  scaleDownSeconds: fc.constantFrom(0, 60, Infinity),
  destroySeconds: fc.constantFrom(0, 600, Infinity),
  coldStartSeconds: fc.constantFrom(0, 30),
  startSeconds: fc.constantFrom(0, 300),
  controlSeconds: fc.constantFrom(1, 5, 7.5),
  loadWindowSeconds: fc.constantFrom(5, 60),
  priceStarting: fc.constantFrom(0, 0.5, 1),
  priceCold: fc.constantFrom(0, 0.05, 2),
  performance: fc.constantFrom({ least: 10, most: 10 }, { least: 5, most: 15 }),
  seed: fc.integer({ min: 1, max: 99 }),
});

const cases = fc.tuple(groups, worlds, traces);
type Case = typeof cases extends fc.Arbitrary<infer T> ? T : never;

/** A worker that is on its way when less than at first is wanted: it is paid until it is ready, and no longer for that. */
const COUNTED_ONCE: Case = [
  {
    min_load: 0,
    min_cold_load: 0,
    target_util: 0.3,
    cold_mult: 0,
    cold_workers: 0,
    max_workers: 2,
    max_queue_time: 0,
    target_queue_time: 0,
    inactivity_timeout: -1,
  },
  {
    slots: 1,
    routing: 'shortest',
    stopping: 'drain',
    queueResponse: 'clear',
    scaleDownSeconds: Infinity,
    destroySeconds: 0,
    coldStartSeconds: 0,
    startSeconds: 300,
    controlSeconds: 1,
    loadWindowSeconds: 5,
    priceStarting: 1,
    priceCold: 0,
    performance: { least: 10, most: 10 },
    seed: 1,
  },
  [
    { atSeconds: 0, work: 10 },
    { atSeconds: 303, work: 0 },
  ],
];

test('whatever the requests do, no plan is cheaper than its floor', () => {
  fc.assert(
    fc.property(cases, ([group, world, trace]) => {
      const [parameters, settings] = [resolveDefaults(group), planSettings(world)];
      const load = RecordedLoad.of(trace);
      const floor = new CostFloor(settings, courseOf(settings, load)).of(parameters);
      const { cost } = plan({ parameters, settings, series: false }, load);
      expect(floor).toBeLessThanOrEqual(cost.total * (1 + 1e-9));
    }),
    { numRuns: 300, examples: [[COUNTED_ONCE]] },
  );
});
