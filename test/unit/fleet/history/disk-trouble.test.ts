/**
 * A history on a real file system that is full, or read-only, for a while; and under whose name stands something else. It
 * says which file it is, and heals without a restart.
 */
import { expect, test } from 'vitest';
import { Keeper } from '../../../support/kept-history.ts';
import { sampleAt, workerLife } from '../../../support/recorded-fleet.ts';
import { describeOnSmallDisk, smallDisk } from '../../../support/small-disk.ts';
import { mkdirSync, readdirSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

describeOnSmallDisk('a history', () => {
  test.each(['full', 'read-only'])('on a %s disk has a hole, shown, until it can be stored', async (kind) => {
    using disk = smallDisk(1_024);
    const keeper = new Keeper(disk.path);
    // What has a file open cannot be made read-only any more.
    if (kind === 'read-only') disk.readOnly();
    await keeper.history.open();
    let load = 0;
    const sample = async () => {
      await keeper.clock.advance(15_000);
      // A worker's name takes room, so that the disk is soon full.
      const changed = [workerLife({ id: load, endpoint: 'chat'.repeat(500) })];
      keeper.record(sampleAt(keeper.clock.now(), { load }), { lives: changed });
      load += 1;
    };
    await sample();
    if (kind === 'full') disk.fill();
    for (let count = 0; count < 100; count += 1) await sample();
    expect(keeper.history.trouble).toBeDefined();
    expect(keeper.troubles).toHaveLength(1);
    const before = await keeper.loads();
    expect(before).toEqual(Array.from({ length: before.length }, (_, index) => index));
    expect(before.length > 0).toBe(kind === 'full');
    disk.free();
    if (kind === 'read-only') disk.writable();
    await keeper.clock.advance(6_000);
    await sample();
    expect([keeper.history.trouble, keeper.stored]).toEqual([undefined, 1]);
    const stored = [...before, 101];
    expect(await keeper.loads()).toEqual(stored);
    await keeper.history.stop();
    await using next = new Keeper(disk.path, keeper.clock.now());
    await next.history.open();
    expect(await next.loads()).toEqual(stored);
  });
});

test('a folder: said with its name, and used once it is gone', async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/fleet.sqlite`;
  mkdirSync(path);
  await using here = new Keeper(folder.path);
  expect(await here.history.open()).toBeUndefined();
  expect(here.history.trouble).toBe(`${path}: unable to open database file`);
  rmdirSync(path);
  await here.clock.advance(5_000);
  here.history.record({ known: [{ id: 1, name: 'chat', label: 'chat' }] });
  expect(here.history.trouble).toBeUndefined();
});

test.each([
  [
    'cut in the middle',
    (path: string) => {
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE history (row TEXT); PRAGMA user_version = 4');
      const insert = database.prepare('INSERT INTO history VALUES (?)');
      for (let row = 0; row < 200; row += 1) insert.run('x'.repeat(200));
      database.close();
      truncateSync(path, 9_000);
    },
  ],
  [
    'of an earlier version',
    (path: string) => {
      using database = new DatabaseSync(path);
      database.exec('CREATE TABLE history (row BLOB); PRAGMA user_version = 3');
    },
  ],
])('%s: set aside whole, and begun anew', async (_, damage) => {
  using folder = temporaryFolder();
  damage(`${folder.path}/fleet.sqlite`);
  await using here = new Keeper(folder.path);
  expect(await here.history.open()).toMatchObject({ lives: [] });
  expect(here.history.trouble).toBeUndefined();
  expect(here.aside).toEqual([expect.stringContaining('fleet.sqlite.corrupt-')]);
  expect(readdirSync(folder.path).some((name) => name.startsWith('fleet.sqlite.corrupt-'))).toBe(true);
});

test('an empty file is one that has nothing yet', async () => {
  using folder = temporaryFolder();
  writeFileSync(`${folder.path}/fleet.sqlite`, '');
  await using here = new Keeper(folder.path);
  expect(await here.history.open()).toMatchObject({ lives: [] });
  expect(here.aside).toEqual([]);
});
