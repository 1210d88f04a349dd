/** What is there under the history's name is no history: it is said which file it is, and it heals without a restart. */
import { mkdirSync, readdirSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { Keeper } from '../../../support/kept-history.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

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
  ['no database', (path: string) => writeFileSync(path, 'these are no pages '.repeat(100))],
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
