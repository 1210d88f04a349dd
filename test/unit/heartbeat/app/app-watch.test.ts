import * as fc from '../../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { AppWatch, observeApp, type AppAnswer, type AppHealth } from '../../../../src/heartbeat/app-watch.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

const WELL: AppAnswer = { healthy: true };
const BAD: AppAnswer = { healthy: false, why: 'status 503' };

/** A watch whose app answers as the test says: undefined is silence; a number, a good answer so many ms later. */
function rig(grace = 20_000) {
  const time = new VirtualTime();
  const asked: number[] = [];
  const told: boolean[] = [];
  const app = { open: 0, mostOpen: 0, answer: (): AppAnswer | number | undefined => WELL };
  const watch = new AppWatch({
    grace,
    ports: { clock: time.clock, setTimer: time.setTimer },
    ask(signal) {
      asked.push(Math.round(time.now));
      app.open += 1;
      app.mostOpen = Math.max(app.mostOpen, app.open);
      const answer = app.answer();
      const answered =
        typeof answer === 'number' ? time.answer(WELL, answer, signal) : time.answer(answer, 0, signal);
      return answered.finally(() => (app.open -= 1));
    },
    onHealth: ({ withheld }) => void told.push(withheld),
  });
  return { time, watch, app, asked, told };
}

test('a well app is asked every five seconds, by its own clock', async () => {
  const { time, watch, asked } = rig();
  expect([watch.snapshot().state, asked]).toEqual(['unknown', []]); // the first heartbeats leave before
  await time.pass(16_000);
  expect(asked).toEqual([0, 5_000, 10_000, 15_000]);
  expect(watch.snapshot()).toEqual({ state: 'healthy', unhealthyMs: 0, graceMs: 20_000 });
});

test('one that hangs is given up after two seconds each time, and withheld after its grace', async () => {
  const { time, watch, app, asked } = rig();
  await time.pass(1);
  app.answer = () => undefined;
  await time.pass(21_000);
  expect([watch.health.withheld, watch.why]).toEqual([false, 'no answer within 2 s']);
  await time.pass(1_500); // the answer to the question of 20 s
  expect(watch.snapshot()).toMatchObject({ state: 'withheld', why: 'no answer within 2 s' });
  expect(asked.at(-1)).toBe(22_000);
});

test('while it is withheld it is asked every second, also beside questions that hang', async () => {
  const { time, watch, app, asked } = rig(5_000);
  app.answer = () => undefined;
  await time.pass(10_000);
  expect(watch.health.withheld).toBe(true);
  const before = asked.length;
  await time.pass(10_000);
  expect(asked.length - before).toBe(10);
  expect([app.mostOpen, app.open]).toEqual([2, 2]);
});

test('what was asked before a good answer is not waited for, and counts for nothing', async () => {
  const { time, watch, app } = rig(5_000);
  app.answer = () => undefined;
  await time.pass(9_990);
  expect(watch.health.withheld).toBe(true);
  app.answer = () => 500;
  await time.pass(1_000);
  expect(watch.health).toMatchObject({ withheld: false, unhealthyMs: 0, misses: 0 });
  await time.pass(2_500);
  expect([watch.health.misses, app.open]).toEqual([0, 0]);
});

test('an answer that takes just under two seconds is good, for as long as it likes', async () => {
  const { time, watch, app } = rig(5_000);
  app.answer = () => 1_999;
  await time.pass(60_000);
  expect([watch.health.withheld, watch.health.unhealthyMs]).toEqual([false, 0]);
  app.answer = () => 2_001;
  await time.pass(20_000);
  expect(watch.health.withheld).toBe(true);
});

test('a port that throws is no good answer', async () => {
  const { time, watch, app } = rig(5_000);
  app.answer = () => {
    throw new Error('no descriptor left');
  };
  await time.pass(11_000);
  expect([watch.health.withheld, watch.why]).toEqual([true, 'it could not be asked']);
});

test('a longer grace resumes it, and the same changes nothing', async () => {
  const { time, watch, app, told } = rig(5_000);
  app.answer = () => BAD;
  await time.pass(12_000);
  const before = told.length;
  watch.setGrace(5_000);
  expect(told).toHaveLength(before);
  watch.setGrace(60_000);
  expect([watch.health.withheld, told.at(-1)]).toEqual([false, false]);
});

test('after stop() no timer and no question remains, and nothing is told', async () => {
  const { time, watch, app, told } = rig(5_000);
  app.answer = () => undefined;
  await time.pass(20_500);
  watch.stop();
  const before = told.length;
  await time.pass(60_000);
  expect([time.timers, app.open, told.length]).toEqual([0, 0, before]);
});

/** Answers, each so many ms after the one before. */
function after(answers: readonly (readonly [ms: number, healthy: boolean])[], grace = 60_000): AppHealth {
  let mono = 1_000;
  let health: AppHealth = { grace, unhealthyMs: 0, misses: 0, heardAt: mono, withheld: false };
  for (const [ms, well] of answers) {
    mono += ms;
    health = observeApp(health, well, mono);
  }
  return health;
}

const bad = (count: number, ms = 5_000) => Array.from({ length: count }, () => [ms, false] as const);

test('time in which it could not be asked does not count: a sleep, a stall, a clock that jumped', () => {
  const asleep = after([[5_000, true], [3_600_000, false], ...bad(3)]);
  expect(asleep).toMatchObject({ withheld: false, unhealthyMs: 8_000 + 15_000 });
  expect(after([[5_000, true], ...bad(2, -9e9)])).toMatchObject({ withheld: false, unhealthyMs: 0 });
});

test('withheld exactly where the last good answer is a grace ago, or the start, by what could be asked', () => {
  const answer = fc.tuple(fc.integer({ min: 0, max: 20_000 }), fc.boolean());
  fc.assert(
    fc.property(fc.array(answer), fc.integer({ min: 5_000, max: 60_000 }), (answers, grace) => {
      const since = answers.slice(answers.findLastIndex(([, well]) => well) + 1);
      const unhealthy = since.reduce((sum, [ms]) => sum + Math.min(ms, 8_000), 0);
      expect(after(answers, grace).withheld).toBe(since.length >= 2 && unhealthy >= grace);
    }),
  );
});
