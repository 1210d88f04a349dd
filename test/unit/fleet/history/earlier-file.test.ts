/** A file of version 0.1: its last 40 days go on as samples, and a change of parameters that was under way is told once. */
import { readFileSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import type { Kept } from '../../../../src/fleet/history/sample-table.ts';
import { Keeper } from '../../../support/kept-history.ts';
import { settled } from '../../../support/log-time.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const BEGAN = 1_700_000_000_000;
const MINUTE = 60_000;
const HOUR = 3_600_000;
const DAY = 24 * HOUR;

/** As the last version with steering wrote it: six looks at chat, and changes of three endpoints. */
const VERSION_2 = readFileSync(new URL('version-2.sql', import.meta.url), 'utf8');
const VERSION_3 = `
  CREATE TABLE endpoint (id INTEGER PRIMARY KEY, label TEXT NOT NULL UNIQUE, body TEXT) STRICT;
  CREATE TABLE history (
    endpoint INTEGER, tier INTEGER, at INTEGER, row BLOB NOT NULL, PRIMARY KEY (endpoint, tier, at)
  ) STRICT, WITHOUT ROWID;
  CREATE TABLE worker (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT;
  CREATE TABLE start (
    id INTEGER PRIMARY KEY, endpoint INTEGER NOT NULL, at INTEGER NOT NULL, origin TEXT NOT NULL,
    seconds REAL NOT NULL, perf REAL
  ) STRICT;
  CREATE INDEX start_endpoint ON start (endpoint);
  CREATE TABLE known (place INTEGER PRIMARY KEY, id INTEGER NOT NULL, name TEXT, label TEXT NOT NULL) STRICT;
  PRAGMA user_version = 3;
`;

function writeFile(folder: string, ...statements: readonly string[]): void {
  using file = new DatabaseSync(`${folder}/fleet.sqlite`);
  file.exec(statements.join(';\n'));
}

/** Each measure and status in whole steps, of some samples: [known, sum, peak]. */
interface EarlierRow {
  readonly samples: number;
  readonly load?: readonly [known: number, sum: number, peak: number];
  readonly idle?: readonly [sum: number, peak: number];
}

/** As version 0.1 packed it: counts and peaks only if there are several samples. */
function packed({ samples, load, idle }: EarlierRow): Uint8Array {
  const isOne = samples === 1;
  const measure = load === undefined ? [] : isOne ? [load[1]] : load;
  const workers = idle === undefined ? [0] : [1, 7, ...(isOne ? [idle[0]] : idle)];
  return Uint8Array.from([samples, load ? 1 : 0, ...measure, ...workers].flatMap(leb128));
}

function leb128(value: number): number[] {
  return value < 128 ? [value] : [(value % 128) + 128, ...leb128(Math.floor(value / 128))];
}

/** A table of the numbers from 1 on. */
function series(to: number): string {
  return `(WITH RECURSIVE one(value) AS (SELECT 1 UNION ALL SELECT value + 1 FROM one WHERE value < ${to}) SELECT value FROM one)`;
}

async function open(folder: string, nowMs: number): Promise<Keeper & { readonly stored: Kept | undefined }> {
  const keeper = new Keeper(folder, nowMs);
  const kept = await keeper.history.open();
  return Object.assign(keeper, { stored: kept });
}

/** Rows are taken over in steps, between which others have their turn. */
async function takenOver(keeper: Keeper): Promise<void> {
  for (let before = -1, now = 0; now > before;) {
    before = now;
    for (let turn = 0; turn < 10; turn += 1) await settled();
    now = (await keeper.loads()).length;
  }
}

test('samples, workers, starts and names go on where the old version ended', async () => {
  using folder = temporaryFolder();
  writeFile(folder.path, VERSION_2);
  const first = await open(folder.path, BEGAN + HOUR);
  expect(first.stored).toEqual({
    lives: [expect.objectContaining({ id: 1, endpoint: 'chat', perf: 12.5 })],
    starts: new Map([['chat', { new: [], cold: [7] }]]),
    known: [
      { id: 31, name: 'chat', label: 'chat' },
      { id: 32, name: 'draw', label: 'draw' },
    ],
  });
  await takenOver(first);
  const rows = await first.query(2 * HOUR, 100);
  expect(rows.map(({ fromMs }) => (fromMs - BEGAN) / 1_000)).toEqual([0, 15, 30, 45, 60, 75]);
  expect(rows[0]).toMatchObject({
    samples: 1,
    measures: { load: { sum: 42 }, spend_per_hour: { count: 1 } },
    workers: { idle: { sum: 6 }, stopped: { sum: 10 } },
  });
  await first.sample(5);
  await first.history.stop();
  await using next = await open(folder.path, BEGAN + 2 * HOUR);
  expect(await next.query(DAY, 100)).toHaveLength(7);
  expect([next.troubles, next.aside]).toEqual([[], []]);
});

test('minutes become as many samples as they had, with the same sums and peaks; hours add nothing', async () => {
  using folder = temporaryFolder();
  const minutes: EarlierRow[] = [
    { samples: 4, load: [4, 30_001, 20_000], idle: [5, 4] },
    { samples: 4, load: [3, 9, 3] },
    { samples: 4, idle: [40, 10] },
    { samples: 1, load: [1, 7_000, 7_000], idle: [2, 2] },
    { samples: 130, load: [130, 1_300, 11], idle: [1, 1] },
  ];
  const insert = (tier: number, at: number, row: Uint8Array) =>
    `INSERT INTO history VALUES (1, ${tier}, ${at}, x'${Buffer.from(row).toString('hex')}')`;
  const first = Math.floor(BEGAN / HOUR) * HOUR;
  writeFile(
    folder.path,
    VERSION_3,
    "INSERT INTO endpoint VALUES (1, 'chat', '{}')",
    ...minutes.map((row, index) => insert(1, first + index * MINUTE, packed(row))),
    insert(2, first, packed({ samples: 143, load: [143, 1_000_000, 20_000] })),
    // One that is damaged, and one of which only the last sample is still there.
    insert(1, first + 5 * MINUTE, Uint8Array.from([4, 1, 4])),
    insert(1, first + 10 * MINUTE, packed({ samples: 2, load: [2, 5_000, 3_000] })),
    insert(0, first + 10 * MINUTE + 45_000, packed({ samples: 1, load: [1, 2_000, 2_000] })),
    // Said by samples alone.
    insert(1, first + 11 * MINUTE, packed({ samples: 2, load: [2, 4_000, 4_000] })),
    insert(0, first + 11 * MINUTE, packed({ samples: 1, load: [1, 4_000, 4_000] })),
    insert(0, first + 12 * MINUTE, packed({ samples: 1, load: [1, 9_000, 9_000] })),
  );
  await using keeper = await open(folder.path, first + HOUR);
  await takenOver(keeper);
  const query = { endpoint: 'chat', fromMs: first, toMs: first + HOUR, maxRows: 60 };
  const rows = await keeper.history.query(query);
  expect(rows.map(({ lengthMs }) => lengthMs)).toEqual(rows.map(() => MINUTE));
  const expected: [minute: number, EarlierRow][] = [
    ...minutes.map((row, index): [number, EarlierRow] => [index, row]),
    [10, { samples: 2, load: [2, 5_000, 3_000] }],
    [11, { samples: 1, load: [1, 4_000, 4_000] }],
    [12, { samples: 1, load: [1, 9_000, 9_000] }],
  ];
  expect(
    rows.map(({ fromMs, samples, measures: { load }, workers: { idle } }) => ({
      minute: (fromMs - first) / MINUTE,
      samples,
      load: load.count === 0 ? undefined : [load.count, load.sum * 1_000, load.peak * 1_000],
      idle: idle && [idle.sum, idle.peak],
    })),
  ).toEqual(expected.map(([minute, { samples, load, idle }]) => ({ minute, samples, load, idle })));
});

test('of a year the last 40 days are there, and are taken over once, in many steps', async () => {
  using folder = temporaryFolder();
  const row = Buffer.from(packed({ samples: 2, load: [2, 5_000, 3_000] })).toString('hex');
  const nowMs = BEGAN + 400 * DAY;
  writeFile(
    folder.path,
    VERSION_3,
    "INSERT INTO endpoint VALUES (1, 'chat', '{}')",
    // A minute of each half hour of 40 days, and the hours of the year.
    `INSERT INTO history SELECT 1, 1, ${nowMs} - value * ${HOUR / 2}, x'${row}' FROM ${series(40 * 48)}`,
    `INSERT INTO history SELECT 1, 2, ${nowMs} - value * ${HOUR}, x'${row}' FROM ${series(400 * 24)}`,
  );
  const keeper = await open(folder.path, nowMs);
  await takenOver(keeper);
  expect(await keeper.loads()).toHaveLength(2 * 40 * 48);
  await keeper.history.stop();
  using file = new DatabaseSync(`${folder.path}/fleet.sqlite`);
  expect(file.prepare("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name").all()).toEqual(
    ['endpoint', 'samples', 'state'].map((name) => ({ name })),
  );
});

test('a takeover that was broken off goes on in the next process, and each sample is there once', async () => {
  using folder = temporaryFolder();
  const row = Buffer.from(packed({ samples: 1, load: [1, 3_000, 3_000] })).toString('hex');
  writeFile(
    folder.path,
    VERSION_3,
    "INSERT INTO endpoint VALUES (1, 'chat', '{}')",
    `INSERT INTO history SELECT 1, 0, ${BEGAN} + value * 15000, x'${row}' FROM ${series(3000)}`,
  );
  const first = await open(folder.path, BEGAN + DAY);
  await settled();
  const before = (await first.loads()).length;
  await first.history.stop();
  expect(before).toBeLessThan(3_000);
  await using next = await open(folder.path, BEGAN + DAY);
  await takenOver(next);
  expect(await next.loads()).toHaveLength(3_000);
});

test('changes that were under way are told with their values, once; those that are over are not', async () => {
  using folder = temporaryFolder();
  writeFile(folder.path, VERSION_2);
  const first = await open(folder.path, BEGAN + HOUR);
  expect(first.leftChanges).toEqual([
    {
      endpoint: 'chat',
      endpointId: 31,
      phase: 'watching',
      oldValues: { target_util: 0.9, cold_workers: 5 },
      newValues: { target_util: 0.8, cold_workers: 4 },
    },
    {
      endpoint: 'draw',
      endpointId: 32,
      phase: 'returning',
      because: 'load was beyond what ready workers can do',
      oldValues: { min_load: 100 },
      newValues: { min_load: 80 },
    },
  ]);
  await first.history.stop();
  await using second = await open(folder.path, BEGAN + HOUR);
  expect(second.leftChanges).toEqual([]);
});

test.each<[string, object[]]>([
  ['{}', []],
  ['{"baseline":{"cold_workers":4}}', []],
  ['{"change":{"phase":"over","from":{"cold_workers":5}}}', []],
  [
    '{"change":{"phase":"sending","from":{"a":1},"to":{"a":2}}}',
    [{ phase: 'sending', oldValues: { a: 1 }, newValues: { a: 2 } }],
  ],
  ['{"change":{"phase":"watching"}}', [{ phase: 'watching', oldValues: null, newValues: null }]],
  ['{"change":7}', [{ oldValues: null, newValues: null }]],
  ['[]', [{ oldValues: null, newValues: null }]],
  ['{', [{ oldValues: null, newValues: null }]],
])('of %s as the state of a change', async (text, told) => {
  using folder = temporaryFolder();
  writeFile(folder.path, VERSION_2, `UPDATE steering SET body = '${text}' WHERE label = 'idle'`);
  await using keeper = await open(folder.path, BEGAN + HOUR);
  const found = keeper.leftChanges.filter(({ endpoint }) => endpoint === 'idle');
  expect(found).toEqual(told.map((one) => ({ endpoint: 'idle', ...one })));
});

test('a damaged page among the rows to take over sets the file aside, once', async () => {
  using folder = temporaryFolder();
  const row = Buffer.from(packed({ samples: 1, load: [1, 3_000, 3_000] })).toString('hex');
  writeFile(
    folder.path,
    VERSION_3,
    "INSERT INTO endpoint VALUES (1, 'chat', '{}')",
    `INSERT INTO history SELECT 1, 0, ${BEGAN} + value * 15000, x'${row}' FROM ${series(9_000)}`,
  );
  const path = `${folder.path}/fleet.sqlite`;
  const first = await open(folder.path, BEGAN + DAY);
  await settled();
  await first.history.stop();
  const bytes = readFileSync(path);
  bytes.fill(0xff, 8 * 4_096, 40 * 4_096);
  writeFileSync(path, bytes);
  await using keeper = await open(folder.path, BEGAN + DAY);
  for (let turn = 0; turn < 50; turn += 1) await settled();
  for (let count = 0; count < 4; count += 1) await keeper.sample(count);
  expect([keeper.aside.length, keeper.history.trouble]).toEqual([1, undefined]);
  expect(keeper.troubles.length).toBeLessThanOrEqual(1);
});
