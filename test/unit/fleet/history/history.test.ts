import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { History } from '../../../../src/fleet/history/history.ts';
import { MemoryHistory } from '../../../../src/fleet/history/places/memory-history.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import type { HistoryStore, StoredState } from '../../../../src/fleet/history/store.ts';
import type { FleetSample } from '../../../../src/fleet/sample.ts';
import type { WorkerLife } from '../../../../src/fleet/workers/lives.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const SECOND = 1_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

class Keeper {
  readonly clock = new VirtualClock();
  readonly lives = new Map<number, WorkerLife>();
  readonly troubles: unknown[] = [];
  stored = 0;
  readonly history: History;

  constructor(store: HistoryStore) {
    this.history = new History({
      store,
      clock: this.clock,
      lives: () => this.lives.values(),
      onTrouble: (error) => this.troubles.push(error),
      onStored: () => (this.stored += 1),
    });
  }

  /** A sample after so long. */
  async sample(load: number | null, afterMs = 15 * SECOND, label = 'chat'): Promise<FleetSample> {
    await this.clock.advance(afterMs);
    const sample = sampleOf(this.clock.now(), load);
    this.history.record({ label, sample, changed: [], gone: [], events: [] });
    await settled();
    return sample;
  }

  query(agoMs: number, maxRows: number, label = 'chat') {
    const toMs = this.clock.now() + 1;
    return this.history.query({ endpoint: label, fromMs: toMs - agoMs, toMs, maxRows });
  }
}

function sampleOf(atMs: number, load: number | null): FleetSample {
  const rest = {
    load_average: 1,
    capacity_hot: 100,
    capacity_cold: 50,
    requests_working: 3,
    spend_per_hour: 0.4,
  };
  return { atMs, measures: { load, ...rest }, workers: { idle: 2 } };
}

function life(id: number): WorkerLife {
  const [endpoint, firstSeenMs, changes] = ['chat', 5, [['idle', 5]] as const];
  return {
    id,
    endpoint,
    firstSeenMs,
    changes,
    start: undefined,
    perf: 7,
    missed: 0,
    missingSinceMs: undefined,
  };
}

const kinds: [string, (path: string) => HistoryStore][] = [
  ['memory', () => new MemoryHistory()],
  ['disk', sqlite],
];
function sqlite(directory: string, aside: string[] = []): SqliteHistory {
  return new SqliteHistory({
    directory,
    now: () => 0,
    onSetAside: (path) => aside.push(path),
    onHole: (endpoint, rows) => aside.push(`${rows} of ${endpoint}`),
  });
}

describe.each(kinds)('a history in %s', (_kind, make) => {
  test('has each sample, minutes and hours, with the one that is not over', async () => {
    using folder = temporaryFolder();
    const keeper = new Keeper(make(folder.path));
    await keeper.history.open();
    const first = await keeper.sample(1);
    for (let count = 1; count < 400; count += 1) await keeper.sample(count % 7);
    const samples = await keeper.query(100 * MINUTE, 1_000);
    expect(samples).toHaveLength(400);
    expect(samples[0]).toMatchObject({ fromMs: first.atMs, lengthMs: 0, samples: 1 });
    expect(samples[0]?.measures.load).toEqual({ count: 1, sum: 1, peak: 1 });
    expect(samples[0]?.workers).toEqual({ idle: { count: 1, sum: 2, peak: 2 } });
    for (const [maxRows, lengthMs] of [
      [399, MINUTE],
      [60, 2 * MINUTE],
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
    await keeper.history.stop();
  });

  test('leaves a hole where nothing was seen, and counts what was unknown as nothing', async () => {
    using folder = temporaryFolder();
    const keeper = new Keeper(make(folder.path));
    await keeper.history.open();
    await keeper.sample(4);
    await keeper.sample(null, 10 * MINUTE);
    const rows = await keeper.query(30 * MINUTE, 30);
    expect(rows.map(({ measures }) => measures.load.count)).toEqual([1, 0]);
    await keeper.history.stop();
  });

  test('goes on where the clock is set back, and adds to what was there', async () => {
    using folder = temporaryFolder();
    const keeper = new Keeper(make(folder.path));
    await keeper.history.open();
    for (let count = 0; count < 10; count += 1) await keeper.sample(1);
    const { clock, history } = keeper;
    const back = (atMs: number) => {
      history.record({ label: 'chat', sample: sampleOf(atMs, 1), changed: [], gone: [], events: [] });
      return settled();
    };
    for (let count = 0; count < 10; count += 1) await back(clock.now() - 2 * MINUTE + count * 15 * SECOND);
    const fromMs = clock.now() - HOUR;
    const query = (maxRows: number) =>
      history.query({ endpoint: 'chat', fromMs, toMs: clock.now() + HOUR, maxRows });
    for (const maxRows of [1_000, 120, 30]) {
      const rows = await query(maxRows);
      expect(rows.reduce((sum, row) => sum + row.samples, 0)).toBe(20);
      expect(new Set(rows.map((row) => row.fromMs)).size).toBe(rows.length);
    }
    await history.stop();
  });
});

describe('a history on disk', () => {
  test('goes on in the next process: rows, the minute that was open, workers, starts, names', async () => {
    using folder = temporaryFolder();
    const first = new Keeper(sqlite(folder.path));
    await first.history.open();
    await first.sample(1);
    const { history, clock } = first;
    history.record({
      label: 'chat',
      sample: sampleOf(clock.now() + 1, 5),
      changed: [life(1), life(2)],
      gone: [],
      events: [
        { kind: 'started', workerId: 1, from: 'cold', seconds: 12.5, perf: 7 },
        { kind: 'failed', workerId: 2 },
      ],
    });
    history.record({
      label: 'chat',
      sample: sampleOf(clock.now() + 2, 5),
      changed: [],
      gone: [2],
      events: [],
    });
    const known = [
      { id: 40, name: 'chat', label: 'chat' },
      { id: 31, name: undefined, label: '#31' },
    ];
    history.recordKnown(known);
    await history.stop();

    const second = new Keeper(sqlite(folder.path));
    await second.clock.advance(clock.now() + 20 - second.clock.now());
    const stored = (await second.history.open()) as StoredState;
    expect(stored.lives).toEqual([life(1)]);
    expect(stored.known).toEqual(known);
    expect(stored.starts).toEqual([
      { endpoint: 'chat', atMs: clock.now() + 1, from: 'cold', seconds: 12.5, perf: 7 },
    ]);
    expect(second.history.lastMs('chat')).toBe(clock.now() + 2);
    await second.sample(2, 0);
    const rows = await second.query(DAY, 1_000);
    expect(rows.map(({ measures }) => measures.load.sum)).toEqual([1, 5, 5, 2]);
    const [minute] = await second.query(30 * MINUTE, 3);
    expect(minute).toMatchObject({ samples: 4, measures: { load: { sum: 13 } } });
    await second.history.stop();
  });

  test('that cannot be read is set aside, at the start or later, and begins anew', async () => {
    using folder = temporaryFolder();
    const { writeFileSync, readdirSync, rmSync } = await import('node:fs');
    const path = `${folder.path}/fleet.sqlite`;
    writeFileSync(path, 'no database');
    const aside: string[] = [];
    const keeper = new Keeper(sqlite(folder.path, aside));
    await keeper.history.open();
    expect(aside).toEqual([`${path}.corrupt-1970-01-01T000000.000Z`]);
    keeper.lives.set(1, life(1));
    await keeper.sample(1);
    expect(keeper.troubles).toEqual([]);
    // And a file that is taken away is made again, with what is known of the workers.
    rmSync(path);
    await keeper.sample(2);
    expect(keeper.history.trouble).toContain('is gone');
    await keeper.sample(3);
    expect(keeper.history.trouble).toBeUndefined();
    expect(keeper.stored).toBe(1);
    expect(readdirSync(folder.path)).toContain('fleet.sqlite');
    await keeper.history.stop();
    const next = new Keeper(sqlite(folder.path));
    expect((await next.history.open())?.lives).toEqual([life(1)]);
    await next.history.stop();
  });

  test('with rows that cannot be read answers with the others, and says so once', async () => {
    using folder = temporaryFolder();
    const before = new Keeper(sqlite(folder.path));
    await before.history.open();
    for (const load of [1, 2, 3]) await before.sample(load);
    await before.history.stop();
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(`${folder.path}/fleet.sqlite`);
    db.exec(
      "UPDATE history SET row = x'ffff' WHERE tier = 0 AND at = (SELECT min(at) FROM history WHERE tier = 0)",
    );
    db.close();
    const said: string[] = [];
    const keeper = new Keeper(sqlite(folder.path, said));
    await keeper.clock.advance(HOUR);
    await keeper.history.open();
    for (let times = 0; times < 2; times += 1) {
      const rows = await keeper.query(DAY, 1_000);
      expect(rows.map(({ measures }) => measures.load.sum)).toEqual([2, 3]);
    }
    expect(said).toEqual(['1 of chat']);
    await keeper.history.stop();
  });

  test.each([1, 2])('of version %i goes on', async (version) => {
    using folder = temporaryFolder();
    const before = new Keeper(sqlite(folder.path));
    await before.history.open();
    await before.sample(1);
    await before.history.stop();
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(`${folder.path}/fleet.sqlite`);
    db.exec(`PRAGMA user_version = ${version}`);
    db.close();
    const after = new Keeper(sqlite(folder.path));
    await after.history.open();
    await after.clock.advance(DAY);
    expect(await after.query(2 * DAY, 100)).toHaveLength(1);
    await after.history.stop();
  });

  test('of a newer version is left alone and said; samples are held meanwhile, up to a bound', async () => {
    using folder = temporaryFolder();
    const before = new Keeper(sqlite(folder.path));
    await before.history.open();
    await before.sample(1);
    await before.history.stop();
    const { DatabaseSync } = await import('node:sqlite');
    const path = `${folder.path}/fleet.sqlite`;
    const setVersion = (version: number) => {
      const db = new DatabaseSync(path);
      // Who wrote it may have chosen another journal, too.
      db.exec(`PRAGMA journal_mode = DELETE; PRAGMA user_version = ${version}`);
      db.close();
    };
    setVersion(4);
    const bytes = readFileSync(path);
    const aside: string[] = [];
    const keeper = new Keeper(sqlite(folder.path, aside));
    expect(await keeper.history.open()).toBeUndefined();
    expect(readFileSync(path).equals(bytes)).toBe(true);
    expect(keeper.history.trouble).toContain('newer Pilotlight');
    for (let count = 0; count < 1_000; count += 1) await keeper.sample(1);
    expect(aside).toEqual([]);
    expect(keeper.troubles).toHaveLength(1);
    expect(await keeper.query(DAY, 10_000)).toHaveLength(801);
    setVersion(3);
    keeper.lives.set(9, life(9));
    await keeper.sample(1);
    expect(keeper.history.trouble).toBeUndefined();
    await keeper.history.stop();
    const next = new Keeper(sqlite(folder.path));
    await next.clock.advance(DAY);
    const stored = await next.history.open();
    expect(stored?.lives).toEqual([life(9)]);
    expect(await next.query(3 * DAY, 5_000)).toHaveLength(802);
    await next.history.stop();
    // The minute that the first process left open is a row: the second had one of its own.
    const file = sqlite(folder.path);
    await file.open();
    const [minute] = await file.read('chat', 'minute', 0, Infinity);
    expect(minute?.samples).toBe(1);
    file.close();
  });

  test('keeps samples for 3 days, minutes for 40, hours for 400', async () => {
    using folder = temporaryFolder();
    const keeper = new Keeper(sqlite(folder.path));
    await keeper.history.open();
    await keeper.sample(1);
    const oldest = async () => (await keeper.query(500 * DAY, 100_000))[0];
    for (let day = 1; day <= 2; day += 1) await keeper.sample(day, DAY);
    expect(await oldest()).toMatchObject({ lengthMs: 0 });
    for (let day = 3; day <= 5; day += 1) await keeper.sample(day, DAY);
    expect(await oldest()).toMatchObject({ lengthMs: MINUTE, measures: { load: { sum: 1 } } });
    for (let day = 6; day <= 50; day += 1) await keeper.sample(day, DAY);
    expect(await oldest()).toMatchObject({ lengthMs: HOUR, measures: { load: { sum: 1 } } });
    for (let day = 51; day <= 410; day += 1) await keeper.sample(day, DAY);
    expect((await oldest())?.measures.load.sum).toBeGreaterThan(1);
    await keeper.history.stop();
    const { DatabaseSync } = await import('node:sqlite');
    const db = new DatabaseSync(`${folder.path}/fleet.sqlite`);
    const counts = db.prepare('SELECT tier, count(*) AS n FROM history GROUP BY tier ORDER BY tier').all();
    db.close();
    // The last minute and hour are not over.
    expect(counts.map(({ n }) => Number(n))).toEqual([4, 39, 399]);
  });

  test('forgets an endpoint when nothing is left of it', async () => {
    using folder = temporaryFolder();
    const keeper = new Keeper(sqlite(folder.path));
    await keeper.history.open();
    await keeper.sample(1, 0, 'gone');
    await keeper.sample(1, 399 * DAY);
    expect(await keeper.query(500 * DAY, 1_000, 'gone')).toHaveLength(1);
    await keeper.sample(1, 2 * DAY);
    expect(await keeper.query(500 * DAY, 1_000, 'gone')).toEqual([]);
    expect(await keeper.query(500 * DAY, 1_000)).toHaveLength(2);
    await keeper.history.stop();
  });
});
