import { expect, test } from 'vitest';
import { NO_FIGURES, withSample, type DayFigures } from '../../../../../src/cli/demo/day/figures.ts';
import { dayOfRequests, DAY_SECONDS } from '../../../../../src/cli/demo/day/load.ts';
import { CELL_SECONDS, dayLine, dayPicture, DAY_CELLS } from '../../../../../src/cli/demo/day/picture.ts';
import { summarizeDay } from '../../../../../src/cli/demo/day/summary.ts';
import type { EndpointActivity } from '../../../../../src/emulator/index.ts';
import type { FleetSample } from '../../../../../src/fleet/sample.ts';
import { widthOf } from '../../../../../src/cli/text/cell-width.ts';

const STEP = { seconds: 600, cellSeconds: 1200 };

function sampleOf(
  load: number,
  workers: Readonly<Record<string, number>>,
  costPerHour: number | null = 2,
): FleetSample {
  return {
    atMs: 0,
    workers,
    measures: {
      load,
      load_average: load,
      capacity_hot: 1000 * (workers['idle'] ?? 0),
      capacity_cold: 0,
      requests_working: 0,
      cost_per_hour: costPerHour,
    },
  };
}

function after(...samples: readonly FleetSample[]): DayFigures {
  return samples.reduce((figures, sample) => withSample(figures, sample, STEP), NO_FIGURES);
}

test('looks add up to cost and worker hours, by what a worker can do in its status', () => {
  const figures = after(
    sampleOf(500, { idle: 2, starting: 1, stopped: 3 }),
    sampleOf(900, { idle: 4, error: 1 }, 6),
  );
  expect(figures).toMatchObject({ seconds: 1200, mostReady: 4 });
  expect(figures.cost).toBeCloseTo((2 + 6) / 6);
  expect(figures.workerHours.ready).toBeCloseTo(1);
  expect(figures.workerHours.starting).toBeCloseTo(1 / 6);
  expect(figures.workerHours.cold).toBeCloseTo(0.5);
});

test('a part of the day is the mean of its looks, and the next one begins anew', () => {
  const figures = after(
    sampleOf(100, { idle: 1 }),
    sampleOf(300, { idle: 3 }),
    sampleOf(50, { idle: 1 }, null),
  );
  expect(figures.cells).toEqual([
    { load: 200, ready: 2000, costPerHour: 2 },
    { load: 50, ready: 1000, costPerHour: 0 },
  ]);
});

test('the requests are in order, the same each time, and none comes at night', () => {
  const { at_seconds, work } = dayOfRequests();
  expect(work).toHaveLength(at_seconds.length);
  expect(at_seconds.every((at, index) => index === 0 || at >= (at_seconds[index - 1] ?? 0))).toBe(true);
  expect(at_seconds[0]).toBeGreaterThan(5.5 * 3600);
  expect(at_seconds.at(-1)).toBeLessThan(23 * 3600);
  const between = (from: number, to: number) =>
    at_seconds.reduce((sum, at, index) => sum + (at >= from && at < to ? (work[index] ?? 0) : 0), 0) /
    (to - from);
  // The crowd of the morning, and the quieter noon.
  expect(between(8 * 3600, 8.25 * 3600)).toBeCloseTo(9_000, -3);
  expect(between(12.9 * 3600, 13.1 * 3600)).toBeCloseTo(3_000, -3);
  expect(dayOfRequests().at_seconds[1000]).toBe(at_seconds[1000]);
});

test('the picture fits any terminal, and keeps its height from midnight to midnight', () => {
  const cells = Array.from({ length: DAY_CELLS }, () => ({ load: 9_999, ready: 12_345, costPerHour: 3 }));
  const last = { ...after(sampleOf(9_999, { idle: 12, stopped: 4 })), seconds: DAY_SECONDS, cells };
  for (const columns of [20, 80, 200]) {
    const lines = dayPicture(last, ['08:00:00 starts 505 from cold'], { columns, hasColours: false });
    expect(Math.max(...lines.map(widthOf))).toBeLessThanOrEqual(columns);
  }
  const first = after(sampleOf(0, {}));
  const frame = { columns: 100, hasColours: false };
  expect(dayPicture(first, [], frame)).toHaveLength(dayPicture(last, [], frame).length);
  expect(DAY_CELLS * CELL_SECONDS).toBe(DAY_SECONDS);
});

test('the picture is what is asked and there now, and the day until now', () => {
  const figures = after(
    sampleOf(500, { idle: 1, stopped: 3 }),
    sampleOf(500, { idle: 1 }),
    sampleOf(2_500, { idle: 2, starting: 1 }, 6),
  );
  const lines = dayPicture(figures, ['starts 505'], { columns: 200, hasColours: false });
  expect(lines).toEqual([
    'A day of an endpoint, in a minute   00:30   ▌░░░░░░░░░░░░░░░░░░░░░░░',
    '',
    'load     2,500 of 2,000 units/s ready        ████████████████████████ 125%',
    'workers  2 ready, 1 starting, 0 cold         ██▒',
    'price    6.00 an hour, 1.67 so far           █ ready ▒ starting ░ cold × error',
    '',
    `         ${['00:00', '06:00', '12:00', '18:00']
      .map((hour) => hour.padEnd(18))
      .join('')
      .trimEnd()}`,
    'load     ▂█',
    'ready    ▄▇  █ 2,500',
    'price    ▃█',
    '',
    'starts 505',
  ]);
  const narrow = dayPicture(figures, [], { columns: 12, hasColours: true });
  expect(narrow[2]).toBe('load     2,…');
  expect(dayPicture(figures, [], { columns: 80, hasColours: true })[2]).toContain('\u001B[31m 125%\u001B[0m');
  expect(dayPicture(NO_FIGURES, [], { columns: 80, hasColours: false }).slice(0, 3)).toEqual([
    'A day of an endpoint, in a minute   00:00   ░░░░░░░░░░░░░░░░░░░░░░░░',
    '',
    '',
  ]);
  expect(dayLine(NO_FIGURES)).toBe('00:00');
  expect(dayPicture(after(sampleOf(5, {})), [], { columns: 80, hasColours: false })[2]).toBe(
    'load     5 of 0 units/s ready                ░░░░░░░░░░░░░░░░░░░░░░░░',
  );
});

test('the end says what was asked, how long it waited, and what it cost', () => {
  const figures = { ...after(sampleOf(500, { idle: 2, starting: 1, stopped: 3 })), cost: 12 };
  const activity = {
    taken: 900,
    waiting: 60,
    abandoned: 40,
    queueTime: { p50: 0.5, p99: 130 },
    starts: { fromNothing: 3, fromCold: 7 },
  } as unknown as EndpointActivity;
  expect(summarizeDay(figures, activity)).toEqual([
    '',
    'After 10 min of the day:',
    '  requests          1,000, 900 taken by a worker',
    '  waited            0.5 s in the middle, 2.17 min at most for 99%',
    '  workers           at most 2 ready; 3 made, 7 started from cold',
    '  worker hours      0.333 ready, 0.167 starting, 0.5 cold',
    '  cost              12.00, 12.00 for 1,000 requests',
  ]);
  const none = { ...activity, taken: 0, waiting: 0, abandoned: 0 };
  expect(summarizeDay({ ...figures, seconds: DAY_SECONDS }, none).slice(1)).toEqual([
    'After a day:',
    '  requests          0, 0 taken by a worker',
    expect.any(String),
    expect.any(String),
    expect.any(String),
    '  cost              12.00, — for 1,000 requests',
  ]);
});

test('a line says what is asked, what is there and what it costs', () => {
  expect(dayLine(after(sampleOf(500, { idle: 2, starting: 1, stopped: 3 })))).toBe(
    '00:10  load 500 of 2,000 units/s ready; 2 ready, 1 starting, 3 cold; 2.00 an hour, 0.33 so far',
  );
});
