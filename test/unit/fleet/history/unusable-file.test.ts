/** What is there under the history's name is no history: it is said which file it is, and it heals without a restart. */
import { mkdirSync, readdirSync, rmdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { History } from '../../../../src/fleet/history/history.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import { NEVER_STEERED } from '../../../../src/scaling/autotune/state.ts';
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
  expect(here.history.steering).toBeUndefined();
  rmdirSync(path);
  here.history.recordKnown([]);
  here.history.recordKnown([{ id: 1, name: 'chat', label: 'chat' }]);
  for (let second = 0; second < 60; second += 1) {
    await here.clock.advance(1_000);
    await settled();
  }
  expect(here.history.trouble).toBeUndefined();
  expect(here.history.steering).toEqual([]);
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
  expect(await here.history.open()).toMatchObject({ endpoints: [], steering: [] });
  expect(here.history.trouble).toBeUndefined();
  expect(here.aside).toEqual([expect.stringContaining('fleet.sqlite.corrupt-')]);
  expect(readdirSync(folder.path).some((name) => name.startsWith('fleet.sqlite.corrupt-'))).toBe(true);
  expect(here.history.aside).toEqual({ path: here.aside[0], atMs: here.clock.now() });
});

test('an empty file is one that has nothing yet', async () => {
  using folder = temporaryFolder();
  writeFileSync(`${folder.path}/fleet.sqlite`, '');
  await using here = keep(folder.path);
  expect(await here.history.open()).toMatchObject({ endpoints: [] });
  expect(here.aside).toEqual([]);
});

test('the last one that was set aside is known to later processes, for as long as somebody keeps it', async () => {
  using folder = temporaryFolder();
  const file = `${folder.path}/fleet.sqlite`;
  const kept = ['corrupt-2026-11-22T235959.999Z', 'corrupt-2026-11-23T213005.120Z'];
  const others = ['corrupt-2026-11-23T213005.120Z-wal', 'version-9-2026-11-24T000000.000Z', 'corrupt-zZ'];
  const aside = async () => {
    await using here = keep(folder.path);
    await here.history.open();
    return here.history.aside;
  };
  expect(await aside()).toBeUndefined();
  for (const name of [...kept, ...others.slice(0, 2)]) writeFileSync(`${file}.${name}`, '');
  const atMs = Date.parse('2026-11-23T21:30:05.120Z');
  expect(await aside()).toEqual({ path: `${file}.${kept[1]}`, atMs });
  for (const name of kept) rmSync(`${file}.${name}`);
  expect(await aside()).toBeUndefined();
  writeFileSync(`${file}.${others[2]}`, '');
  expect(await aside()).toBeUndefined();
});

test('a duty to put old values back outlives a file that is lost while somebody knows of it', async () => {
  using folder = temporaryFolder();
  const never = new AbortController().signal;
  const duty = (label: string) => ({ label, state: { ...NEVER_STEERED, baseline: { cold_workers: 5 } } });
  const pass = async (here: ReturnType<typeof keep>) => {
    for (let second = 0; second < 20; second += 1) {
      await here.clock.advance(1_000);
      await settled();
    }
  };
  {
    await using first = keep(folder.path);
    await first.history.open();
    await first.history.recordSteering(duty('of an earlier process'), 1_000, never);
  }
  {
    await using second = keep(folder.path);
    await second.history.open();
    await second.history.recordSteering(duty('of this one'), 1_000, never);
    rmSync(`${folder.path}/fleet.sqlite`);
    second.history.recordKnown([]);
    await pass(second);
    expect(second.history.trouble).toBeUndefined();
  }
  await using third = keep(folder.path);
  expect((await third.history.open())?.steering).toEqual([
    duty('of an earlier process'),
    duty('of this one'),
  ]);
});
