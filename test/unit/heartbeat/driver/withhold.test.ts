import { expect, test } from 'vitest';
import { HeartbeatDriver } from '../../../../src/heartbeat/driver/driver.ts';
import type { BeatRequest } from '../../../../src/heartbeat/driver/ports.ts';
import { viewsOf } from './due.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

function rig() {
  const time = new VirtualTime();
  const sent: number[] = [];
  const beat = ({ deploymentId, signal }: BeatRequest): Promise<{ readonly type: 'accepted' }> => {
    sent.push(deploymentId);
    const { promise, resolve, reject } = Promise.withResolvers<{ readonly type: 'accepted' }>();
    const cancel = time.deliver(time.now + 50, () => resolve({ type: 'accepted' }));
    signal.addEventListener('abort', () => {
      cancel();
      reject(new Error('aborted'));
    });
    return promise;
  };
  const driver = new HeartbeatDriver({
    key: 'key',
    // One after the other, to see the order.
    concurrency: 1,
    ports: {
      clock: time.clock,
      random: () => 0.5,
      setTimer: time.setTimer,
      beat,
      readKey: () => Promise.resolve('key'),
      listener() {},
    },
  });
  const states = (): string[] => viewsOf(driver).map(({ state }) => state);
  return { time, driver, sent, states };
}

test('all are withheld, also what is added meanwhile, and a reload beats none of them', async () => {
  const { time, driver, sent, states } = rig();
  driver.add({ id: 1, ttl: 20_000, interval: 'auto' });
  await time.pass(100);
  driver.withhold();
  driver.add({ id: 2, ttl: 60_000, interval: 'auto' });
  driver.add({ id: 1, ttl: 6_000, interval: 'auto' });
  driver.beatNow(() => true);
  await driver.readKey();
  await time.pass(100_000);
  expect([states(), sent]).toEqual([['withheld', 'withheld'], [1]]);
  expect(viewsOf(driver)).toMatchObject([{ lapses: 0 }, { attempts: 0 }]);
  expect(viewsOf(driver)[0]).not.toHaveProperty('nextBeatAt');
  expect(await time.until(driver.finalBeat())).toEqual([]);
  expect(sent).toEqual([1]);
  await driver.stop();
  expect(time.timers).toBe(0);
});

test('lit again, who may live goes first, by its remaining time, and who may be lost is named', async () => {
  const { time, driver, sent, states } = rig();
  for (const [id, ttl] of [
    [1, 60_000],
    [2, 20_000],
    [3, 30_000],
    [4, 31_000],
  ] as const)
    driver.add({ id, ttl, interval: 'auto' });
  await time.pass(1_000);
  driver.withhold();
  const left = (id: number): number => (driver.snapshotOf(id)?.expiresAt ?? 0) - time.clock.wall();
  await time.pass(left(4) - 2_000);
  sent.length = 0;
  // 2 has lapsed; 3 has less than A, 1.5 s, left.
  expect(driver.resume()).toEqual([2, 3]);
  await time.pass(400);
  expect(sent).toEqual([3, 4, 1, 2]);
  expect(new Set(states())).toEqual(new Set(['healthy']));
  expect(driver.resume()).toEqual([]);
});
