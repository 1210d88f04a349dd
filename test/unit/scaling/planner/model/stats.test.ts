/** What a group costs and how long its requests wait, as the emulator counts it while the group changes. */
import { describe, expect, test } from 'vitest';
import { GroupModel } from '../../../../../src/scaling/planner/model/group.ts';
import { PlanStats } from '../../../../../src/scaling/planner/model/stats.ts';
import { resolveDefaults } from '../../../../../src/scaling/rules/check.ts';
import { fixedPool, scenarioOf } from '../../../../support/plans.ts';

const PRICES = { priceHot: 3600, priceCold: 360, priceStarting: 36 };
const TOTALS = {
  served: new Float64Array(),
  starts: { fromCold: 0, fromNothing: 0 },
  peak: { hot: 0, total: 0 },
};

function counted() {
  const { parameters, settings } = scenarioOf(
    { target_queue_time: 5, max_queue_time: 15 },
    { ...PRICES, giveUpSeconds: 20 },
  );
  const stats = new PlanStats(parameters, settings, false);
  stats.arrived(1, 30);
  stats.begun(1, 6);
  stats.workersUntil(10, { hot: 1, cold: 2, starting: 3, capacity: 15 });
  return { stats, parameters, settings };
}

/** What comes after that. */
function goOn(stats: PlanStats): void {
  stats.arrived(12, 40);
  stats.abandoned(12, 40);
  stats.begun(13, 15);
  stats.workersUntil(30, { hot: 2, cold: 1, starting: 0, capacity: 20 });
}

describe('the counts of a group', () => {
  test('are those of all its time', () => {
    const { stats } = counted();
    expect(stats.result(TOTALS).cost.total).toBeCloseTo(10 * (1 + 0.2 + 0.03), 9);
    goOn(stats);
    expect(stats.result(TOTALS)).toMatchObject({
      requests: 3,
      seconds: 30,
      loadSeconds: 12,
      work: { arrived: 70, served: 0, abandoned: 40 },
      cost: { total: expect.closeTo(10 * 1.23 + 20 * 2.1, 9) as number },
      share: { overTargetQueueTime: 1, overMaxQueueTime: 1 / 3, abandoned: 1 / 3 },
      workerHours: { hot: 50 / 3600, cold: 40 / 3600, starting: 30 / 3600 },
    });
  });

  test('take what is late from the parameters of the moment', () => {
    const { stats, parameters } = counted();
    stats.setParameters({ ...parameters, target_queue_time: 10, max_queue_time: 10 });
    stats.begun(20, 10.1);
    stats.begun(20, 9.9);
    expect(stats.result(TOTALS).share).toMatchObject({ overTargetQueueTime: 2 / 3, overMaxQueueTime: 1 / 3 });
  });
});

describe('the time of workers', () => {
  const groupOf = () => {
    const { parameters, settings } = scenarioOf(
      { ...fixedPool(2, 10), cold_workers: 2 },
      { ...PRICES, controlSeconds: 1000 },
    );
    const observer = new PlanStats(parameters, settings, false);
    const model = new GroupModel({ parameters, settings, observer });
    model.place();
    // What counts knows of no clients: a name means nothing to it.
    model.arrive(0, 0, 1);
    return { model, observer };
  };
  const change: [string, (model: GroupModel) => unknown, hot: number][] = [
    ['is stopped', (model) => model.setState('stopped'), 0],
    ['loses a worker', (model) => model.put('none', { place: 1 }), 1],
    ['has one that breaks', (model) => model.put('starting', { place: 1, readyAt: 1010 }), 1],
    ['has one halted', (model) => model.put('cold', { place: 1 }), 1],
    ['takes one in', (model) => model.put('hot'), 3],
  ];

  test.each(change)('counts as it was until a group %s', (_, changes, hot) => {
    const { model, observer } = groupOf();
    model.setParameters({ ...resolveDefaults(fixedPool(3, 10)), cold_workers: 3 });
    model.advance(10);
    changes(model);
    model.advance(40);
    observer.workersUntil(40, model.workers);
    expect(observer.result(model.totals).workerHours.hot * 3600).toBeCloseTo(10 * 2 + 30 * hot, 9);
  });
});
