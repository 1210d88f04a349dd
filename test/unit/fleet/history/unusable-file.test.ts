/** What is there under the history's name is no history: it is said which file it is, and it heals without a restart. */
import { mkdirSync, readdirSync, rmdirSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { History } from '../../../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

function keep(directory: string) {
  const clock = new VirtualClock();
  const aside: string[] = [];
  const history = new History({
    store: new SqliteHistory({
      directory,
      now: () => clock.now(),
      onSetAside: (path) => aside.push(path),
      onHole: () => expect.unreachable(),
    }),
    clock,
    lives: () => [],
    onTrouble() {},
    onStored() {},
  });
  return { history, clock, aside, [Symbol.asyncDispose]: () => history.stop() };
}

test('a folder: said with its name, and used once it is gone', async () => {
  using folder = temporaryFolder();
  const path = `${folder.path}/fleet.sqlite`;
  mkdirSync(path);
  await using here = keep(folder.path);
  expect(await here.history.open()).toBeUndefined();
  expect(here.history.trouble).toBe(`${path}: unable to open database file`);
  rmdirSync(path);
  here.history.recordKnown([]);
  here.history.recordKnown([{ id: 1, name: 'chat', label: 'chat' }]);
  for (let second = 0; second < 60; second += 1) {
    await here.clock.advance(1_000);
    await settled();
  }
  expect(here.history.trouble).toBeUndefined();
});

test.each([
  ['no database', (path: string) => writeFileSync(path, 'these are no pages '.repeat(100))],
  [
    'cut in the middle',
    (path: string) => {
      const database = new DatabaseSync(path);
      database.exec('CREATE TABLE history (row TEXT); PRAGMA user_version = 2');
      const insert = database.prepare('INSERT INTO history VALUES (?)');
      for (let row = 0; row < 200; row += 1) insert.run('x'.repeat(200));
      database.close();
      truncateSync(path, 9_000);
    },
  ],
])('%s: set aside whole, and begun anew', async (_, damage) => {
  using folder = temporaryFolder();
  damage(`${folder.path}/fleet.sqlite`);
  await using here = keep(folder.path);
  expect(await here.history.open()).toMatchObject({ endpoints: [] });
  expect(here.history.trouble).toBeUndefined();
  expect(here.aside).toEqual([expect.stringContaining('fleet.sqlite.corrupt-')]);
  expect(readdirSync(folder.path).some((name) => name.startsWith('fleet.sqlite.corrupt-'))).toBe(true);
});

test('an empty file is one that has nothing yet', async () => {
  using folder = temporaryFolder();
  writeFileSync(`${folder.path}/fleet.sqlite`, '');
  await using here = keep(folder.path);
  expect(await here.history.open()).toMatchObject({ endpoints: [] });
  expect(here.aside).toEqual([]);
});
