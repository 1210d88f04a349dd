/** One trial after the other in the same memory. */
import { expect, test } from 'vitest';
import { generateLoad } from '../../../../../src/scaling/planner/load/generators.ts';
import { RecordedLoad } from '../../../../../src/scaling/planner/load/load.ts';
import { TrialMemory } from '../../../../../src/scaling/planner/search/course.ts';
import { runTrial, type Trial } from '../../../../../src/scaling/planner/search/trial.ts';
import { scenarioOf } from '../../../../support/plans.ts';

const { parameters, settings } = scenarioOf({ max_workers: 8, cold_workers: 2 });
const load = { shape: 'bursts', unitsPerSecond: 30, unitsPerRequest: 20, seconds: 1200 } as const;
const ground = { settings, loads: [RecordedLoad.of(generateLoad(load))] };
const whole: Trial = {
  parameters,
  limitSeconds: Infinity,
  mostLateShare: 1,
  mostCost: Infinity,
  sampled: undefined,
};

test('nothing of a trial that was given up, with requests that wait, is in the one after it', () => {
  const alone = runTrial(ground, whole);
  const memory = new TrialMemory();
  const late: Trial = {
    ...whole,
    parameters: { ...parameters, max_workers: 1, cold_workers: 0, max_queue_time: 1 },
    limitSeconds: 10,
    mostLateShare: 0.01,
  };
  expect(runTrial(ground, late, memory).end).toBe('late');
  expect(memory.queue.size).toBeGreaterThan(0);
  expect(runTrial(ground, whole, memory)).toEqual(alone);
  expect(runTrial(ground, whole, memory)).toEqual(alone);
});
