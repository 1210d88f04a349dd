/** Parameters steered over HTTP, with whatever can happen between a decision and what comes of it. */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { SharedHistory } from '../../../src/daemon/replicas/shared-history.ts';
import { SharedKeys } from '../../../src/daemon/replicas/shared-keys.ts';
import { connectRedis } from '../../../src/daemon/replicas/redis.ts';
import { startEmulator, type Emulator } from '../../../src/emulator/index.ts';
import { NO_WRITE } from '../../../src/fleet/history/store.ts';
import { SqliteHistory } from '../../../src/fleet/history/places/sqlite-history.ts';
import { describeWithRedis, startRedis, type RedisServer } from '../../support/redis.ts';
import {
  BOUNDS,
  MinuteClock,
  parametersOf,
  setByHand,
  steerEndpoint,
  type SteeredOptions,
} from '../../support/steered-endpoint.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** Quiet ones, until nothing keeps steering from moving. */
const BEFORE = 62;
const QUIET = 100;
const CROWDED = 300;

async function startService(): Promise<Emulator> {
  const emulator = await startEmulator({ dialect: 'public', clock: 'frozen' });
  await setByHand(emulator, { cold_workers: 5 });
  return emulator;
}

describe('on one disk', () => {
  function place(emulator: Emulator) {
    const folder = temporaryFolder();
    const clock = new MinuteClock();
    const start = (options: Partial<SteeredOptions> = {}) => {
      const fail = () => expect.unreachable();
      const store = new SqliteHistory({
        directory: folder.path,
        now: () => clock.now(),
        onSetAside: fail,
        onHole: fail,
      });
      return steerEndpoint({ emulator, clock, store, best: { cold_workers: 4 }, ...options });
    };
    const journalled = () => 0;
    const path = folder.path;
    return { start, clock, path, journalled, [Symbol.dispose]: () => folder[Symbol.dispose]() };
  }

  test('a change is in the journal before it is sent, on trial for six hours, and kept', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    const journals: unknown[] = [];
    await using steered = await here.start({
      beforeSend: (values, journal) =>
        void journals.push([values, journal.at(-1)?.phase, journal.at(-1)?.to]),
    });
    // Before its first look too, it is known to be steered.
    expect(steered.steering.view('chat')).toMatchObject({ holds: undefined, journal: [] });
    expect(steered.steering.view('other')).toBeUndefined();
    await steered.minutes(BEFORE - 3, QUIET);
    expect(steered.steering.view('chat')?.holds).toMatch(/first hour after a start/);
    await steered.minutes(3, QUIET);
    expect(journals).toEqual([[{ cold_workers: 4 }, 'sending', { cold_workers: 4 }]]);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
    expect(steered.steering.view('chat')?.wanted).toEqual({ cold_workers: 4 });
    await steered.minutes(6 * 60 + 2, QUIET);
    expect(steered.journal()).toMatchObject([{ id: 1, outcome: 'kept', came: { excessMinutes: 0 } }]);
    expect(steered.events).toEqual([expect.objectContaining({ kind: 'steering ended', outcome: 'kept' })]);
  });

  test('harm puts the old values back, after a reload of the configuration too', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await using steered = await here.start();
    await steered.minutes(BEFORE, QUIET);
    steered.steering.apply({ apply: true, bounds: {} });
    await steered.minutes(10, QUIET);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
    await steered.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    expect(steered.journal()).toMatchObject([{ outcome: 'rolled_back' }]);
    expect(steered.notices.map(({ kind }) => kind)).toEqual([
      'parameters steered',
      'old values go back',
      'steering ended',
    ]);
  });

  test('switched off by a reload, it sends nothing any more', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await using steered = await here.start();
    await steered.minutes(BEFORE, QUIET);
    steered.steering.apply({ apply: false, bounds: BOUNDS });
    await steered.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
  });

  test.each([
    ['that had arrived', { kind: 'reset', takesEffect: true } as const, 4, { phase: 'watching' }],
    ['that had not', { kind: 'reset' } as const, 5, { outcome: 'lost' }],
  ])(
    'a crash between journal and answer is settled by the next process: a change %s',
    async (_, fault, now, came) => {
      await using emulator = await startService();
      using here = place(emulator);
      await emulator.faults.add({ ...fault, operation: 'endpointGroups.update' });
      {
        await using first = await here.start();
        // Its answer is lost, and with it the process.
        await first.minutes(BEFORE - 1, QUIET);
        while (first.journal().length === 0) await first.minutes(1, QUIET);
        expect(first.journal()).toMatchObject([{ phase: 'sending' }]);
        await first.crash();
      }
      await emulator.faults.clear();
      await using second = await here.start({ best: undefined });
      await second.minutes(4, QUIET);
      expect((await parametersOf(emulator))['cold_workers']).toBe(now);
      expect(second.journal()).toMatchObject([came]);
      if (now === 5) return;
      await second.minutes(5, CROWDED);
      expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    },
  );

  test('a row of the journal that is cut keeps nobody from putting old values back', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    {
      await using first = await here.start();
      await first.minutes(BEFORE, QUIET);
      await first.crash();
    }
    const database = new DatabaseSync(join(here.path, 'fleet.sqlite'));
    database.exec('UPDATE change SET body = substr(body, 1, 20)');
    database.close();
    await using second = await here.start({ best: undefined });
    await second.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    expect(second.journal()).toMatchObject([{ id: 1, outcome: 'rolled_back' }]);
  });

  test("a person's hand wins: nothing is put back, and nothing moves for a day", async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await using steered = await here.start();
    await steered.minutes(BEFORE, QUIET);
    await setByHand(emulator, { cold_workers: 9 });
    await steered.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(9);
    expect(steered.journal()).toMatchObject([{ outcome: 'overruled' }]);
    const view = steered.steering.view('chat');
    expect(view?.holds).toMatch(/somebody changed parameters/);
    expect((view?.pausedUntilMs ?? 0) - here.clock.now()).toBeGreaterThan(23 * 3_600_000);
  });

  test.each([
    ['that the service refuses', { kind: 'status', status: 403 } as const, /403/],
    ["that a gateway says no to, and didn't pass on", { kind: 'status', status: 404 } as const, /404/],
    ['that it throttles', { kind: 'throttled' } as const, /429/],
  ])('a change %s is not made, nor tried again at once', async (_, fault, words) => {
    await using emulator = await startService();
    using here = place(emulator);
    await emulator.faults.add({ ...fault, operation: 'endpointGroups.update' });
    const sent: unknown[] = [];
    await using steered = await here.start({
      async beforeSend(values) {
        sent.push(values);
      },
    });
    await steered.minutes(BEFORE + 10, QUIET);
    expect(sent).toHaveLength(1);
    expect(steered.journal()).toMatchObject([{ outcome: 'refused', because: expect.stringMatching(words) }]);
  });

  test('a change that a gateway says no to, and passed on, is watched, and its harm is taken back', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await emulator.faults.add({
      kind: 'status',
      status: 404,
      takesEffect: true,
      operation: 'endpointGroups.update',
    });
    await using steered = await here.start();
    await steered.minutes(BEFORE + 1, QUIET);
    expect(steered.journal()).toMatchObject([{ phase: 'watching' }]);
    await emulator.faults.clear();
    await steered.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    expect(steered.journal()).toMatchObject([{ outcome: 'rolled_back' }]);
  });

  test('a replica that may not act sends nothing, not even what goes back; once it may, it does', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    const lease = { isHeld: false };
    await using steered = await here.start({ mayAct: () => lease.isHeld });
    await steered.minutes(BEFORE + 5, QUIET);
    expect(steered.journal()).toEqual([]);
    lease.isHeld = true;
    await steered.minutes(3, QUIET);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
    lease.isHeld = false;
    await steered.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
    lease.isHeld = true;
    await steered.minutes(2, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
  });

  test('a lease that is lost between the decision and the request: nothing is sent', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    let asked = 0;
    // It may look, and decides; what was decided is stored meanwhile.
    const mayAct = () => {
      asked += 1;
      return here.journalled() === 0;
    };
    const sent: unknown[] = [];
    await using steered = await here.start({ mayAct, beforeSend: (values) => void sent.push(values) });
    here.journalled = () => steered.journal().length;
    await steered.minutes(BEFORE + 3, QUIET);
    expect(asked).toBeGreaterThan(BEFORE);
    expect(steered.journal()).toMatchObject([{ phase: 'sending' }]);
    expect(sent).toEqual([]);
  });

  test('where the service does not answer, nothing new moves', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await using steered = await here.start();
    await steered.minutes(5, QUIET);
    await emulator.faults.add({ kind: 'status', operation: 'endpointGroups.list' });
    await steered.minutes(BEFORE, QUIET);
    expect(steered.journal()).toEqual([]);
    expect(steered.steering.view('chat')?.holds).toMatch(/could not be read/);
  });

  test('a rollback that is refused is sent until the service has it', async () => {
    await using emulator = await startService();
    using here = place(emulator);
    await using steered = await here.start();
    await steered.minutes(BEFORE, QUIET);
    await emulator.faults.add({ kind: 'throttled', operation: 'endpointGroups.update', times: 3 });
    await steered.minutes(9, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    expect(steered.journal()).toMatchObject([{ outcome: 'rolled_back' }]);
  });
});

describeWithRedis('with one Redis', () => {
  let server: RedisServer;
  beforeAll(async () => {
    server = await startRedis();
  });
  afterAll(() => server[Symbol.asyncDispose]());

  /** The lease is whose the test says. */
  async function places(database: number) {
    let ready = (): void => {};
    const connected = new Promise<void>((resolve) => (ready = resolve));
    const redis = await connectRedis(server.url(database), () => {}, ready);
    await connected;
    const keys = new SharedKeys('pilotlight', 'steering');
    const clock = new MinuteClock();
    let holder = '';
    return {
      clock,
      hold: async (token: string): Promise<void> => {
        holder = token;
        await redis.command('SET', keys.lease, token);
      },
      mayAct: (token: string) => () => holder === token,
      storeOf: (token: string) => new SharedHistory({ redis, keys, token, now: () => clock.now() }),
      [Symbol.dispose]: () => redis.close(),
    };
  }

  test('the holder dies in the watched hour: the next one puts the old values back, and the dead one nothing', async () => {
    await using emulator = await startService();
    using here = await places(3);
    const { clock, hold, storeOf } = here;
    await hold('first');
    const first = await steerEndpoint({
      emulator,
      clock,
      store: storeOf('first'),
      best: { cold_workers: 4 },
    });
    await first.minutes(BEFORE, QUIET);
    expect((await parametersOf(emulator))['cold_workers']).toBe(4);
    await hold('second');
    await first.steering.stop();
    await using second = await steerEndpoint({ emulator, clock, store: storeOf('second') });
    await second.minutes(10, QUIET);
    expect(second.steering.view('chat')?.holds).toBe('a change is on trial');
    await second.minutes(5, CROWDED);
    expect((await parametersOf(emulator))['cold_workers']).toBe(5);
    expect(await second.history.journal('chat', 10)).toMatchObject([{ id: 1, outcome: 'rolled_back' }]);
    const dead = storeOf('first');
    await dead.open();
    const state = { baseline: {}, pause: undefined, change: undefined };
    await expect(
      dead.write([{ ...NO_WRITE, steering: { label: 'chat', state } }], clock.now()),
    ).rejects.toThrow(/lease/);
    await first[Symbol.asyncDispose]();
  });

  test.each([
    ['before anything moved', 90, undefined],
    ['with a change on trial', BEFORE, { cold_workers: 4 }],
  ])(
    'a holder that was cut off %s, and holds again, goes on from what the next one left',
    async (_, before, best) => {
      await using emulator = await startService();
      using here = await places(best ? 4 : 5);
      const { clock, hold, mayAct, storeOf } = here;
      const start = (token: string, steered?: SteeredOptions['best']) =>
        steerEndpoint({ emulator, clock, store: storeOf(token), best: steered, mayAct: mayAct(token) });
      await hold('first');
      await using first = await start('first', best);
      await first.minutes(before, QUIET);
      await hold('second');
      const second = await start('second', best ? undefined : { cold_workers: 4 });
      if (best) {
        // Of the change that it inherits it puts the old values back.
        await second.minutes(10, CROWDED);
        expect((await parametersOf(emulator))['cold_workers']).toBe(5);
      } else {
        await second.minutes(BEFORE + 3, QUIET);
        expect((await parametersOf(emulator))['cold_workers']).toBe(4);
      }
      await second.crash();
      await hold('first');
      await first.minutes(1, QUIET);
      expect(first.journal()).toMatchObject([best ? { outcome: 'rolled_back' } : { phase: 'watching' }]);
      await first.minutes(9, CROWDED);
      expect((await parametersOf(emulator))['cold_workers']).toBe(5);
      expect(first.notices.filter(({ kind }) => kind === 'changed by hand')).toEqual([]);
      expect(await first.history.journal('chat', 10)).toMatchObject([{ id: 1, outcome: 'rolled_back' }]);
    },
  );
});
