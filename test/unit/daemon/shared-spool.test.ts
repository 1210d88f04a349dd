import { afterEach, beforeEach, expect, test } from 'vitest';
import { startLease } from '../../../src/daemon/replicas/lease.ts';
import { connectRedis, type Redis } from '../../../src/daemon/replicas/redis.ts';
import { SharedSpool } from '../../../src/daemon/replicas/shared-spool.ts';
import { SharedKeys } from '../../../src/daemon/replicas/shared-keys.ts';
import { LeaseLost } from '../../../src/daemon/replicas/fenced-commit.ts';
import { SharedStore, type SharedState } from '../../../src/daemon/replicas/shared-store.ts';
import type { GroupProgress } from '../../../src/logs/follower/group.ts';
import type { LogEvent } from '../../../src/logs/events.ts';
import type { LogRecord } from '../../../src/logs/record.ts';
import { systemClock } from '../../../src/time/clock.ts';
import { until } from '../../support/daemon.ts';
import { LogPolls, linesOf, mergedView } from '../../support/log-polls.ts';
import { progressAt } from '../../support/log-records.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';

const KEYS = new SharedKeys('pilotlight', 'test');
const GROUP = 7;
const SOURCE = `workergroup/${GROUP}`;
let dropped = 0;
const observe = (event: LogEvent): void => {
  if (event.kind === 'dropped') dropped += event.records;
};

function record(seq: number, line = `line ${seq}`): LogRecord {
  return { time: '2026-11-21T00:00:00.000000Z', workergroup_id: GROUP, epoch: 1, seq, line };
}

function progress(lines: readonly string[], from = 0): GroupProgress {
  return { ...progressAt(from + lines.length, lines, from), time: 0 };
}

describeWithRedis('a spool that replicas share', () => {
  let server: RedisServer;
  let redis: Redis;
  beforeEach(async () => {
    server = await startRedis();
    redis = await connectRedis(
      server.url(),
      () => {},
      () => {},
    );
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
  async function open(
    token: string,
    maxBytes?: number,
    onRefused: (error: LeaseLost) => void = () => {},
  ): Promise<SharedSpool> {
    await redis.command('SET', KEYS.lease, token);
    const store = new SharedStore(redis, KEYS, token);
    return new SharedSpool({
      store,
      keys: KEYS,
      state: await store.load(() => true),
      epochAfterLoss: undefined,
      sinks: ['stdout'],
      held: () => true,
      onRefused,
      onCommit: () => {},
      observe,
      ...(maxBytes !== undefined && { maxBytes }),
    });
  }

  test('gives the next holder what was not acknowledged, the window and the numbers, and nothing else', async () => {
    const first = await open('a');
    expect(first.take('stdout')).toBeUndefined();
    first.append(SOURCE, [record(1), record(2)], progress(['line 1', 'line 2']));
    expect(first.take('stdout')).toBeUndefined();
    await first.settled();
    const batch = first.take('stdout');
    expect(batch?.records).toEqual([record(1), record(2)]);
    if (batch) first.acknowledge('stdout');
    first.append(SOURCE, [record(3, 'ünï\u0000\n"ctrl')], progress(['line 2', 'ünï\u0000\n"ctrl'], 1));
    await first.settled();

    const second = await open('b');
    expect(second.progress(SOURCE)).toEqual(progress(['line 2', 'ünï\u0000\n"ctrl'], 1));
    expect(second.standing('stdout')).toEqual({ lag: 1, dropped: 0 });
    const next = second.take('stdout');
    const third = record(3, 'ünï\u0000\n"ctrl');
    expect(next).toMatchObject({ lines: [JSON.stringify(third)], records: [third], count: 1 });
    expect(next?.bytes.toString()).toBe(`${JSON.stringify(third)}\n`);
    if (next) second.acknowledge('stdout');
    await second.settled();
    expect(await redis.command('LLEN', KEYS.records)).toBe(0);
  });

  test('gives the next holder the window as a merged view of the log left it', async () => {
    const first = await open('a');
    const { polls, late, text } = mergedView((records, at) => first.append(SOURCE, records, at));
    await first.settled();
    const second = await open('b');
    const [left, found] = [polls.state.progress, second.progress(SOURCE)].map(
      (progressed) => progressed?.streams['']?.window,
    );
    expect(found).toEqual(left);
    const again = new LogPolls({ progress: second.progress(SOURCE) });
    expect(linesOf(again.poll(() => text([...late, 'next'])))).toEqual(['next']);
  });

  test('what a replaced holder still writes changes nothing and reaches no sink', async () => {
    const replaced = await open('a');
    await open('b');
    replaced.append(SOURCE, [record(1)], progress(['line 1']));
    await replaced.settled();
    expect(replaced.take('stdout')).toBeUndefined();
    expect(await redis.command('EXISTS', KEYS.records, KEYS.progress)).toBe(0);
    await expect(new SharedStore(redis, KEYS, 'a').commit(0, 1, [])).rejects.toThrow(LeaseLost);
  });

  test('a commit that is made twice is applied once', async () => {
    await redis.command('SET', KEYS.lease, 'a');
    const store = new SharedStore(redis, KEYS, 'a');
    for (const _ of [1, 2]) await store.commit(0, 1, [['RPUSH', KEYS.records, JSON.stringify(record(1))]]);
    expect(await redis.command('LLEN', KEYS.records)).toBe(1);
    await expect(store.commit(5, 6, [])).rejects.toThrow(LeaseLost);
  });

  test('past its bound the oldest records go, and are counted, here and in Redis', async () => {
    const spool = await open('a', 20_000);
    dropped = 0;
    for (let seq = 1; seq <= 300; seq += 1) {
      spool.append(SOURCE, [record(seq, 'x'.repeat(1_000))], progress(['x']));
      await spool.settled();
    }
    expect(dropped).toBeGreaterThan(250);
    const { lag } = spool.standing('stdout');
    expect(lag + dropped).toBe(300);
    const stored = (await new SharedStore(redis, KEYS, 'a').load(() => true)).records;
    expect(stored.map(({ seq }) => seq)).toEqual(
      Array.from({ length: lag }, (_, index) => 301 - lag + index),
    );
  });

  test('thousands of lines in one poll are stored and loaded whole', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} ${'é'.repeat(50)}`);
    const spool = await open('a');
    spool.append(
      SOURCE,
      lines.map((line, index) => record(index + 1, line)),
      progress(lines),
    );
    await spool.settled();
    const state = await new SharedStore(redis, KEYS, 'a').load(() => true);
    expect(state.progress.get(GROUP)).toEqual(progress(lines));
    expect(state.records).toHaveLength(10_000);
  });

  test('what waits for Redis goes in commits of a size that it can take', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `${index}`);
    const spool = await open('a');
    // More at once than a call may have arguments.
    for (let group = 1; group <= 20; group += 1) spool.append(`workergroup/${group}`, [], progress(lines));
    await spool.settled();
    const state = await new SharedStore(redis, KEYS, 'a').load(() => true);
    expect([...state.progress.values()]).toEqual(Array.from({ length: 20 }, () => progress(lines)));
    expect(spool.version).toBeGreaterThan(1);
  });

  test('what waits for Redis is bounded, also where no records come with it', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index}`);
    const spool = await open('a');
    expect(() => {
      for (let group = 1; group <= 100; group += 1) spool.append(`workergroup/${group}`, [], progress(lines));
    }).toThrow('Redis does not keep up');
    await spool.settled();
    // What was not taken is not known.
    const known = (await new SharedStore(redis, KEYS, 'a').load(() => true)).progress.size;
    expect([spool.progress(`workergroup/${known}`), spool.progress(`workergroup/${known + 1}`)]).toEqual([
      progress(lines),
      undefined,
    ]);
  });

  test('a state of thousands of groups takes the place of another', async () => {
    await redis.command('SET', KEYS.lease, 'a');
    const store = new SharedStore(redis, KEYS, 'a');
    const loaded = await store.load(() => true);
    // More keys than Redis lets a script give to one command.
    const groups = Array.from({ length: 8_500 }, (_, index): [number, GroupProgress] => [
      index,
      progress(['x']),
    ]);
    const state = { ...loaded, version: 5, progress: new Map(groups) };
    await store.replace(loaded, state, 5);
    expect(await store.version()).toBe(5);
  });

  test('however many groups there are, they are read in small pieces, one at a time', async () => {
    const lines = Array.from({ length: 5_000 }, (_, index) => `line ${index}`);
    const filling = await open('a');
    for (let group = 1; group <= 20; group += 1) filling.append(`workergroup/${group}`, [], progress(lines));
    await filling.settled();
    let [underway, atOnce, largest] = [0, 0, 0];
    const watched: Redis = {
      async command(...args) {
        underway += 1;
        atOnce = Math.max(atOnce, underway);
        const answer = await redis.command(...args);
        underway -= 1;
        if (Array.isArray(answer)) largest = Math.max(largest, answer.length);
        return answer;
      },
      close() {},
    };
    const state = await new SharedStore(watched, KEYS, 'a').load(() => true);
    expect([...state.progress.values()]).toEqual(Array.from({ length: 20 }, () => progress(lines)));
    expect([atOnce, largest]).toEqual([1, 2_000]);
    await expect(new SharedStore(redis, KEYS, 'a').load(() => false)).rejects.toThrow(LeaseLost);
  });

  test('a whole state is restored in small commits; until the last of them Redis counts as empty', async () => {
    const lines = Array.from({ length: 10_000 }, (_, index) => `line ${index} ${'é'.repeat(50)}`);
    const old = await open('a');
    old.append('workergroup/8', [record(1, 'old')], progress(['old']));
    await old.settled();
    const store = new SharedStore(redis, KEYS, 'a');
    const loaded = await store.load(() => true);
    const state: SharedState = {
      version: 90,
      records: Array.from({ length: 3_000 }, (_, index) => record(index + 1)),
      first: 5,
      acknowledged: new Map([['stdout', 7]]),
      progress: new Map([[GROUP, progress(lines)]]),
    };
    const versions: number[] = [];
    let brokenAfter = 2;
    const breaking: Redis = {
      async command(...args) {
        if (brokenAfter === 0) throw new Error('away');
        brokenAfter -= 1;
        const answer = await redis.command(...args);
        versions.push(await store.version());
        return answer;
      },
      close() {},
    };
    const broken = new SharedStore(breaking, KEYS, 'a');
    await expect(broken.replace(loaded, state, 100)).rejects.toThrow('away');
    const half = await store.load(() => true);
    expect(half).toMatchObject({ records: [], progress: new Map() });
    brokenAfter = Infinity;
    await broken.replace(half, state, 100);
    expect(versions.slice(0, -1).every((version) => version < 0)).toBe(true);
    expect(await store.load(() => true)).toEqual({ ...state, version: 100 });
    expect(await redis.command('EXISTS', KEYS.window(8, ''))).toBe(0);
  });

  test('a Redis that has not what was written last refuses the next commit, and its holder hears it', async () => {
    const refused: string[] = [];
    const spool = await open('a', undefined, (error) => refused.push(error.message));
    spool.append(SOURCE, [record(1)], progress(['line 1']));
    await spool.settled();
    await redis.command('SET', KEYS.version, '0');
    spool.append(SOURCE, [record(2)], progress(['line 1', 'line 2']));
    await spool.settled();
    expect(refused).toEqual(['Redis has not what was written to it last']);
    // What waits to be written waits for the sink.
    expect(spool.standing('stdout').lag).toBe(2);
    expect(spool.snapshot().records).toEqual([record(1), record(2)]);
  });

  test('a lease that is released while it is renewed was not lost', async () => {
    let lost = 0;
    const renewal = Promise.withResolvers<void>();
    const renewing = Promise.withResolvers<void>();
    let asked = 0;
    const lease = startLease({
      redis: {
        ...redis,
        async command(...args) {
          const answer = await redis.command(...args);
          asked += 1;
          if (asked !== 2) return answer;
          renewing.resolve();
          await renewal.promise;
          return answer;
        },
      },
      key: KEYS.lease,
      token: 'a',
      now: () => performance.now(),
      clock: systemClock,
      onTaken: () => Promise.resolve(),
      onRenewed: () => Promise.resolve(),
      onDenied: () => Promise.resolve(),
      onLost: () => Promise.resolve(void (lost += 1)),
      onFailed: () => {},
    });
    await renewing.promise;
    const released = lease.release();
    renewal.resolve();
    await released;
    expect(lost).toBe(0);
    expect(await redis.command('GET', KEYS.lease)).toBeNull();
  });

  test('a lease is one replica’s at a time, renewed while it lives, and free at once when released', async () => {
    const events: string[] = [];
    const { promise: begun, resolve: begin } = Promise.withResolvers<void>();
    const join = (token: string) =>
      startLease({
        redis,
        key: KEYS.lease,
        token,
        now: () => performance.now(),
        clock: systemClock,
        async onTaken() {
          events.push(`${token} taken`);
          await begun;
        },
        onRenewed: () => Promise.resolve(),
        onDenied: () => Promise.resolve(),
        onLost: () => Promise.resolve(void events.push(`${token} lost`)),
        onFailed: () => {},
      });
    const first = join('a');
    await until(() => first.held());
    const second = join('b');
    // Redis counts the 5 s of a lease by its own clock: one that was not renewed would be gone by then,
    // also while the work under it only begins: a state of many groups takes its time.
    await new Promise((resolve) => setTimeout(resolve, 6_000));
    expect([first.held(), second.held()]).toEqual([true, false]);
    begin();
    await first.release();
    await until(() => second.held());
    expect(first.held()).toBe(false);
    // What is forfeited is ended, and taken again by who has it.
    second.forfeit();
    expect(second.held()).toBe(false);
    await until(() => second.held());
    // Somebody takes it away: the holder finds out when it renews.
    await redis.command('SET', KEYS.lease, 'c');
    await until(() => !second.held());
    await until(() => events.length === 5);
    expect(events).toEqual(['a taken', 'b taken', 'b lost', 'b taken', 'b lost']);
    await second.release();
    expect(await redis.command('GET', KEYS.lease)).toBe('c');
  });
});
