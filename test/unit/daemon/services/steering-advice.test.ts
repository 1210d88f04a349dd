import { expect, test } from 'vitest';
import { adviceAsked } from '../../../../src/daemon/services/steering-advice.ts';
import { reachOf } from '../../../../src/scaling/autotune/reach.ts';
import { PARAMETERS } from '../../../support/steering.ts';

test('advice is asked within one step, and of what bounds do not name nothing may move', () => {
  const reach = reachOf(PARAMETERS, { target_util: [0.5, 0.95], cold_workers: [1, 10] }, 100);
  const asked = adviceAsked({
    endpoint: 'chat',
    nowMs: 0,
    parameters: PARAMETERS,
    parametersSinceMs: 7,
    reach,
    workerPerformance: 100,
  });
  expect(asked).toMatchObject({ endpoint: 'chat', parametersSinceMs: 7, parameters: PARAMETERS });
  expect(asked.bounds).toEqual({
    target_util: [0.6, 0.95],
    cold_mult: [2.5, 2.5],
    cold_workers: [4, 7],
    min_load: [0, 0],
    min_cold_load: [0, 0],
  });
});
