/** Each step alone, on a Redis in memory; shared-spool.test.ts has a real one. */
import { beforeEach, describe, expect, test } from 'vitest';
import { LeaseLost } from '../../../../src/daemon/replicas/fenced-commit.ts';
import type { Redis } from '../../../../src/daemon/replicas/redis.ts';
import { SharedKeys } from '../../../../src/daemon/replicas/shared-keys.ts';
import {
  NOTHING,
  progressCommands,
  SharedStore,
  type SharedState,
} from '../../../../src/daemon/replicas/shared-store.ts';
import type { GroupProgress } from '../../../../src/logs/follower/group.ts';
import { hashesOf } from '../../../../src/logs/text.ts';
import { progressAt, record, recordsFrom } from '../../../support/log-records.ts';
import { MemoryRedis } from '../../../support/memory-redis.ts';

const KEYS = new SharedKeys('pilotlight', 'test');
const always = (): boolean => true;
const lines = (count: number): string[] => Array.from({ length: count }, (_, index) => `line ${index}`);

let redis: MemoryRedis;
let store: SharedStore;
beforeEach(() => {
  redis = new MemoryRedis();
  redis.values.set(KEYS.lease, 'own');
  store = new SharedStore(redis, KEYS, 'own');
});

function stateOf(groups: readonly [number, GroupProgress][], version = 9): SharedState {
  return {
    version,
    records: recordsFrom(5, 3),
    first: 5,
    acknowledged: new Map([['stdout', 4]]),
    progress: new Map(groups),
  };
}

const windowOf = async (group: number) => (await store.load(always)).progress.get(group);

describe('a state', () => {
  test('is nothing where there is none', async () => {
    expect(await store.load(always)).toEqual({ ...NOTHING, version: 0 });
    redis.values.set(KEYS.version, '-3');
    expect(await store.load(always)).toEqual({ ...NOTHING, version: -3 });
    expect(await store.version()).toBe(-3);
  });

  test('is read as it was put, whatever was there before', async () => {
    const state = stateOf([
      [7, progressAt(7, lines(2_000))],
      [8, progressAt(8, lines(4_100), 40)],
      [9, progressAt(9)],
    ]);
    redis.values.set(KEYS.records, ['old']);
    redis.values.set(KEYS.window(7, ''), ['old']);
    redis.values.set('of another', 'stays');
    redis.values.set(KEYS.window(3, 'gone'), ['old']);
    await store.replace({ ...NOTHING, version: 0 }, state, 12, [KEYS.window(3, 'gone')]);
    expect(await store.load(always)).toEqual({ ...state, version: 12 });
    expect(redis.values.get('of another')).toBe('stays');
    expect(redis.values.has(KEYS.window(3, 'gone'))).toBe(false);
  });

  test('is put in small commits, and counts as none until the last of them', async () => {
    const groups = Array.from({ length: 40 }, (_, id): [number, GroupProgress] => [
      id,
      progressAt(1, lines(3_600)),
    ]);
    redis.values.set(KEYS.version, '3');
    const versions: unknown[] = [];
    const seen: Redis = {
      async command(...args) {
        const answer = await redis.command(...args);
        versions.push(redis.values.get(KEYS.version));
        return answer;
      },
      close() {},
    };
    await new SharedStore(seen, KEYS, 'own').replace({ ...NOTHING, version: 3 }, stateOf(groups), 12);
    expect(versions).toEqual(['-1', '-2', '-3', '-4', '-5', '-6', '12']);
  });

  test('of a group that nobody has any more takes its window along', async () => {
    const before = stateOf([[7, progressAt(7, lines(3))]]);
    await store.replace({ ...NOTHING, version: 0 }, before, 1);
    await store.replace({ ...before, version: 1 }, stateOf([[8, progressAt(8, lines(3))]]), 2);
    expect(redis.values.has(KEYS.window(7, ''))).toBe(false);
    expect([...(await store.load(always)).progress.keys()]).toEqual([8]);
  });

  test.each<[string, (redis: MemoryRedis) => void]>([
    ['a text that is no JSON', () => redis.values.set(KEYS.records, ['{'])],
    ['JSON of another shape', () => redis.values.set(KEYS.progress, new Map([['7', 'null']]))],
    ['a key of another kind', () => redis.values.set(KEYS.acknowledged, 'text')],
  ])('that is %s is unreadable', async (_what, spoil) => {
    redis.values.set(KEYS.version, '4');
    spoil(redis);
    const failed = await store.load(always).catch((error: unknown) => error);
    expect(failed).toMatchObject({
      code: 'unreadable_state',
      actor: 'service',
      version: 4,
      message: 'what the replicas keep in Redis cannot be read',
      cause: expect.any(Error),
    });
  });

  test('that cannot be had is not unreadable', async () => {
    redis.values.set(KEYS.version, '4');
    redis.values.set(
      KEYS.progress,
      new Map([['7', JSON.stringify({ epoch: 1, seq: 0, time: 0, bytesPerLine: 9, streams: {} })]]),
    );
    await expect(store.load(() => false)).rejects.toThrow('the lease ran out while the state was read');
    redis.meanwhile = async () => void redis.values.set(KEYS.version, '5');
    const reading = store.load(always);
    await expect(reading).rejects.toThrow('another replica has written meanwhile');
    await expect(reading).rejects.toBeInstanceOf(LeaseLost);
  });
});

test('a holding begins at a version of its own, and without what is left of half a state', async () => {
  redis.values.set(KEYS.version, '-2');
  redis.values.set(KEYS.records, ['half']);
  redis.values.set(KEYS.first, '9');
  await store.begin({ ...NOTHING, version: -2 }, 1);
  expect([redis.values.has(KEYS.records), redis.values.has(KEYS.first)]).toEqual([false, false]);
  redis.values.set(KEYS.records, [JSON.stringify(record(1))]);
  await store.begin({ ...NOTHING, version: 1 }, 2);
  expect(redis.values.get(KEYS.records)).toHaveLength(1);
  expect(await store.version()).toBe(2);
});

test('windows are found, however many there are, and nothing else', async () => {
  expect(await store.windowKeys()).toEqual([]);
  const windows = [1, 2, 3].map((id) => KEYS.window(id, 'info'));
  for (const key of [...windows, KEYS.records, 'window:of another']) redis.values.set(key, ['x']);
  expect(await store.windowKeys()).toEqual(windows);
});

describe('of a window that goes on', () => {
  const put = async (now: GroupProgress, before: GroupProgress | undefined): Promise<void> => {
    const from = await store.version();
    await store.commit(from, from + 1, progressCommands(KEYS, 7, now, before));
  };

  test('only the lines that are new are written, and those that slid out go', async () => {
    const first = progressAt(3, lines(3));
    await put(first, undefined);
    const all = lines(5);
    const second = progressAt(5, all.slice(1), 1);
    const commands = progressCommands(KEYS, 7, second, first);
    expect(commands[0]).toEqual([
      'RPUSH',
      KEYS.window(7, ''),
      ...Array.from(hashesOf(all.slice(-2)), String),
    ]);
    await put(second, first);
    expect(await windowOf(7)).toEqual(second);
  });

  test('nothing is written where nothing is new', async () => {
    const same = progressAt(3, lines(3));
    expect(progressCommands(KEYS, 7, same, same).map(([name]) => name)).toEqual(['LTRIM', 'HSET']);
  });

  test('from another place all lines are, and none of before stays', async () => {
    const first = progressAt(3, lines(3));
    await put(first, undefined);
    const elsewhere = progressAt(9, ['a', 'b'], 50);
    await put(elsewhere, first);
    expect(await windowOf(7)).toEqual(elsewhere);
    await put(progressAt(9, [], 52), elsewhere);
    expect(redis.values.has(KEYS.window(7, ''))).toBe(false);
  });

  test('many lines are written with so many arguments as a script may have', () => {
    const commands = progressCommands(KEYS, 7, progressAt(1, lines(1_100)), undefined);
    expect(commands.filter(([name]) => name === 'RPUSH').map(({ length }) => length)).toEqual([
      502, 502, 102,
    ]);
  });
});
