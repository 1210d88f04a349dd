/** What is recorded is there when it is asked for: folded exactly, on disk for 40 days, in memory for one. */
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { describe, expect, test } from 'vitest';
import { MEASURES, STEPS, type FleetSample, type Measure } from '../../../../src/fleet/workers/measure.ts';
import type { WorkerLife } from '../../../../src/fleet/workers/lives.ts';
import * as fc from '../../../support/fast-check.ts';
import { Keeper } from '../../../support/kept-history.ts';
import { sampleAt, workerLife } from '../../../support/recorded-fleet.ts';
import { memoryFolder, temporaryFolder } from '../../../support/temporary-folder.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const life = (id: number) => workerLife({ id });

/** As it comes back from JSON. */
const stored = (id: number) => JSON.parse(JSON.stringify(life(id))) as WorkerLife;

describe.each(['memory', 'disk'])('a history in %s', (kind) => {
  const open = (path: string) => Keeper.open(kind === 'disk' ? path : undefined);

  test('answers in the shortest rows that are not too many, with the same sums', async () => {
    using folder = memoryFolder();
    await using keeper = await open(folder.path);
    const first = keeper.clock.now() + 15 * SECOND;
    for (let count = 0; count < 400; count += 1) await keeper.sample(count % 7);
    const samples = await keeper.query(100 * MINUTE, 1_000);
    expect(samples).toHaveLength(400);
    expect(samples[0]).toMatchObject({ fromMs: first, lengthMs: 0, samples: 1 });
    expect(samples[1]?.measures.load).toEqual({ count: 1, sum: 1, peak: 1 });
    expect(samples[0]?.workers).toEqual({
      idle: { count: 1, sum: 6, peak: 6 },
      model_loading: { count: 1, sum: 2, peak: 2 },
      stopped: { count: 1, sum: 10, peak: 10 },
    });
    for (const [maxRows, lengthMs] of [
      [400, 0],
      [399, MINUTE],
      [60, 2 * MINUTE],
      [50, 5 * MINUTE],
      [16, 10 * MINUTE],
    ] as const) {
      const rows = await keeper.query(100 * MINUTE, maxRows);
      expect(rows.length).toBeLessThanOrEqual(maxRows);
      expect(rows[0]?.lengthMs).toBe(lengthMs);
      expect(rows.reduce((sum, row) => sum + row.samples, 0)).toBe(400);
      const sum = rows.reduce((total, row) => total + row.measures.load.sum, 0);
      expect(sum).toBe(samples.reduce((total, row) => total + row.measures.load.sum, 0));
    }
    expect(await keeper.query(100 * MINUTE, 1_000, 'other')).toEqual([]);
  });

  test('keeps counts, sums and peaks exactly, whatever was seen', async () => {
    await fc.assert(
      fc.asyncProperty(SAMPLES, async (all) => {
        using folder = memoryFolder();
        await using keeper = await open(folder.path);
        for (const [index, sample] of all.entries())
          keeper.record({ ...sample, atMs: FOUR_WEEKS + index * 12 * HOUR });
        const { history } = keeper;
        const [row, ...others] = await history.query({ ...ALL, maxRows: 1 });
        expect([others, row?.samples]).toEqual([[], all.length]);
        for (const name of MEASURE_NAMES) {
          const known = all.flatMap(({ measures }) => measures[name] ?? []);
          const steps = known.map((value) => BigInt(Math.round(value * STEPS[name])));
          expect(row?.measures[name]).toEqual({
            count: known.length,
            sum: Number(steps.reduce((total, value) => total + value, 0n)) / STEPS[name],
            peak: Math.max(0, ...known),
          });
        }
        const idle = all.map(({ workers }) => workers['idle'] ?? 0);
        const sum = idle.reduce((total, count) => total + count, 0);
        const expected = { count: all.length, sum, peak: Math.max(...idle) };
        expect(row?.workers['idle']).toEqual(sum === 0 ? undefined : expected);
        const each = await history.query({ ...ALL, maxRows: all.length });
        expect(each.map(({ measures }) => measures.load.peak)).toEqual(
          all.map(({ measures }) => measures.load ?? 0),
        );
      }),
      { numRuns: 30 },
    );
  });

  test('leaves a hole where nothing was seen, and counts what was unknown as nothing', async () => {
    using folder = memoryFolder();
    await using keeper = await open(folder.path);
    for (let count = 0; count < 20; count += 1) await keeper.sample(4);
    await keeper.sample(null, 10 * MINUTE);
    const rows = await keeper.query(30 * MINUTE, 20);
    const found = rows.map(({ fromMs, measures }) => [fromMs % MINUTE, measures.load]);
    expect(found.slice(-2)).toEqual([
      [0, { count: 2, sum: 8, peak: 4 }],
      [0, { count: 0, sum: 0, peak: 0 }],
    ]);
    const [before = 0, after = 0] = rows.slice(-2).map(({ fromMs }) => fromMs);
    expect(after - before).toBe(10 * MINUTE);
  });

  test('answers the stretch of the first moment as a whole, and nothing from the last moment on', async () => {
    using folder = memoryFolder();
    await using keeper = await open(folder.path);
    for (let index = 0; index < 240; index += 1) keeper.record(sampleAt(BEGIN + index * 15 * SECOND));
    const within = async (from: number, to: number, maxRows: number) => {
      const query = { endpoint: 'chat', fromMs: BEGIN + from, toMs: BEGIN + to, maxRows };
      const rows = await keeper.history.query(query);
      return rows.map(({ fromMs, samples }) => [(fromMs - BEGIN) / SECOND, samples]);
    };
    expect(await within(30 * SECOND, 60 * SECOND, 16)).toEqual([
      [30, 1],
      [45, 1],
    ]);
    const rows = await within(90 * SECOND, 16 * MINUTE + 1, 16);
    expect([rows[0], rows.at(-1), rows.length]).toEqual([[60, 4], [960, 1], 16]);
    expect(await within(60 * SECOND, 60 * SECOND, 16)).toEqual([]);
  });

  test('goes on if the clock is set back, and adds to what was there', async () => {
    using folder = memoryFolder();
    await using keeper = await open(folder.path);
    for (let count = 0; count < 10; count += 1) await keeper.sample(1);
    const now = keeper.clock.now();
    for (let count = 0; count < 10; count += 1)
      keeper.record(sampleAt(now - 2 * MINUTE + 1 + count * 15 * SECOND));
    for (const maxRows of [1_000, 19, 16]) {
      const rows = await keeper.history.query({ ...ALL, toMs: now + HOUR, maxRows });
      expect(rows.reduce((sum, row) => sum + row.samples, 0)).toBe(20);
      expect(rows.map(({ fromMs }) => fromMs)).toEqual(
        [...new Set(rows.map(({ fromMs }) => fromMs))].toSorted((a, b) => a - b),
      );
    }
  });
});

const MEASURE_NAMES = Object.keys(MEASURES) as Measure[];
const BEGIN = 1_790_000_040_000;
/** The first moment of the longest row there is. */
const FOUR_WEEKS = 740 * 28 * DAY;
const ALL = { endpoint: 'chat', fromMs: 0, toMs: Infinity };
/** With as many digits as a sample has. */
const SAMPLES = fc.array(
  fc.record({
    measures: fc.record(
      Object.fromEntries(
        MEASURE_NAMES.map((name) => [
          name,
          fc.option(fc.integer({ min: 0, max: 2_000_000_000 }).map((steps) => steps / STEPS[name])),
        ]),
      ) as Record<Measure, fc.Arbitrary<number | null>>,
    ),
    workers: fc.dictionary(fc.constantFrom('idle', 'error', 'unknown'), fc.integer({ min: 1, max: 500 })),
  }),
  { minLength: 2, maxLength: 40 },
) satisfies fc.Arbitrary<readonly Omit<FleetSample, 'atMs'>[]>;

describe('a history in memory', () => {
  test('keeps a day, and an hour more at most', async () => {
    await using keeper = await Keeper.open(undefined);
    for (let hour = 0; hour < 50; hour += 1) await keeper.sample(hour, HOUR);
    const rows = await keeper.query(100 * HOUR, 100);
    expect(rows.length).toBeGreaterThanOrEqual(24);
    expect(rows.length).toBeLessThanOrEqual(26);
    expect(rows.at(-1)?.measures.load.sum).toBe(49);
    expect(keeper.history.trouble).toBeUndefined();
  });

  test('tells the hours from the first moment to the last, over the end of a day', async () => {
    await using keeper = await Keeper.open(undefined);
    for (let hour = 0; hour < 80; hour += 1) keeper.record(sampleAt(FOUR_WEEKS + hour * HOUR));
    const [fromMs, toMs] = [FOUR_WEEKS + 20 * HOUR, FOUR_WEEKS + 51 * HOUR];
    const hours = await keeper.history.hours('chat', fromMs, toMs, HOUR);
    expect(hours.map(({ atMs, seenMs, estimated }) => [(atMs - fromMs) / HOUR, seenMs, estimated])).toEqual(
      Array.from({ length: 31 }, (_, hour) => [hour, HOUR, 3.2]),
    );
    expect(keeper.history.labels()).toEqual(['chat']);
  });

  test('keeps 200,000 rows at most, the last ones', async () => {
    await using keeper = await Keeper.open(undefined);
    for (let index = 0; index < 201_000; index += 1) keeper.record(sampleAt(BEGIN + index * 18));
    await keeper.clock.advance(BEGIN + HOUR + 1 - keeper.clock.now());
    keeper.record(sampleAt(keeper.clock.now()));
    const rows = await keeper.history.query({ ...ALL, maxRows: 100 });
    expect(rows.reduce((sum, { samples }) => sum + samples, 0)).toBe(200_000);
    expect(rows[0]?.fromMs).toBe(BEGIN);
  });
});

describe('a history on disk', () => {
  test('goes on in the next process: rows, workers, start times, names', async () => {
    using folder = temporaryFolder();
    const known = [
      { id: 40, name: 'chat', label: 'chat' },
      { id: 31, name: undefined, label: '#31' },
    ];
    const starts = new Map([['chat', { new: [40], cold: [12.5, 3] }]]);
    const first = await Keeper.open(folder.path);
    await first.sample(1);
    const atMs = first.clock.now();
    first.record(sampleAt(atMs + 1, { load: 5 }), { lives: [life(1), life(2)], starts });
    first.record(sampleAt(atMs + 2, { load: 5 }), { gone: [2] });
    first.history.record({ known });
    await first.history.stop();

    await using second = new Keeper(folder.path, atMs + 20);
    const kept = await second.history.open();
    expect({ ...kept }).toEqual({ lives: [stored(1)], starts, known });
    expect(second.history.lastMs('chat')).toBe(atMs + 2);
    await second.sample(2, 0);
    const rows = await second.query(DAY, 1_000);
    expect(rows.map(({ measures }) => measures.load.sum)).toEqual([1, 5, 5, 2]);
  });

  test('leaves out a worker that cannot be read, and has the others', async () => {
    using folder = temporaryFolder();
    const first = await Keeper.open(folder.path);
    first.record(sampleAt(BEGIN), { lives: [life(1), life(2), life(3)] });
    await first.history.stop();
    using db = new DatabaseSync(`${folder.path}/fleet.sqlite`);
    db.exec("UPDATE state SET body = '{' WHERE key = 'worker:1'");
    db.exec("UPDATE state SET body = json_set(body, '$.changes', 3) WHERE key = 'worker:3'");
    db.close();
    await using second = new Keeper(folder.path);
    expect([...((await second.history.open())?.lives ?? [])]).toEqual([stored(2)]);
  });

  test('that cannot be read is set aside, at the start or later, and begins anew', async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/fleet.sqlite`;
    writeFileSync(path, 'no database');
    const keeper = await Keeper.open(folder.path);
    expect(keeper.aside).toEqual([expect.stringMatching(/fleet\.sqlite\.corrupt-2023-11-14T\d+\.\d+Z$/)]);
    keeper.kept.lives.push(life(1));
    await keeper.sample(1);
    expect(keeper.troubles).toEqual([]);
    // And a file that is taken away is made again, with what is known of the workers.
    rmSync(path);
    await keeper.sample(2);
    expect(keeper.history.trouble).toContain('is gone');
    expect(await keeper.loads()).toEqual([]);
    await keeper.sample(3);
    expect(keeper.history.trouble).toBeUndefined();
    expect([keeper.troubles.length, keeper.stored]).toEqual([1, 1]);
    expect(readdirSync(folder.path)).toContain('fleet.sqlite');
    await keeper.history.stop();
    await using next = new Keeper(folder.path, keeper.clock.now());
    expect([...((await next.history.open())?.lives ?? [])]).toEqual([stored(1)]);
    expect(await next.loads()).toEqual([3]);
  });

  test('with a damaged page is set aside when that is read, and begins anew', async () => {
    using folder = temporaryFolder();
    const path = `${folder.path}/fleet.sqlite`;
    const first = await Keeper.open(folder.path);
    for (let count = 0; count < 2_000; count += 1) first.record(sampleAt(BEGIN + count * SECOND));
    await first.history.stop();
    const bytes = readFileSync(path);
    // Not the first pages: these are read when it is opened.
    bytes.fill(0xff, 32_768, bytes.length - 4_096);
    writeFileSync(path, bytes);
    await using keeper = new Keeper(folder.path, BEGIN + HOUR);
    await keeper.history.open();
    await expect(keeper.history.query({ ...ALL, maxRows: 16 })).rejects.toThrow('malformed');
    expect(keeper.history.trouble).toContain('malformed');
    await keeper.sample(1);
    await keeper.sample(2);
    expect(keeper.aside).toEqual([expect.stringContaining('fleet.sqlite.corrupt-')]);
    expect(await keeper.loads()).toEqual([1, 2]);
    expect(keeper.history.trouble).toBeUndefined();
  });

  test('of a newer version is left alone and said, until it is readable', async () => {
    using folder = temporaryFolder();
    const before = await Keeper.open(folder.path);
    await before.sample(1);
    await before.history.stop();
    const path = `${folder.path}/fleet.sqlite`;
    const setVersion = (version: number) => {
      using db = new DatabaseSync(path);
      // Who wrote it may have chosen another journal, too.
      db.exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${version}`);
    };
    setVersion(5);
    const bytes = readFileSync(path);
    const keeper = new Keeper(folder.path);
    expect(await keeper.history.open()).toBeUndefined();
    expect(keeper.history.trouble).toContain('newer Pilotlight');
    for (let count = 0; count < 10; count += 1) await keeper.sample(count);
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect([keeper.aside, keeper.troubles.length]).toEqual([[], 1]);
    expect(await keeper.loads()).toEqual([]);
    setVersion(4);
    keeper.kept.lives.push(life(9));
    // The missing samples are stored at the end.
    await keeper.history.stop();
    expect(keeper.history.trouble).toBeUndefined();
    await using next = new Keeper(folder.path, keeper.clock.now());
    expect([...((await next.history.open())?.lives ?? [])]).toEqual([stored(9)]);
    expect(await next.loads()).toEqual([1]);
  });

  test('is waited for while another process has it; samples are missing if that takes too long', async () => {
    using folder = temporaryFolder();
    const other = await Keeper.open(folder.path);
    const starts = new Map([['chat', { new: [40], cold: [] }]]);
    other.record(sampleAt(other.clock.now(), { load: 1 }), { lives: [life(1)], starts });
    const keeper = new Keeper(folder.path);
    const opening = keeper.history.open();
    await keeper.clock.advance(6_000);
    expect([await opening, keeper.history.trouble]).toEqual([
      undefined,
      expect.stringContaining('in use by another process'),
    ]);
    await keeper.sample(2, 30 * SECOND);
    await other.history.stop();
    keeper.kept.lives.push(life(2));
    await keeper.sample(3);
    expect([keeper.history.trouble, await keeper.loads()]).toEqual([undefined, [1, 3]]);
    await keeper.history.stop();
    // What it did not know of goes on; workers are those that it sees.
    await using next = new Keeper(folder.path, keeper.clock.now());
    expect(await next.history.open()).toMatchObject({ lives: [stored(2)], starts });
  });

  test('keeps 40 days, and forgets an endpoint when nothing is left of it', async () => {
    using folder = temporaryFolder();
    const keeper = await Keeper.open(folder.path);
    keeper.history.record({
      sample: ['gone', sampleAt(keeper.clock.now())],
      starts: new Map([['gone', { new: [7], cold: [] }]]),
    });
    await keeper.sample(0, HOUR);
    for (let day = 1; day <= 39; day += 1) await keeper.sample(day, DAY);
    expect(await keeper.loads()).toEqual(Array.from({ length: 40 }, (_, day) => day));
    expect(await keeper.query(60 * DAY, 100, 'gone')).toHaveLength(1);
    await keeper.sample(40, DAY - 1);
    await keeper.sample(41, DAY);
    expect(await keeper.loads()).toEqual(Array.from({ length: 41 }, (_, day) => day + 1));
    expect(await keeper.query(60 * DAY, 100, 'gone')).toEqual([]);
    await keeper.history.stop();
    await using next = new Keeper(folder.path, keeper.clock.now());
    expect((await next.history.open())?.starts).toEqual(new Map());
  });

  test('gets a column for each measure and status that it lacks', async () => {
    using folder = temporaryFolder();
    const before = await Keeper.open(folder.path);
    await before.sample(1);
    await before.history.stop();
    const db = new DatabaseSync(`${folder.path}/fleet.sqlite`);
    db.exec('ALTER TABLE samples DROP COLUMN load_average; ALTER TABLE samples DROP COLUMN workers_idle');
    db.close();
    await using keeper = new Keeper(folder.path);
    await keeper.history.open();
    await keeper.clock.advance(MINUTE);
    await keeper.sample(2);
    const rows = await keeper.query(DAY, 100);
    expect(rows.map(({ measures, workers }) => [measures.load_average.count, workers['idle']?.sum])).toEqual([
      [0, undefined],
      [1, 6],
    ]);
  });
});
