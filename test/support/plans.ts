/** Plans for tests: parameters and settings with only what matters spelled out. */
import * as fc from './fast-check.ts';
import type { EndpointGroupParameters } from '../../src/contract/operations/serverless/endpoint-groups.ts';
import { resolveDefaults } from '../../src/scaling/rules/check.ts';
import type { Arrival } from '../../src/scaling/planner/load.ts';
import { plan, type Scenario } from '../../src/scaling/planner/plan.ts';
import type { PlanResult } from '../../src/scaling/planner/model/stats.ts';
import { planSettings, type PlanSettings } from '../../src/scaling/planner/settings.ts';

interface Settings extends Partial<Omit<PlanSettings, 'performance'>> {
  readonly speed?: number;
}

export function scenarioOf(parameters: EndpointGroupParameters, settings: Settings = {}): Scenario {
  const { speed = 10, ...others } = settings;
  return {
    parameters: resolveDefaults(parameters),
    settings: planSettings({ performance: { least: speed, most: speed }, ...others }),
  };
}

/** Always hot. */
export function fixedPool(workers: number, speed: number): EndpointGroupParameters {
  return { min_load: workers * speed, target_util: 1, cold_mult: 1, cold_workers: 0, max_workers: workers };
}

export function requests(...pairs: readonly (readonly [atSeconds: number, work: number])[]): Arrival[] {
  return pairs.map(([atSeconds, work]) => ({ atSeconds, work }));
}

export function planOf(
  parameters: EndpointGroupParameters,
  settings: Settings,
  load: Iterable<Arrival>,
): PlanResult {
  return plan(scenarioOf(parameters, settings), load);
}

/** Random traces: up to 200 requests, bursts and long pauses among them, whole units of work. */
export const traces: fc.Arbitrary<Arrival[]> = fc
  .array(
    fc.tuple(
      fc.oneof(fc.constant(0), fc.integer({ min: 0, max: 20 }), fc.integer({ min: 0, max: 900 })),
      fc.integer({ min: 0, max: 400 }),
    ),
    { minLength: 1, maxLength: 200 },
  )
  .map((steps) => {
    let atSeconds = 0;
    return steps.map(([gap, work]) => {
      atSeconds += gap;
      return { atSeconds, work };
    });
  });

export const groups: fc.Arbitrary<EndpointGroupParameters> = fc
  .record({
    min_load: fc.constantFrom(0, 5, 25),
    min_cold_load: fc.constantFrom(0, 30),
    target_util: fc.constantFrom(0.3, 0.8, 0.9, 1),
    cold_mult: fc.constantFrom(0, 1, 2.5),
    cold_workers: fc.integer({ min: 0, max: 5 }),
    max_workers: fc.integer({ min: 1, max: 12 }),
    max_queue_time: fc.constantFrom(0, 3, 30),
    target_queue_time: fc.constantFrom(0, 10, 60),
    inactivity_timeout: fc.constantFrom(-1, 0, 300),
  })
  .filter(({ cold_workers, max_workers }) => cold_workers <= max_workers);
