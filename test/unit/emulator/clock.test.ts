import { expect, onTestFinished, test, vi } from 'vitest';
import { ScheduledClock } from '../../../src/emulator/clock.ts';

const DAY = 86_400_000;

test('a frozen clock stands still, and runs on from where it stood', async () => {
  let real = 1_000;
  using clock = new ScheduledClock('real', undefined, () => real);
  expect([clock.now(), clock.mode]).toEqual([1_000, 'real']);
  await clock.freeze();
  real = 5_000;
  expect([clock.now(), clock.mode]).toEqual([1_000, 'frozen']);
  clock.resume();
  real = 5_500;
  expect([clock.now(), clock.mode, clock.offsetMs]).toEqual([1_500, 'offset', -4_000]);
  await clock.offset(0);
  expect([clock.now(), clock.mode]).toEqual([5_500, 'real']);
});

test('advance runs what falls due in its order and at its time, before it resolves', async () => {
  using clock = new ScheduledClock({ frozenAtMs: 0 });
  const seen: [string, number][] = [];
  clock.schedule(2 * DAY, () => void seen.push(['second', clock.now()]));
  clock.schedule(DAY, async () => {
    await Promise.resolve();
    seen.push(['first', clock.now()]);
    clock.schedule(DAY + 1, () => void seen.push(['added on the way', clock.now()]));
  });
  clock.schedule(3 * DAY, () => void seen.push(['not yet', clock.now()]));
  const cancel = clock.schedule(DAY, () => void seen.push(['cancelled', clock.now()]));
  cancel();
  await clock.advance(3 * DAY - 1);
  expect(seen).toEqual([
    ['first', DAY],
    ['added on the way', DAY + 1],
    ['second', 2 * DAY],
  ]);
  expect(clock.now()).toBe(3 * DAY - 1);
});

test('freezing in the future and an offset make things due as well', async () => {
  using clock = new ScheduledClock({ frozenAtMs: 0 }, undefined, () => 0);
  const seen: number[] = [];
  clock.schedule(10, () => void seen.push(clock.now()));
  clock.schedule(20, () => void seen.push(clock.now()));
  await clock.freeze(15);
  expect(seen).toEqual([10]);
  await clock.offset(25);
  expect(seen).toEqual([10, 20]);
});

test('whoever listens for moves sees the time before each of them', async () => {
  const moves: number[] = [];
  using clock = new ScheduledClock({ frozenAtMs: 100 }, (beforeMs) => moves.push(beforeMs));
  await clock.advance(50);
  await clock.freeze(20);
  expect(moves[0]).toBe(100);
  expect(moves.at(-1)).toBe(150);
  expect(clock.now()).toBe(20);
});

test('a clock does not advance backwards', async () => {
  using clock = new ScheduledClock({ frozenAtMs: 0 });
  await expect(clock.advance(-1)).rejects.toThrow(RangeError);
  await expect(clock.advance(Number.NaN)).rejects.toThrow(RangeError);
});

test('a long way is passed in steps that take no long time, and others get their turn between them', async () => {
  let real = 0;
  const steps: number[] = [];
  let last = 0;
  // Each hour of the emulator's time costs a second of real time.
  const onMove = (atMs: number) => {
    real += (atMs - last) / 3600;
    steps.push(atMs - last);
    last = atMs;
  };
  using clock = new ScheduledClock({ frozenAtMs: 0 }, onMove, () => real);
  clock.schedule(DAY, () => {});
  const turns: number[] = [];
  const passing = clock.advance(2 * DAY);
  while (clock.now() < 2 * DAY) {
    turns.push(clock.now());
    await new Promise((resolve) => setImmediate(resolve));
  }
  await passing;
  expect(Math.max(...steps) / 3600).toBeLessThanOrEqual(200);
  expect(new Set(turns).size).toBeGreaterThan(100);
});

test('an idle year is passed in few steps', async () => {
  const moves: number[] = [];
  using clock = new ScheduledClock(
    { frozenAtMs: 0 },
    (atMs) => moves.push(atMs),
    () => 0,
  );
  await clock.advance(365 * DAY);
  expect(moves.length).toBeLessThan(25);
});

test('a running clock runs what is due by a timer, and disposing it leaves none', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const clock = new ScheduledClock();
  let runs = 0;
  clock.schedule(clock.now() + 5, () => void (runs += 1));
  clock.schedule(clock.now() + 40 * DAY, () => void (runs += 1));
  await vi.advanceTimersByTimeAsync(4);
  expect(runs).toBe(0);
  await vi.advanceTimersByTimeAsync(1);
  expect([runs, vi.getTimerCount()]).toEqual([1, 1]);
  clock[Symbol.dispose]();
  expect(vi.getTimerCount()).toBe(0);
  clock.schedule(clock.now() + DAY, () => void (runs += 1));
  expect(vi.getTimerCount()).toBe(0);
});
