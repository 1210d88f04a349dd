import { expect, test } from 'vitest';
import { StreamTimes } from '../../../../src/logs/sinks/otlp-times.ts';

/** The clock, ms. */
const NOW = 1_000_000;
const MICROS = NOW * 1000;
const AHEAD = 60_000_000;

test('times that are not ahead of the clock stay as they are, up to a minute', () => {
  const times = new StreamTimes(() => NOW);
  for (const time of [MICROS - 5, MICROS, MICROS + AHEAD])
    expect(times.timeOf('workergroup-7', time)).toBe(time);
});

test('what is further ahead is of now, and each is later than the one before it', () => {
  const times = new StreamTimes(() => NOW);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 1)).toBe(MICROS);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 2)).toBe(MICROS + 1);
  // The clock was set back: it is of the time after that, and so are those behind it.
  expect(times.timeOf('workergroup-7', MICROS - 10)).toBe(MICROS + 2);
  expect(times.timeOf('workergroup-7', MICROS + 2)).toBe(MICROS + 3);
  expect(times.timeOf('workergroup-7', MICROS + 4)).toBe(MICROS + 4);
  // Others have their own.
  expect(times.timeOf('workergroup-8', MICROS - 10)).toBe(MICROS - 10);
});

test('a time that was given while the clock was ahead does not hold up those after it for long', () => {
  let now = NOW;
  const times = new StreamTimes(() => now);
  expect(times.timeOf('workergroup-7', MICROS + AHEAD + 1)).toBe(MICROS);
  now -= AHEAD / 1000;
  expect(times.timeOf('workergroup-7', MICROS - 5)).toBe(MICROS + 1);
  now -= 1;
  expect(times.timeOf('workergroup-7', MICROS - AHEAD - 1_000)).toBe(MICROS - AHEAD - 1_000);
});
