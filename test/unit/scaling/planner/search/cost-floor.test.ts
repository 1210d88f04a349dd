import * as fc from 'fast-check';
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

test('whatever the requests do, no plan is cheaper than its floor', () => {
  fc.assert(
    fc.property(groups, worlds, traces, (group, world, trace) => {
      const [parameters, settings] = [resolveDefaults(group), planSettings(world)];
      const load = RecordedLoad.of(trace);
      const floor = new CostFloor(settings, courseOf(settings, load)).of(parameters);
      const { cost } = plan({ parameters, settings, series: false }, load);
      expect(floor).toBeLessThanOrEqual(cost.total * (1 + 1e-9));
    }),
    { numRuns: 300 },
  );
});
