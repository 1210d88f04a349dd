/** Two daemons with one Redis watch endpoints as one: real processes, a real Redis. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { connectRedis, RedisSilent } from '../../../src/daemon/replicas/redis.ts';
import { SharedHistory } from '../../../src/daemon/replicas/shared-history.ts';
import { SharedKeys } from '../../../src/daemon/replicas/shared-keys.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { History } from '../../../src/fleet/history/history.ts';
import type { HistoryRow } from '../../../src/fleet/history/row.ts';
import type { FleetSample } from '../../../src/fleet/sample.ts';
import type { LifeEvent, WorkerLife } from '../../../src/fleet/workers/lives.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { settled, VirtualClock } from '../../support/log-time.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';

const INTERVAL_MS = 5_000;
const TOKEN = 'this replica';

describeWithRedis('with one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  async function connect(database: number) {
    let ready = (): void => {};
    const connected = new Promise<void>((resolve) => (ready = resolve));
    const redis = await connectRedis(server.url(database), () => {}, ready);
    await connected;
    return redis;
  }

  const startReplica = (emulator: Emulator, database: number) =>
    startDaemonProcess({
      API_KEY: emulator.apiKey,
      BASE_URL: emulator.url,
      ENDPOINTS: 'all',
      FLEET_INTERVAL: '5s',
      REDIS_URL: server.url(database),
      SHUTDOWN_TIMEOUT: '5s',
    });
  const looks = (emulator: Emulator) => emulator.journal.entries({ operation: 'endpointGroups.workers' });

  test('one samples, and when it is killed the other goes on within three intervals, where it ended', async () => {
    await using emulator = await startEmulator({ dialect: 'public' });
    const replicas = [await startReplica(emulator, 1), await startReplica(emulator, 1)];
    try {
      await until(() => looks(emulator).length >= 3);
      const roles = await Promise.all(
        replicas.map(async ({ url }) => {
          const status = (await (await fetch(`${url}/api/status`)).json()) as { replica: { role: string } };
          return status.replica.role;
        }),
      );
      expect(roles.toSorted()).toEqual(['holder', 'standby']);
      const holder = replicas[roles.indexOf('holder')];
      holder?.child.kill('SIGKILL');
      await holder?.exit;
      const before = looks(emulator).length;
      await until(() => looks(emulator).length >= before + 3);
      const times = looks(emulator).map(({ atMs }) => atMs);
      const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
      expect(Math.max(...gaps)).toBeLessThan(3 * INTERVAL_MS);
      // And never both: no two looks are closer than the interval, but for the first of the second.
      expect(gaps.filter((gap) => gap < INTERVAL_MS / 2).length).toBeLessThanOrEqual(1);
      const redis = await connect(1);
      const names = (await redis.command('KEYS', '*:fleet:endpoints')) as string[];
      const scope = /\{(.*)\}/.exec(names[0] ?? '')?.[1] ?? '';
      const store = new SharedHistory({
        redis,
        keys: new SharedKeys('pilotlight', scope),
        token: TOKEN,
        now: Date.now,
      });
      const { endpoints, known } = await store.open();
      expect(endpoints.map(({ label }) => label)).toEqual(['chat']);
      expect(known).toEqual([{ id: 31, name: 'chat', label: 'chat' }]);
      await until(async () => (await store.read('chat', 'sample', 0, Infinity)).length >= before + 2);
      redis.close();
    } finally {
      for (const replica of replicas) await replica[Symbol.asyncDispose]();
    }
  });

  const sampleOf = (atMs: number, load: number): FleetSample => {
    const rest = {
      load_average: 0,
      capacity_hot: 0,
      capacity_cold: 0,
      requests_working: 0,
      spend_per_hour: 0,
    };
    return { atMs, measures: { load, ...rest }, workers: { idle: load } };
  };
  const life: WorkerLife = {
    id: 7,
    endpoint: 'chat',
    firstSeenMs: 1,
    changes: [['idle', 1]],
    start: undefined,
    perf: 3,
    missed: 0,
    missingSinceMs: undefined,
  };

  test('the history is one: rows, the minute that is open, workers and starts go over to the next holder', async () => {
    const redis = await connect(2);
    const keys = new SharedKeys('pilotlight', 'test');
    const clock = new VirtualClock();
    await clock.advance(Date.now() - clock.now() - 3_600_000);
    const open = async (token: string) => {
      await redis.command('SET', keys.lease, token);
      const troubles: unknown[] = [];
      const store = new SharedHistory({ redis, keys, token, now: () => clock.now() });
      const history = new History({
        store,
        clock,
        lives: () => [life],
        onTrouble: (error) => troubles.push(error),
        onStored() {},
      });
      const stored = await history.open();
      return { history, stored, troubles };
    };
    const first = await open('first');
    for (let load = 1; load <= 30; load += 1) {
      await clock.advance(15_000);
      const events =
        load === 1 ? [{ kind: 'started', workerId: 7, from: 'cold', seconds: 4, perf: 3 } as const] : [];
      const changed = load === 1 ? [life] : [];
      first.history.record({ label: 'chat', sample: sampleOf(clock.now(), load), changed, gone: [], events });
    }
    first.history.recordKnown([{ id: 31, name: 'chat', label: 'chat' }]);
    const query = { endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 100 };
    expect(await first.history.query(query)).toHaveLength(30);
    await until(async () => {
      await settled();
      return (await redis.command('GET', keys.fleetKnown)) !== null;
    });
    const second = await open('second');
    expect(second.stored?.lives).toEqual([life]);
    expect(second.stored).toMatchObject({
      starts: [{ endpoint: 'chat', from: 'cold', seconds: 4, perf: 3 }],
      known: [{ id: 31, name: 'chat', label: 'chat' }],
    });
    const loads = (await second.history.query(query)).map(({ measures }) => measures.load.sum);
    expect(loads).toEqual(Array.from({ length: 30 }, (_, index) => index + 1));
    const minutes = await second.history.query({ ...query, maxRows: 16 });
    expect(minutes.reduce((sum, row) => sum + row.measures.load.sum, 0)).toBe((30 * 31) / 2);
    // What the first still writes is refused, and changes nothing.
    await clock.advance(15_000);
    first.history.record({
      label: 'chat',
      sample: sampleOf(clock.now(), 99),
      changed: [],
      gone: [],
      events: [],
    });
    await until(() => first.troubles.length > 0);
    expect(await second.history.query(query)).toHaveLength(30);
    await first.history.stop();
    await second.history.stop();
    redis.close();
  });

  test('a Redis that has lost everything is given the workers and endpoints again', async () => {
    const redis = await connect(3);
    const keys = new SharedKeys('pilotlight', 'test');
    await redis.command('SET', keys.lease, TOKEN);
    const store = new SharedHistory({ redis, keys, token: TOKEN, now: Date.now });
    const virtual = new VirtualClock();
    const history = new History({
      store,
      clock: { now: () => Date.now(), sleep: (ms, signal) => virtual.sleep(ms, signal) },
      lives: () => [life],
      onTrouble() {},
      onStored() {},
    });
    await history.open();
    const record = (load: number) =>
      history.record({
        label: 'chat',
        sample: sampleOf(Date.now(), load),
        changed: [],
        gone: [],
        events: [],
      });
    record(1);
    const stored = async () => Number(await redis.command('HEXISTS', keys.fleetEndpoints, 'chat')) === 1;
    await until(stored);
    await redis.command('FLUSHDB');
    await redis.command('SET', keys.lease, TOKEN);
    record(2);
    await until(() => history.trouble !== undefined);
    await virtual.advance(5_000);
    await until(stored);
    expect(await redis.command('HGET', keys.fleetWorkers, '7')).toBe(JSON.stringify(life));
    expect(history.trouble).toBeUndefined();
    await history.stop();
    redis.close();
  });

  /** A history of this replica, on a Redis whose next answer can be lost, and with a lease that can be another's. */
  async function lonelyHistory(database: number) {
    const redis = await connect(database);
    const keys = new SharedKeys('pilotlight', 'test');
    const virtual = new VirtualClock();
    const faults = { answersLost: 0 };
    const store = new SharedHistory({
      redis: {
        ...redis,
        async command(...args) {
          const answer = await redis.command(...args);
          if (args[0] !== 'EVAL' || faults.answersLost === 0) return answer;
          faults.answersLost -= 1;
          throw new RedisSilent('no answer');
        },
      },
      keys,
      token: TOKEN,
      now: Date.now,
    });
    const history = new History({
      store,
      clock: { now: () => Date.now(), sleep: (ms, signal) => virtual.sleep(ms, signal) },
      lives: () => [life],
      onTrouble() {},
      onStored() {},
    });
    const leaseTo = (token: string) => redis.command('SET', keys.lease, token);
    await leaseTo(TOKEN);
    await history.open();
    return {
      redis,
      keys,
      history,
      faults,
      leaseTo,
      record: (load: number, events: readonly LifeEvent[] = []) =>
        history.record({ label: 'chat', sample: sampleOf(Date.now(), load), changed: [], gone: [], events }),
      /** Time passes until it is so. */
      passUntil: (condition: () => boolean) =>
        until(async () => {
          await virtual.advance(1_000);
          return condition();
        }),
      /** When so many samples are in Redis: their loads, and the sum of these as the hours have it. */
      async loads(count: number) {
        const reader = new SharedHistory({ redis, keys, token: 'nobody', now: Date.now });
        const samples = () => reader.read('chat', 'sample', 0, Infinity);
        await until(async () => (await samples()).length === count);
        const open = (await reader.open()).endpoints.flatMap((state) => state.open);
        const hours = [...(await reader.read('chat', 'hour', 0, Infinity)), ...open].filter(
          ({ lengthMs }) => lengthMs === 3_600_000,
        );
        const sum = (rows: readonly HistoryRow[]) => rows.map(({ measures }) => measures.load.sum / 1_000);
        return { samples: sum(await samples()), inHours: sum(hours).reduce((all, one) => all + one, 0) };
      },
      async [Symbol.asyncDispose]() {
        await history.stop();
        redis.close();
      },
    };
  }

  test('what may have arrived before the lease was gone for a while is stored once', async () => {
    await using world = await lonelyHistory(4);
    const { history, record, faults } = world;
    record(1);
    await world.loads(1);
    faults.answersLost = 1;
    record(2);
    await until(() => history.trouble !== undefined);
    await world.leaseTo('another');
    record(4, [{ kind: 'started', workerId: 7, from: 'cold', seconds: 4, perf: 3 }]);
    await world.passUntil(() => history.trouble?.includes('lease') ?? false);
    await world.leaseTo(TOKEN);
    await world.passUntil(() => history.trouble === undefined);
    expect(await world.loads(3)).toEqual({ samples: [1, 2, 4], inHours: 7 });
    expect(await world.redis.command('LLEN', world.keys.fleetStarts('chat'))).toBe(1);
  });

  // One commit more is what this one's own would have been the first time: that is not taken for it.
  test.each([
    [[10], 5],
    [[10, 20], 7],
  ])(
    'where another has looked meanwhile, its looks are kept, and those that were held from before',
    async (theirLoads, database) => {
      await using world = await lonelyHistory(database);
      const { redis, keys, history, record } = world;
      record(1);
      await world.loads(1);
      await world.leaseTo('another');
      record(2);
      await until(() => history.trouble !== undefined);
      const theirs = new SharedHistory({ redis, keys, token: 'another', now: Date.now });
      const others = new History({
        store: theirs,
        clock: new VirtualClock(),
        lives: () => [],
        onTrouble: (error) => expect.unreachable(String(error)),
        onStored() {},
      });
      await others.open();
      for (const [index, load] of theirLoads.entries()) {
        const sample = sampleOf(Date.now(), load);
        others.record({ label: 'chat', sample, changed: [], gone: [], events: [] });
        await world.loads(index + 2);
      }
      record(3);
      await world.leaseTo(TOKEN);
      await world.passUntil(() => history.trouble === undefined);
      record(4);
      const all = [1, 2, ...theirLoads, 4];
      const inHours = all.reduce((sum, load) => sum + load, 0);
      expect(await world.loads(all.length)).toEqual({ samples: all, inHours });
      await others.stop();
    },
  );

  test('a Redis that went back in time has each look once', async () => {
    await using world = await lonelyHistory(6);
    const { redis, keys, history, record } = world;
    record(1);
    await world.loads(1);
    const version = (await redis.command('GET', keys.fleetCommits)) as string;
    record(2);
    await world.loads(2);
    // The commit counts no more, though its rows are there: the worst that a copy that lags behind may do.
    await redis.command('SET', keys.fleetCommits, version);
    record(4);
    await until(() => history.trouble !== undefined);
    await world.passUntil(() => history.trouble === undefined);
    expect(await world.loads(3)).toEqual({ samples: [1, 2, 4], inHours: 7 });
  });
});
