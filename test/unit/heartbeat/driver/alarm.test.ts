import { expect, test } from 'vitest';
import { Alarm } from '../../../../src/heartbeat/driver/driver.ts';
import { VirtualTime } from '../../../support/virtual-time.ts';

function ringing() {
  const time = new VirtualTime();
  const rung: number[] = [];
  const alarm = new Alarm({ clock: time.clock, setTimer: time.setTimer }, () =>
    rung.push(Math.round(time.now)),
  );
  return { time, rung, alarm };
}

test('rings once, at the earliest of the times that it was set for', async () => {
  const { time, rung, alarm } = ringing();
  alarm.set(500);
  alarm.set(300);
  alarm.set(400);
  expect(time.timers).toBe(1);
  await time.pass(1_000);
  expect(rung).toEqual([300]);
  alarm.set(1_200);
  await time.pass(1_000);
  expect(rung).toEqual([300, 1_200]);
});

test('set for nothing it rings no more', async () => {
  const { time, rung, alarm } = ringing();
  alarm.set(500);
  alarm.set(Infinity);
  expect(time.timers).toBe(0);
  await time.pass(1_000);
  alarm.set(100); // which is past
  await time.pass(1);
  expect(rung).toEqual([1_000]);
});
