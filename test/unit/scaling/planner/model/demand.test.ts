/** How many workers are asked for, by the formulas, and how long what was asked for is kept. */
import { describe, expect, test } from 'vitest';
import {
  ControlLoop,
  type Demand,
  demandFor,
  NOTHING_OBSERVED,
  type Observation,
} from '../../../../../src/scaling/planner/model/control-loop.ts';
import { planSettings, type PlanSettings } from '../../../../../src/scaling/planner/settings.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import type { ResolvedParameters } from '../../../../../src/scaling/rules/rules.ts';

const GROUP = {
  ...resolveDefaults({}),
  min_load: 0,
  min_cold_load: 0,
  target_util: 0.5,
  cold_mult: 2,
  cold_workers: 3,
  max_workers: 10,
  target_queue_time: 10,
};

function asked(
  observed: Partial<Observation>,
  parameters: Partial<ResolvedParameters> = {},
  queueResponse: PlanSettings['queueResponse'] = 'clear',
): Demand {
  const settings = planSettings({ performance: { least: 80, most: 120 }, queueResponse });
  return demandFor({ ...GROUP, ...parameters }, settings, { ...NOTHING_OBSERVED, ...observed });
}

describe('capacity', () => {
  test.each<[string, Partial<Observation>, Partial<ResolvedParameters>, number, number]>([
    ['for nothing is none', {}, {}, 0, 0],
    ['for a load has its headroom, and its reserve', { load: 50 }, {}, 100, 200],
    ['is that for min_load where that is more', { load: 50 }, { min_load: 100 }, 200, 400],
    ['is no more than all workers at their best', { load: 700 }, {}, 1200, 1200],
    ['in reserve is min_cold_load where that is more', { load: 50 }, { min_cold_load: 900 }, 100, 900],
    ['in all is never less than what is hot', { load: 50 }, { cold_mult: 0.5 }, 100, 100],
    ['in reserve is bounded too', { load: 500 }, { min_cold_load: 9000 }, 1000, 1200],
  ])('%s', (_, observed, parameters, hotCapacity, totalCapacity) => {
    expect(asked(observed, parameters)).toMatchObject({ hotCapacity, totalCapacity });
  });

  const queue = { load: 20, expectedWaitSeconds: 10.1, committedCapacity: 50 };

  test.each<[string, Partial<Observation>, number]>([
    ['clears it in target_queue_time, beside what comes', { unfinishedWork: 600 }, 80],
    ['is for the load alone while it is short enough', { unfinishedWork: 600, expectedWaitSeconds: 10 }, 40],
    ['or has no work in it', { unfinishedWork: 0 }, 40],
  ])('for a queue %s', (_, observed, hotCapacity) => {
    expect(asked({ ...queue, ...observed }).hotCapacity).toBe(hotCapacity);
  });

  test.each([
    [600, 150],
    [501, 150],
    [500, 50],
    [400, 50],
  ])(
    'for a queue of %d units, one worker more than are coming at a time: %d',
    (unfinishedWork, hotCapacity) => {
      expect(asked({ ...queue, unfinishedWork }, {}, 'one-worker').hotCapacity).toBe(hotCapacity);
    },
  );
});

describe('workers', () => {
  test.each<[string, Partial<Observation>, Partial<ResolvedParameters>, number]>([
    ['none without a request', { idleSeconds: 0 }, {}, 0],
    ['one for a request that waits, even of no work', { waitingRequests: 1 }, {}, 1],
    ['none after a request where nothing says so', { idleSeconds: 0 }, { inactivity_timeout: 0 }, 0],
    ['one until the timeout', { idleSeconds: 59.9 }, { inactivity_timeout: 60 }, 1],
    ['none from then on', { idleSeconds: 60 }, { inactivity_timeout: 60 }, 0],
    ['one for ever', { idleSeconds: Infinity }, { inactivity_timeout: -1 }, 1],
  ])('hot: %s', (_, observed, parameters, hotWorkers) => {
    expect(asked(observed, parameters).hotWorkers).toBe(hotWorkers);
  });

  test('in all are cold_workers, and no more than max_workers', () => {
    expect([asked({}).totalWorkers, asked({}, { cold_workers: 30 }).totalWorkers]).toEqual([3, 10]);
  });
});

describe('decisions', () => {
  const SETTINGS = planSettings({
    controlSeconds: 5,
    loadWindowSeconds: 10,
    scaleDownSeconds: 10,
    destroySeconds: 20,
  });
  const NONE: Demand = { hotCapacity: 0, hotWorkers: 0, totalCapacity: 0, totalWorkers: 2 };

  function decide(loop: ControlLoop, wanted: Demand = NONE): Demand {
    const load = loop.look();
    const kept = loop.keep(wanted);
    loop.decided({ ...NOTHING_OBSERVED, load });
    return kept;
  }

  test('go by the mean of what came in the window', () => {
    const loop = new ControlLoop(SETTINGS);
    loop.arrived(30);
    loop.arrived(20);
    const loads = [1, 2, 3].map(() => {
      decide(loop);
      return loop.load;
    });
    expect(loads).toEqual([10, 5, 0]);
    expect(loop.next).toBe(20);
  });

  test.each([
    [0, 1],
    [4, 2],
    [5, 2],
    [12, 4],
    [Infinity, 50],
  ])('a delay of %d s keeps what was wanted for %d of 50 decisions, 5 s apart', (scaleDownSeconds, kept) => {
    const loop = new ControlLoop({ ...SETTINGS, scaleDownSeconds });
    const wanted = [decide(loop, { ...NONE, hotCapacity: 40 })];
    while (wanted.length < 50) wanted.push(decide(loop));
    expect(wanted.filter(({ hotCapacity }) => hotCapacity === 40)).toHaveLength(kept);
  });
});
