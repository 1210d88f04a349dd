/** What one replica leaves in Redis and what the next one makes of it: a real Redis, and clocks that stand still. */
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import type { Redis, RedisError } from '../../../../src/daemon/replicas/redis.ts';
import { SharedProgress } from '../../../../src/daemon/replicas/shared-progress.ts';
import { beginGroup } from '../../../../src/logs/follower/group.ts';
import type { Spool } from '../../../../src/logs/spool/spool.ts';
import { NEVER, progressAt, recordsFrom } from '../../../support/log-records.ts';
import { NOW, SOURCE } from '../../../support/log-spool.ts';
import { settled, VirtualClock } from '../../../support/log-time.ts';
import { memorySpool } from '../../../support/memory-spool.ts';
import { connectedTo, describeWithRedis, startRedis } from '../../../support/redis.ts';

const KEYS = { lease: 'lease', index: 'logs', logs: 'log:' };
const VALUE = `log:${SOURCE}`;
const LINES = Array.from({ length: 9 }, (_, index) => `line ${index}`);
const RESET = { reason: 'reset', lost_min: 0, lost_estimate: null };

describeWithRedis('what replicas share', () => {
  let redis: Redis;
  let tokens = 0;
  beforeAll(async () => {
    const server = await startRedis();
    redis = await connectedTo(server);
    return async () => {
      redis.close();
      await server[Symbol.asyncDispose]();
    };
  });
  beforeEach(() => redis.command('FLUSHALL'));
  const version = async (): Promise<number> => Number(await redis.command('HGET', KEYS.index, 'version'));
  /** Of a server that was never started again, unless told. */
  const state = async (run = 'first') => ({ version: await version(), run });

  interface Replica {
    readonly shared: SharedProgress;
    readonly spool: Spool;
    readonly clock: VirtualClock;
    readonly refusals: RedisError[];
    /** @param run Of the server. */
    lead(run?: string): Promise<void>;
    append(from: number, count: number, lines?: readonly string[]): Promise<void>;
    deliver(): void;
  }

  /** @param spool Of another life of the same replica. */
  function replica(spool = memorySpool(['stdout'])): Replica {
    const clock = new VirtualClock(NOW);
    const refusals: RedisError[] = [];
    let epoch = 1;
    const shared = new SharedProgress({
      redis,
      keys: KEYS,
      spool,
      clock,
      now: () => clock.now(),
      writing: {
        passed() {},
        failed(error) {
          throw error as Error;
        },
      },
      onRefused: (error) => refusals.push(error),
    });
    return {
      shared,
      spool,
      clock,
      refusals,
      async lead(run) {
        shared.end();
        tokens += 1;
        await redis.command('SET', KEYS.lease, String(tokens));
        const begin = async () => shared.begin(tokens, await state(run), () => true);
        await begin().catch(async ({ code }: RedisError) => {
          // The last leader is waited for.
          expect(code).toBe('redis_forgot');
          clock.standStill(10_000);
          await begin();
        });
        ({ epoch } = beginGroup({
          source: { kind: 'workergroup', id: 7 },
          start: 'all',
          ...shared.beginning(SOURCE),
        }).progress);
      },
      async append(from, count, lines = LINES) {
        clock.standStill(2_000);
        const records = recordsFrom(from, count).map((record) => Object.assign(record, { epoch }));
        await shared.append(SOURCE, records, { ...progressAt(from + count - 1, lines), epoch }, NEVER);
      },
      deliver() {
        spool.take('stdout');
        spool.acknowledge('stdout');
      },
    };
  }

  /** Waits for what Redis is told after a renewal. */
  async function renewed({ shared, clock }: Replica): Promise<void> {
    clock.standStill(2_000);
    shared.refresh(await version());
    for (let turn = 0; turn < 20; turn += 1) {
      await redis.command('PING');
      await settled();
    }
  }

  test('a new log begins in an epoch that none can have had; the next leader goes on from the same line and number', async () => {
    const [one, two] = [replica(), replica()];
    await one.lead();
    expect(one.shared.beginning(SOURCE)).toEqual({ progress: undefined, epoch: NOW });
    await one.append(1, 9);
    expect(one.spool.take('stdout')?.count).toBe(9);
    one.spool.acknowledge('stdout');
    await renewed(one);
    await two.lead();
    const { progress, mark } = two.shared.beginning(SOURCE);
    expect(mark).toBeUndefined();
    expect(progress).toMatchObject({ epoch: NOW, seq: 9 });
    expect(progress?.streams['']?.window).toEqual(progressAt(9, LINES).streams['']?.window);
    expect(Number(await redis.command('STRLEN', VALUE))).toBeLessThan(16_384);
  });

  test('lines that were taken and not delivered are marked with their number, once, and stay with their replica', async () => {
    const [one, two, three] = [replica(), replica(), replica()];
    await one.lead();
    await one.append(1, 5);
    one.deliver();
    await one.append(6, 4);
    await two.lead();
    expect(two.shared.beginning(SOURCE)).toMatchObject({
      progress: { seq: 9 },
      mark: { reason: 'handover', lost_min: 0, lost_estimate: 4 },
    });
    expect([two.spool.take('stdout'), one.spool.take('stdout')?.records[0]?.seq]).toEqual([undefined, 6]);
    // The gap is a record as others.
    await two.append(10, 2);
    two.deliver();
    await renewed(two);
    await three.lead();
    expect(three.shared.beginning(SOURCE)).toEqual({ progress: expect.objectContaining({ seq: 11 }) });
    await one.lead();
    // It was a leader, and another has followed since.
    expect(one.shared.beginning(SOURCE)).toEqual({ progress: expect.objectContaining({ seq: 11 }) });
  });

  test('the same spool goes on by itself: what waits there is no gap, and Redis hears when it is delivered', async () => {
    const [one, two] = [replica(), replica()];
    await one.lead();
    await one.append(1, 9);
    await one.lead();
    const { progress, mark } = one.shared.beginning(SOURCE);
    expect([progress?.seq, mark]).toEqual([9, undefined]);
    one.deliver();
    await renewed(one);
    await two.lead();
    expect(two.shared.beginning(SOURCE).mark).toBeUndefined();
  });

  test('what Redis was not told is taken again by the replica that did not get to its spool', async () => {
    const one = replica();
    await one.lead();
    await one.append(1, 3);
    const append = one.spool.append.bind(one.spool);
    one.spool.append = () => {
      throw new Error('killed');
    };
    await expect(one.append(4, 2)).rejects.toThrow('killed');
    one.spool.append = append;
    await one.lead();
    expect(one.shared.beginning(SOURCE).progress?.seq).toBe(3);
  });

  test('a replica that was replaced writes nothing and delivers nothing of what it took', async () => {
    const [one, two] = [replica(), replica()];
    await one.lead();
    await one.append(1, 1);
    await two.lead();
    const before = await redis.binary('GET', VALUE);
    await expect(one.append(2, 1)).rejects.toMatchObject({ code: 'lease_lost' });
    expect(one.refusals).toHaveLength(1);
    expect(await redis.binary('GET', VALUE)).toEqual(before);
    expect(one.spool.take('stdout')?.count).toBe(1);
    one.shared.end();
    await expect(one.append(2, 1)).rejects.toMatchObject({ code: 'lease_lost' });
  });

  test('a log is written every two seconds at most', async () => {
    const one = replica();
    await one.lead();
    await one.append(1, 1);
    let isWritten = false;
    const appended = one.shared
      .append(SOURCE, recordsFrom(2, 1), progressAt(2), NEVER)
      .then(() => (isWritten = true));
    await one.clock.advance(1_999);
    await redis.command('PING');
    expect(isWritten).toBe(false);
    await one.clock.advance(1);
    await appended;
  });

  describe('a value', () => {
    test.each<[string, () => Promise<unknown>]>([
      ['that was evicted', () => redis.command('DEL', VALUE)],
      ['that cannot be read', () => redis.command('SET', VALUE, '{broken')],
      ['that was evicted with all others', () => redis.command('DEL', VALUE, KEYS.index)],
    ])('%s is a new epoch with a reset record, for every replica', async (_, harm) => {
      const [one, two, three] = [replica(), replica(), replica()];
      await one.lead();
      await one.append(1, 3);
      two.shared.saw(await state());
      await harm();
      await two.lead();
      two.clock.standStill(50);
      expect(two.shared.beginning(SOURCE)).toEqual({
        progress: undefined,
        epoch: two.clock.now(),
        mark: RESET,
      });
      // It dies before it has written anything.
      await three.lead();
      expect(three.shared.beginning(SOURCE)).toMatchObject({ progress: undefined, mark: RESET });
      // What a replica knows itself does not come again, and is marked.
      await one.lead();
      expect(one.shared.beginning(SOURCE)).toMatchObject({
        progress: { seq: 3, epoch: one.clock.now() },
        mark: RESET,
      });
    });

    test('of another log is no reason for a mark: a log that is new is new', async () => {
      const [one, two] = [replica(), replica()];
      await one.lead();
      await one.append(1, 3);
      await two.lead();
      expect(two.shared.beginning('endpoint/7').mark).toBeUndefined();
    });
  });

  describe('a Redis that went back in time', () => {
    /** @returns The version that it had. */
    async function goBack(back: () => Promise<void>): Promise<number> {
      const [index, value] = [await redis.binary('DUMP', KEYS.index), await redis.binary('DUMP', VALUE)];
      await back();
      const seen = await version();
      await redis.command('DEL', KEYS.index, VALUE);
      await redis.command('RESTORE', KEYS.index, '0', index as Buffer);
      await redis.command('RESTORE', VALUE, '0', value as Buffer);
      return seen;
    }

    test('is a new epoch for a replica that saw it, and for one whose spool has more', async () => {
      const [one, two, three] = [replica(), replica(), replica()];
      await one.lead();
      await one.append(1, 3);
      two.shared.saw({ version: await goBack(() => one.append(4, 3)), run: 'first' });
      await two.lead();
      expect(two.shared.beginning(SOURCE)).toMatchObject({
        progress: { seq: 3, epoch: two.clock.now() },
        mark: RESET,
      });
      await three.lead();
      expect(three.shared.beginning(SOURCE).mark).toEqual(RESET);
    });

    test('is no news to the spool that has more: nothing comes again from there, and it is marked', async () => {
      const one = replica();
      await one.lead();
      await one.append(1, 3);
      await goBack(() => one.append(4, 3));
      const next = replica(one.spool);
      await next.lead();
      expect(next.shared.beginning(SOURCE)).toMatchObject({ progress: { seq: 6 }, mark: RESET });
    });

    test('by less than another replica could see is a new epoch after a restart of Redis, and not for the last leader', async () => {
      const [one, two] = [replica(), replica()];
      await one.lead();
      await one.append(1, 3);
      two.shared.saw(await state());
      await one.append(4, 3);
      one.shared.end();
      await two.lead('second');
      expect(two.shared.beginning(SOURCE)).toMatchObject({ progress: { seq: 6 }, mark: RESET });
      await one.lead('second');
      expect(one.shared.beginning(SOURCE).mark).toEqual(RESET);
      await one.append(7, 1);
      one.deliver();
      await renewed(one);
      // The last leader knows what it wrote, and one that saw another lead since has seen all.
      await one.lead('third');
      expect(one.shared.beginning(SOURCE).mark).toBeUndefined();
      two.shared.saw(await state('third'));
      two.clock.standStill(10_001);
      two.shared.saw(await state('third'));
      await two.lead('third');
      expect(two.shared.beginning(SOURCE).mark).toBeUndefined();
    });

    test('and is started again and again: the last leader is waited for once', async () => {
      const [one, two] = [replica(), replica()];
      await one.lead();
      await one.append(1, 3);
      for (let starts = 0; starts < 5; starts += 1) {
        two.shared.saw(await state(`start ${starts}`));
        two.clock.standStill(3_000);
      }
      await redis.command('SET', KEYS.lease, '9999');
      expect(await two.shared.begin(9999, await state('start 4'), () => true)).toBe(true);
    });

    test.each<[string, (one: Replica) => Promise<unknown>]>([
      ['a renewal', renewed],
      ['a write', (one) => expect(one.append(7, 1)).rejects.toMatchObject({ code: 'lease_lost' })],
    ])(
      'while a replica leads is noticed by %s: it begins again, and nothing comes again',
      async (_, notice) => {
        const [one, two] = [replica(), replica()];
        await one.lead();
        await one.append(1, 3);
        const seen = await goBack(() => one.append(4, 3));
        await notice(one);
        expect(one.refusals).toMatchObject([{ code: 'redis_behind' }]);
        expect(await version()).toBeLessThan(seen);
        await one.lead();
        expect(one.shared.beginning(SOURCE)).toMatchObject({ progress: { seq: 6 }, mark: RESET });
        expect(await version()).toBeGreaterThan(seen);
        two.shared.saw({ version: seen, run: 'first' });
        await two.lead();
        expect(two.shared.beginning(SOURCE)).toMatchObject({ progress: { seq: 3 }, mark: RESET });
      },
    );
  });
});
