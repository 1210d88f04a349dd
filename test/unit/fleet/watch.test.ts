/** The watch on virtual time, against a service that answers as a test says. */
import type { FleetEvent } from '../../../src/fleet/workers/lives.ts';
import { describe, expect, test } from 'vitest';
import type { Worker } from '../../../src/contract/operations/serverless/workers.ts';
import type { ListedEndpoint } from '../../../src/fleet/discovery/endpoints.ts';
import { checkEndpointGroups } from '../../../src/scaling/rules/check.ts';
import { FleetWorld } from '../../support/fleet-world.ts';
import { VirtualClock } from '../../support/log-time.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const SECOND = 1_000;
const CHAT: ListedEndpoint = { id: 31, endpoint_name: 'chat', endpoint_state: 'Active', target_util: 0.9 };
const DRAW: ListedEndpoint = { id: 32, endpoint_name: 'draw' };

class World extends FleetWorld {
  override endpoints: FleetWorld['endpoints'] = () => [CHAT];
}

const idle = (id: number, more: Partial<Worker> = {}): Worker => ({
  id,
  status: 'idle',
  cur_load: 5,
  cur_load_rolling_avg: 4,
  perf: 10,
  measured_perf: 10,
  reqs_working: 1,
  ...more,
});

/** After so many seconds, with one worker or these. */
async function watching(seconds: number, workers: readonly Worker[] | World['workers'] = [idle(1)]) {
  const world = new World();
  world.workers = typeof workers === 'function' ? workers : () => workers;
  await world.start();
  await world.pass(seconds);
  return world;
}

describe('a look', () => {
  test('comes every interval, and what it saw is in view and history', async () => {
    const world = new World();
    world.workers = () => [idle(1), idle(2, { status: 'stopped', cur_load: 0 })];
    world.prices.set(1, { running: 0.5, storage: undefined });
    await world.start();
    await world.pass(300);
    expect(world.asked).toHaveLength(20);
    expect(new Set(world.gaps())).toEqual(new Set([15]));
    expect(world.one()).toMatchObject({
      id: 31,
      state: 'active',
      lastError: undefined,
      sample: {
        // One look after the other the same: what its load means nobody can tell.
        measures: {
          load: null,
          capacity_hot: 10,
          capacity_cold: 10,
          requests_working: 2,
          spend_per_hour: 0.5,
        },
        workers: { idle: 1, stopped: 1 },
      },
    });
    const toMs = world.clock.now() + 1;
    const rows = await world.watch.history({ endpoint: 'chat', fromMs: 0, toMs, maxRows: 100 });
    expect(rows).toHaveLength(20);
    expect(rows[0]?.measures.requests_working).toEqual({ count: 1, sum: 2, peak: 2 });
    expect(world.watch.view()).toMatchObject({ history: 'memory', historyTrouble: undefined, samples: true });
    expect(await world.watch.spends()).toMatchObject([{ endpoint: 'chat', id: 31 }]);
  });

  test('that fails leaves a hole, keeps the last sample, and is told', async () => {
    const world = await watching(20);
    const seen = world.one().sampledAtMs;
    world.workers = () => Promise.reject(new Error('no connection'));
    await world.pass(300);
    expect(world.one()).toMatchObject({ sampledAtMs: seen, lastError: 'no connection' });
    expect(world.notices.find(({ kind }) => kind === 'look failed')).toMatchObject({ failures: 1 });
    // They are asked about less and less, in whole intervals.
    expect(world.gaps().every((gap) => gap % 15 === 0)).toBe(true);
    expect(Math.max(...world.gaps())).toBe(30);
    world.workers = () => [idle(1)];
    await world.pass(60);
    expect(world.one().lastError).toBeUndefined();
    expect(world.gaps().slice(-2)).toEqual([15, 15]);
    const told = world.notices.filter(({ kind }) => kind === 'look succeeded again');
    expect(told).toEqual([{ kind: 'look succeeded again', endpoint: 'chat', failures: expect.any(Number) }]);
    const rows = await world.watch.history({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 100 });
    expect(rows.length).toBeLessThan(8);
  });

  test.each([false, true])('that takes long keeps the beat, also if it fails: %s', async (fails) => {
    const world = await watching(20);
    world.workers = async () => {
      world.workers = () => [idle(1)];
      await world.clock.sleep(40 * SECOND, new AbortController().signal);
      if (fails) throw new Error('no connection');
      return [idle(1)];
    };
    await world.pass(90);
    expect(world.gaps()).toEqual([15, 15, 45, 15, 15]);
  });

  test('comes at once where the interval is another one, and else when it is due', async () => {
    const world = await watching(65, []);
    const settings = { endpoints: [{ by: 'all' }], endpointGroups: [], fleetInterval: 15 * SECOND } as const;
    const asked = world.asked.length;
    world.watch.apply(settings);
    await world.pass(1);
    expect(world.asked).toHaveLength(asked);
    world.watch.apply({ ...settings, fleetInterval: 60 * SECOND });
    await world.pass(1);
    expect(world.asked).toHaveLength(asked + 1);
    await world.pass(118);
    expect(world.gaps().slice(asked)).toEqual([60]);
  });

  test('that is never answered ends after its time, and disturbs no other endpoint', async () => {
    const world = new World();
    world.endpoints = () => [CHAT, DRAW];
    world.workers = (id) => (id === 31 ? new Promise(() => {}) : [idle(1)]);
    await world.start();
    await world.pass(599);
    expect(world.gaps(31)).toEqual([]);
    expect(world.one('chat').lastError).toBeUndefined();
    await world.pass(100);
    expect(new Set(world.gaps(32))).toEqual(new Set([15]));
    expect(world.one('chat').lastError).toContain('no answer within');
    // One question at a time: the next leaves when the one before has ended.
    expect(world.gaps(31)).toHaveLength(1);
    expect(Math.min(...world.gaps(31))).toBeGreaterThanOrEqual(600);
    expect(world.one('draw').lastError).toBeUndefined();
  });

  test('goes on where the clock is set back or ahead', async () => {
    const clock = new SteppedClock();
    const world = await new World(clock).start();
    await world.pass(60);
    const before = world.asked.length;
    clock.shiftMs = -3_600_000;
    await world.pass(60);
    expect(world.asked.length - before).toBe(4);
    clock.shiftMs = 3_600_000;
    await world.pass(60);
    expect(world.asked.length - before).toBeGreaterThanOrEqual(8);
    expect(world.asked.length - before).toBeLessThanOrEqual(9);
  });

  test('during which the clock is set back is followed by the next after an interval', async () => {
    const clock = new SteppedClock();
    const world = new World(clock);
    world.workers = () => {
      if (world.asked.length === 3) clock.shiftMs = -3_600_000;
      return [idle(1)];
    };
    await world.start();
    await world.pass(120);
    expect(world.asked).toHaveLength(8);
  });
});

class SteppedClock extends VirtualClock {
  shiftMs = 0;
  override now(): number {
    return super.now() + this.shiftMs;
  }
}

test('looks at many endpoints are spread over time', async () => {
  const world = new World();
  const many = Array.from({ length: 10 }, (_, index) => ({ id: index, endpoint_name: `e${index}` }));
  world.endpoints = () => many;
  await world.start();
  await world.pass(14);
  const times = world.asked.map(({ atMs }) => atMs).sort((a, b) => a - b);
  expect(times).toHaveLength(10);
  const gaps = times.slice(1).map((at, index) => at - (times[index] ?? 0));
  expect(Math.min(...gaps)).toBeGreaterThan(50);
});

describe('a list of workers that is empty', () => {
  test('for one answer is a fault: no sample, no worker lost', async () => {
    const world = await watching(31, [idle(1), idle(2)]);
    world.workers = () => [idle(1)];
    await world.pass(60);
    const before = world.one().sample;
    world.workers = () => [];
    await world.pass(15);
    expect(world.one().sample).toEqual(before);
    expect(world.one().lastError).toContain('empty');
    world.workers = () => [idle(1)];
    await world.pass(15);
    expect(world.one()).toMatchObject({ lastError: undefined, sample: { workers: { idle: 1 } } });
  });

  test('is none where some of its workers cannot be read', async () => {
    const world = await watching(16);
    world.unreadableWorkers = 1;
    await world.pass(15);
    expect(world.one()).toMatchObject({ lastError: undefined, sample: { workers: { idle: 1 } } });
    world.workers = () => [];
    await world.pass(15);
    expect(world.one().lastError ?? '').not.toContain('empty');
  });

  test('for two is believed, and so is the first where there were none', async () => {
    const world = await watching(16);
    world.workers = () => [];
    await world.pass(31);
    expect(world.one()).toMatchObject({ lastError: undefined, sample: { workers: {} } });
    const none = await watching(16, []);
    expect(none.one()).toMatchObject({
      sample: { workers: {}, measures: { load: null, spend_per_hour: 0 } },
    });
  });
});

describe('workers', () => {
  test('that flicker are what they were until two looks say otherwise', async () => {
    const world = await watching(31);
    const shown = async (status: string, more: Partial<Worker> = {}) => {
      world.workers = () => [idle(1, { status, ...more })];
      await world.pass(15);
      return world.one().sample?.workers;
    };
    expect(await shown('offline')).toEqual({ idle: 1 });
    expect(await shown('idle')).toEqual({ idle: 1 });
    expect(await shown('Loading')).toEqual({ idle: 1 });
    expect(world.one().sample?.measures.capacity_hot).toBe(10);
    expect(await shown('offline', { cur_load: 9 })).toEqual({ offline: 1 });
    // It was never away: that is no start.
    expect(await shown('idle')).toEqual({ idle: 1 });
    // Good news counts at once, and so does what the engine decides.
    for (const status of ['update_ready', 'stopping', 'starting'])
      expect(await shown(status)).toEqual({ [status]: 1 });
    expect(world.events).toEqual([]);
  });

  test('that report that they served are ready, whatever they are called', async () => {
    let served = 0;
    const status = (name: string) => () => {
      served += 10;
      return [idle(1, { status: name, cur_perf: served, ready_ever: true })];
    };
    const world = await watching(31, status('idle'));
    for (const name of ['offline', 'loading', 'hibernating']) {
      world.workers = status(name);
      await world.pass(3_600);
      expect(world.one()).toMatchObject({ sample: { workers: { idle: 1 } }, stuckWorkers: 0 });
    }
    // What the engine decides itself is another matter, and so is a report that is the same again.
    for (const name of ['destroying', 'stopping']) {
      world.workers = status(name);
      await world.pass(30);
      expect(world.one()).toMatchObject({ sample: { workers: { [name]: 1 } } });
    }
    world.workers = () => [idle(1, { status: 'offline', cur_perf: 10 })];
    await world.pass(45);
    expect(world.one()).toMatchObject({ sample: { workers: { offline: 1 } } });
    expect(world.events).toEqual([]);
  });

  test('show what the service is like', async () => {
    const traits: object[] = [];
    const world = new World();
    const inFlight = [idle(1, { cur_load: 100, new_load: 50 })];
    world.workers = () => inFlight;
    await world.start({ onTraits: (shown) => traits.push(shown) });
    await world.pass(16);
    expect(traits.at(-1)).toEqual({});
    await world.pass(45);
    expect(traits.at(-1)).toEqual({ load_meaning: 'in_flight' });
    world.workers = () => [...inFlight, idle(2, { cur_load: 20, new_load: 100, cur_perf: 0 })];
    await world.pass(60);
    expect(traits.at(-1)).toEqual({ load_meaning: 'mixed' });
    world.workers = () => [idle(1, { status: 'offline' })];
    await world.pass(15);
    world.workers = () => inFlight;
    await world.pass(15);
    expect(traits.at(-1)).toMatchObject({ status_flicker: 'flickers' });
  });

  test('that were ready before anybody looked do not start from nothing', async () => {
    const world = await watching(31, []);
    world.workers = () => [idle(1, { status: 'loading', ready_ever: true })];
    await world.pass(660);
    // From nothing it may take half an hour.
    expect(world.one()).toMatchObject({ stuckWorkers: 1 });
    world.workers = () => [idle(1)];
    await world.pass(15);
    expect(world.events).toEqual([]);
  });

  test('what their load means is kept for the next process', async () => {
    using folder = temporaryFolder();
    const first = new World();
    first.workers = () => [idle(1, { cur_load: 20, new_load: 100, cur_perf: 0 })];
    await first.start({ directory: folder.path });
    await first.pass(20);
    expect(first.one()).toMatchObject({ load: { meaning: 'unknown' }, sample: { measures: { load: null } } });
    await first.pass(60);
    const known = { load: { meaning: 'rate' }, sample: { measures: { load: 20, load_in_flight: null } } };
    expect(first.one()).toMatchObject(known);
    await first.watch.stop();
    const second = new World(first.clock);
    second.workers = () => [idle(1, { cur_load: 20 })];
    await second.start({ directory: folder.path });
    await second.pass(5);
    expect(second.one()).toMatchObject(known);
  });

  test('that hang or fail again and again are counted', async () => {
    let turn = 0;
    const world = await watching(120, () => {
      turn += 1;
      const status = turn % 2 ? 'loading' : 'error';
      return [idle(1, { status: 'model_loading' }), idle(2, { status }), idle(3)];
    });
    expect(world.one()).toMatchObject({ stuckWorkers: 0, failingWorkers: 1 });
    await world.pass(1_800);
    expect(world.one()).toMatchObject({ stuckWorkers: 1, failingWorkers: 1 });
  });

  test('without a known price leave the cost unknown, and prices are asked for', async () => {
    const world = new World();
    world.workers = () => [idle(1), idle(2)];
    world.prices.set(1, { running: 0.5, storage: undefined });
    await world.start();
    await world.pass(16);
    expect(world.one().sample?.measures.spend_per_hour).toBeNull();
    expect(world.lacking.at(-1)).toBe(true);
    world.prices.set(2, { running: 0.25, storage: 0.125 });
    await world.pass(15);
    expect(world.one().sample?.measures.spend_per_hour).toBe(0.75);
    expect(world.lacking.at(-1)).toBe(false);
    // A reboot costs what the status before it did.
    for (const status of ['stopped', 'rebooting', 'rebooting']) {
      world.workers = () => [idle(1), idle(2, { status })];
      await world.pass(15);
      expect(world.one().sample?.measures.spend_per_hour).toBe(0.625);
    }
  });
});

describe('endpoints', () => {
  test('are found by name, and one that is deployed anew goes on as itself', async () => {
    const world = new World();
    world.endpoints = () => [CHAT, DRAW];
    world.workers = () => [idle(1, { status: world.asked.length < 2 ? 'stopped' : 'idle' })];
    await world.start({ endpoints: [{ by: 'name', name: 'chat' }] });
    await world.pass(16);
    expect(world.labels()).toEqual(['chat']);
    expect(world.notices.map(({ kind }) => kind)).not.toContain('endpoints unknown');
    world.endpoints = () => [DRAW, { ...CHAT, id: 77 }];
    await world.pass(300);
    expect(world.one()).toMatchObject({ id: 77, measured: { startSeconds: { new: [], cold: [7.5] } } });
    expect(world.asked.at(-1)?.id).toBe(77);
    const rows = await world.watch.history({ endpoint: 'chat', fromMs: 0, toMs: Infinity, maxRows: 100 });
    expect(rows.length).toBeGreaterThan(18);
    const changes = world.notices.filter(({ kind }) => kind === 'endpoints changed');
    expect(changes).toEqual([{ kind: 'endpoints changed', begun: ['chat'], left: [] }]);
  });

  test('that a list lacks once stay; that it lacks twice are left, and asked about no more', async () => {
    const world = await watching(16);
    world.endpoints = () => [];
    await world.pass(300);
    expect(world.labels()).toEqual(['chat']);
    // Whether it is gone is asked soon, and not only after five minutes.
    await world.pass(30);
    expect(world.labels()).toEqual([]);
    const asked = world.asked.length;
    await world.pass(60);
    expect(world.asked).toHaveLength(asked);
    expect(world.notices.at(-1)).toEqual({ kind: 'endpoints changed', begun: [], left: ['chat'] });
  });

  test('that a list lacks while a row of it cannot be read stay, however often', async () => {
    const world = new World();
    world.endpoints = () => [CHAT, DRAW];
    await world.start();
    await world.pass(16);
    world.endpoints = () => [DRAW];
    world.unreadable = 1;
    await world.pass(1_200);
    expect(world.lists).toBeGreaterThan(3);
    expect(world.labels()).toEqual(['chat', 'draw']);
    expect(world.asked.filter(({ id }) => id === 31).length).toBeGreaterThan(75);
    world.unreadable = 0;
    await world.pass(340);
    expect(world.labels()).toEqual(['draw']);
  });

  test('that are wanted by id need no list; of others that is said', async () => {
    const world = new World();
    world.endpoints = () => Promise.reject(new Error('forbidden'));
    const endpoints = [
      { by: 'id', id: 31 },
      { by: 'name', name: 'chat' },
    ] as const;
    await world.start({ endpoints });
    await world.pass(100);
    expect(world.labels()).toEqual(['#31']);
    expect(world.one('#31')).toMatchObject({ lastError: undefined, parameters: {}, drift: [], findings: [] });
    expect(world.notices[0]).toMatchObject({ kind: 'endpoints not listed', failures: 1 });
    world.watch.apply({ endpoints, fleetInterval: 15 * SECOND, endpointGroups: [] });
    expect(world.notices.map(({ kind }) => kind)).not.toContain('endpoints unknown');
    world.endpoints = () => [DRAW];
    await world.pass(60);
    const failures = world.notices.filter(({ kind }) => kind === 'endpoints not listed').length;
    expect(world.notices).toContainEqual({ kind: 'endpoints listed again', failures });
    // Once, however often the list still lacks it.
    await world.pass(300);
    const unknown = world.notices.filter(({ kind }) => kind === 'endpoints unknown');
    expect(unknown).toEqual([{ kind: 'endpoints unknown', names: ['chat'] }]);
    expect(world.lists).toBeLessThan(12);
  });

  test('have the parameters that the service has, their drift, and what the rules say of them', async () => {
    const world = new World();
    world.endpoints = () => [{ ...CHAT, target_util: 0.99, max_workers: '16', min_load: 5_000 }];
    world.workers = () => [idle(1)];
    await world.start({
      endpointGroups: checkEndpointGroups([
        { endpoint_name: 'draw', target_util: 0.7 },
        { endpoint_name: 'chat', target_util: 0.8, min_load: 5_000 },
      ]),
    });
    await world.pass(16);
    expect(world.one()).toMatchObject({
      parameters: { target_util: 0.99, max_workers: 16, min_load: 5_000 },
      drift: [{ parameter: 'target_util', actual: 0.99, wanted: 0.8 }],
    });
    // Of the workers it is known what they can do: 16 of them do not carry 5,000.
    expect(world.one().findings.map(({ rule }) => rule)).toEqual([
      'target-util-no-headroom',
      'floor-above-capacity',
    ]);
    // The rules run when what they are about has changed, and not whenever somebody looks.
    const { findings } = world.one();
    await world.pass(30);
    expect(world.one().findings).toBe(findings);
    world.workers = () => [idle(1, { perf: 1_000, measured_perf: 1_000 })];
    await world.pass(30);
    expect(world.one().findings.map(({ rule }) => rule)).not.toContain('floor-above-capacity');
  });

  test('a deleted endpoint may leave instances behind; an unwatched one leaves none', async () => {
    const world = new World();
    world.endpoints = () => [CHAT, DRAW, { id: 33, endpoint_name: 'sing' }];
    world.workers = (id) => [idle(id)];
    for (const id of [31, 32, 33]) world.prices.set(id, { running: 0.5, storage: undefined, now: 0.5 });
    await world.start();
    await world.pass(16);
    const endpoints = ['chat', 'draw'].map((name) => ({ by: 'name', name }) as const);
    world.watch.apply({ endpoints, fleetInterval: 15 * SECOND, endpointGroups: [] });
    world.endpoints = () => [DRAW];
    await world.pass(700);
    expect(world.watch.view().spend.orphans).toEqual({ instances: 1, spendPerHour: 0.5 });
    // Its worker is back.
    world.workers = () => [idle(31)];
    await world.pass(30);
    expect(world.watch.view().spend.orphans).toEqual({ instances: 0, spendPerHour: 0 });
  });

  test('are neither listed nor looked at after the end', async () => {
    const world = await watching(20, []);
    await world.watch.stop();
    const before = [world.lists, world.asked.length];
    await world.pass(3_600);
    expect([world.lists, world.asked.length]).toEqual(before);
  });

  test('and the interval change with the settings', async () => {
    const world = new World();
    world.endpoints = () => [CHAT, DRAW];
    await world.start();
    await world.pass(31);
    const draw = { by: 'name', name: 'draw' } as const;
    world.watch.apply({ endpoints: [draw], fleetInterval: 60 * SECOND, endpointGroups: [] });
    await world.pass(1);
    expect(world.labels()).toEqual(['draw']);
    const before = world.asked.length;
    await world.pass(180);
    expect(world.asked.slice(before).map(({ id }) => id)).toEqual([32, 32, 32]);
    world.watch.apply({ endpoints: [{ by: 'all' }], fleetInterval: 5 * SECOND, endpointGroups: [] });
    await world.pass(60);
    expect(world.labels()).toEqual(['draw', 'chat']);
    expect(world.gaps(32).slice(-5)).toEqual([5, 5, 5, 5, 5]);
    // The rate limit is shared by how often each is asked for.
    expect([world.asked[0]?.everyMs, world.asked.at(-1)?.everyMs]).toEqual([15 * SECOND, 5 * SECOND]);
  });
});

test('the next process knows the endpoints, goes on with the lives of workers, and looks soon', async () => {
  using folder = temporaryFolder();
  const first = new World();
  first.workers = () => [idle(1, { status: 'loading' }), idle(2)];
  await first.start({ directory: folder.path });
  await first.pass(16);
  first.workers = () => [idle(1, { status: 'loading' }), idle(2), idle(3, { status: 'loading' })];
  await first.pass(15);
  await first.watch.stop();

  const second = new World(first.clock);
  // The service does not even list them any more.
  second.endpoints = () => Promise.reject(new Error('away'));
  second.workers = () => [idle(1), idle(2, { status: 'error' }), idle(3)];
  await second.pass(5);
  await second.start({ directory: folder.path });
  expect(second.one().sampledAtMs).toBeLessThan(second.clock.now());
  await second.pass(3);
  expect(second.asked).toHaveLength(1);
  await second.pass(15);
  // Worker 1 was there before anybody looked; nobody knows when its start began.
  expect(second.events).toEqual([
    expect.objectContaining({ kind: 'worker started', from: 'new' }) as FleetEvent,
    { kind: 'worker failed', endpoint: 'chat', workerId: 2 },
  ]);
  const { startSeconds } = second.one().measured;
  expect(startSeconds).toEqual({ new: [expect.any(Number)], cold: [] });
  await second.watch.stop();
  const third = await new World(second.clock).start({ directory: folder.path });
  expect(third.one().measured.startSeconds).toEqual(startSeconds);
});
