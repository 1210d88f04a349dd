import { afterEach, beforeEach, expect, test } from 'vitest';
import { startLease } from '../../../src/daemon/replicas/lease.ts';
import { connectRedis, type Redis } from '../../../src/daemon/replicas/redis.ts';
import { SharedSpool } from '../../../src/daemon/replicas/shared-spool.ts';
import { LeaseLost, SharedKeys, SharedStore } from '../../../src/daemon/replicas/shared-store.ts';
import type { GroupProgress } from '../../../src/logs/tail/group.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { until } from '../../support/daemon.ts';
import { windowOf } from '../../support/log-records.ts';
import { describeWith } from '../../support/optional.ts';
import { hasRedis, startRedis, type RedisServer } from '../../support/redis.ts';

const KEYS = new SharedKeys('test');
const GROUP = 7;

function record(seq: number, line = `line ${seq}`): LogRecord {
  return { time: '2026-11-21T00:00:00.000000Z', workergroup_id: GROUP, epoch: 1, seq, line };
}

function progress(lines: readonly string[], from = 0): GroupProgress {
  const window = windowOf(lines, from);
  return {
    epoch: 1,
    seq: from + lines.length,
    time: 0,
    ceiling: 10_000,
    linesPerSecond: 0,
    streams: { '': { window, endsLines: true } },
  };
}

describeWith(
  'redis-server',
  hasRedis,
  'apt-get install redis-server',
)('a spool that replicas share', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeEach(async () => {
    server = await startRedis();
    redis = await connectRedis(server.url(), () => {});
    await until(() =>
      redis.command('PING').then(
        () => true,
        () => false,
      ),
    );
  });
  afterEach(async () => {
    redis.close();
    await server[Symbol.asyncDispose]();
  });

  /** The spool of a holder with this token, with everything that is in Redis. */
  async function open(token: string, maxBytes?: number): Promise<SharedSpool> {
    await redis.command('SET', KEYS.lease, token);
    const store = new SharedStore(redis, KEYS, token);
    return new SharedSpool({
      store,
      keys: KEYS,
      state: await store.load(),
      restore: false,
      epochAfterLoss: undefined,
      sinks: ['stdout'],
      held: () => true,
      ...(maxBytes !== undefined && { maxBytes }),
    });
  }

  test('gives the next holder what was not acknowledged, the window and the numbers, and nothing else', async () => {
    const first = await open('a');
    expect(first.take('stdout')).toBeUndefined();
    first.append(GROUP, [record(1), record(2)], progress(['line 1', 'line 2']));
    expect(first.take('stdout')).toBeUndefined();
    await first.settled();
    const batch = first.take('stdout');
    expect(batch?.records).toEqual([record(1), record(2)]);
    if (batch) first.acknowledge('stdout', batch);
    first.append(GROUP, [record(3, 'ünï\u0000\n"ctrl')], progress(['line 2', 'ünï\u0000\n"ctrl'], 1));
    await first.settled();

    const second = await open('b');
    expect(second.progress(GROUP)).toEqual(progress(['line 2', 'ünï\u0000\n"ctrl'], 1));
    expect(second.standing('stdout')).toEqual({ lag: 1, dropped: 0 });
    const next = second.take('stdout');
    const third = record(3, 'ünï\u0000\n"ctrl');
    expect(next).toEqual({ lines: [JSON.stringify(third)], records: [third], through: 3 });
    if (next) second.acknowledge('stdout', next);
    await second.settled();
    expect(await redis.command('LLEN', KEYS.records)).toBe(0);
  });

  test('what a replaced holder still writes changes nothing and reaches no sink', async () => {
    const replaced = await open('a');
    await open('b');
    replaced.append(GROUP, [record(1)], progress(['line 1']));
    await replaced.settled();
    expect(replaced.take('stdout')).toBeUndefined();
    expect(await redis.command('EXISTS', KEYS.records, KEYS.progress)).toBe(0);
    await expect(new SharedStore(redis, KEYS, 'a').commit(0, [])).rejects.toThrow(LeaseLost);
  });

  test('a commit that is made twice is applied once', async () => {
    await redis.command('SET', KEYS.lease, 'a');
    const store = new SharedStore(redis, KEYS, 'a');
    for (const _ of [1, 2]) await store.commit(0, [['RPUSH', KEYS.records, JSON.stringify(record(1))]]);
    expect(await redis.command('LLEN', KEYS.records)).toBe(1);
    await expect(store.commit(5, [])).rejects.toThrow(LeaseLost);
  });

  test('past its bound the oldest records go, and are counted, here and in Redis', async () => {
    const spool = await open('a', 20_000);
    let dropped = 0;
    for (let seq = 1; seq <= 300; seq += 1) {
      for (const { records } of spool.append(GROUP, [record(seq, 'x'.repeat(1_000))], progress(['x'])))
        dropped += records;
      await spool.settled();
    }
    expect(dropped).toBeGreaterThan(250);
    const { lag } = spool.standing('stdout');
    expect(lag + dropped).toBe(300);
    const stored = (await new SharedStore(redis, KEYS, 'a').load()).records;
    expect(stored.map(({ seq }) => seq)).toEqual(
      Array.from({ length: lag }, (_, index) => 301 - lag + index),
    );
  });

  test('thousands of lines in one poll are stored and loaded whole', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} ${'é'.repeat(50)}`);
    const spool = await open('a');
    spool.append(
      GROUP,
      lines.map((line, index) => record(index + 1, line)),
      progress(lines),
    );
    await spool.settled();
    const state = await new SharedStore(redis, KEYS, 'a').load();
    expect(state.progress.get(GROUP)).toEqual(progress(lines));
    expect(state.records).toHaveLength(10_000);
  });

  test('a lease is one replica’s at a time, renewed while it lives, and free at once when released', async () => {
    const events: string[] = [];
    const join = (token: string) =>
      startLease({
        redis,
        key: KEYS.lease,
        token,
        now: () => performance.now(),
        onTaken: () => Promise.resolve(void events.push(`${token} taken`)),
        onDenied: () => Promise.resolve(),
        onLost: () => Promise.resolve(void events.push(`${token} lost`)),
      });
    const first = join('a');
    await until(() => first.held());
    const second = join('b');
    // Redis counts the 5 s of a lease by its own clock: one that was not renewed would be gone by then.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect([first.held(), second.held()]).toEqual([true, false]);
    await first.release();
    await until(() => second.held());
    expect(first.held()).toBe(false);
    // Somebody takes it away: the holder finds out when it renews.
    await redis.command('SET', KEYS.lease, 'c');
    await until(() => !second.held());
    await until(() => events.length === 3);
    expect(events).toEqual(['a taken', 'b taken', 'b lost']);
    await second.release();
    expect(await redis.command('GET', KEYS.lease)).toBe('c');
  });
});
