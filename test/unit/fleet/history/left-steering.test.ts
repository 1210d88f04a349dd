/** A file that the last version with steering wrote: its history goes on, and what was under way is told once. */
import { readFileSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { expect, test } from 'vitest';
import { History } from '../../../../src/fleet/history/history.ts';
import { leftChanges, type LeftChange } from '../../../../src/fleet/history/left-steering.ts';
import { SqliteHistory } from '../../../../src/fleet/history/places/sqlite-history.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { sampleAt } from '../../../support/recorded-fleet.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const BEGAN = 1_700_000_000_000;
const HOUR = 3_600_000;

function writeOldFile(folder: string, also = ''): void {
  using file = new DatabaseSync(`${folder}/fleet.sqlite`);
  file.exec(readFileSync(new URL('version-2.sql', import.meta.url), 'utf8') + also);
}

async function openHistory(directory: string) {
  const clock = new VirtualClock(BEGAN + HOUR);
  const told: LeftChange[] = [];
  const never = () => expect.unreachable();
  const history = new History({
    store: new SqliteHistory({
      directory,
      now: () => clock.now(),
      onSetAside: never,
      onHole: never,
      onLeftChange: (change) => told.push(change),
    }),
    clock,
    lives: () => [],
    onTrouble: never,
    onStored: never,
  });
  const stored = await history.open();
  const rows = () => history.query({ endpoint: 'chat', fromMs: BEGAN, toMs: BEGAN + 2 * HOUR, maxRows: 100 });
  return { history, clock, told, stored, rows, [Symbol.asyncDispose]: () => history.stop() };
}

test('the history goes on where the old version ended', async () => {
  using folder = temporaryFolder();
  writeOldFile(folder.path);
  {
    await using old = await openHistory(folder.path);
    const { history, clock, stored, rows } = old;
    expect(stored).toMatchObject({
      lives: [{ id: 1, endpoint: 'chat', perf: 12.5 }],
      starts: [{ endpoint: 'chat', from: 'cold', seconds: 7 }],
      known: [
        { id: 31, label: 'chat' },
        { id: 32, label: 'draw' },
      ],
    });
    expect(await rows()).toHaveLength(6);
    history.record({ label: 'chat', sample: sampleAt(clock.now()), changed: [], gone: [], events: [] });
    await settled();
  }
  await using next = await openHistory(folder.path);
  expect(await next.rows()).toHaveLength(7);
});

test('changes that were under way are told with their values, once; those that are over are not', async () => {
  using folder = temporaryFolder();
  writeOldFile(folder.path);
  {
    await using first = await openHistory(folder.path);
    expect(first.told).toEqual([
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
  }
  await using second = await openHistory(folder.path);
  expect(second.told).toEqual([]);
});

test('changes are told though the rest of the file cannot be read', async () => {
  using folder = temporaryFolder();
  writeOldFile(folder.path, "UPDATE endpoint SET body = '{'");
  const told: string[] = [];
  const setAside: string[] = [];
  const store = new SqliteHistory({
    directory: folder.path,
    now: () => BEGAN,
    onSetAside: (path) => setAside.push(path),
    onHole: () => {},
    onLeftChange: ({ endpoint }) => told.push(endpoint),
  });
  await store.open();
  store.close();
  expect([told, setAside.length]).toEqual([['chat', 'draw'], 1]);
});

test('changes stay where they are while there is nobody to tell', async () => {
  using folder = temporaryFolder();
  writeOldFile(folder.path);
  const never = () => expect.unreachable();
  const store = new SqliteHistory({
    directory: folder.path,
    now: () => BEGAN,
    onSetAside: never,
    onHole: never,
    onLeftChange: undefined,
  });
  await store.open();
  store.close();
  await using next = await openHistory(folder.path);
  expect(next.told).toHaveLength(2);
});

test('what is stored of a change and cannot be read is told as such, and keeps nothing from being read', async () => {
  using folder = temporaryFolder();
  writeOldFile(folder.path, "UPDATE steering SET body = '{' WHERE label = 'chat'");
  await using here = await openHistory(folder.path);
  expect(here.told[0]).toEqual({ endpoint: 'chat', oldValues: null, newValues: null });
  expect(await here.rows()).toHaveLength(6);
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
  ['', [{ oldValues: null, newValues: null }]],
])('of %s', (text, told) => {
  expect(leftChanges([['chat', text]])).toEqual(told.map((one) => ({ endpoint: 'chat', ...one })));
});
