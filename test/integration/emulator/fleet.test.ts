/** Endpoints that live: a load comes, workers start, work, stop and fail, and everything that shows them says the same. */
import { afterEach, describe, expect, test } from 'vitest';
import type { EmulatorOptions, LoadInput } from '../../../src/emulator/index.ts';
import { startPublic, type PublicClient } from '../../support/public-client.ts';

const START = Date.UTC(2026, 0, 1);

function options(
  endpoint: object = {},
  settings: EmulatorOptions['settings'] = {},
  load?: LoadInput,
): EmulatorOptions {
  const usual = { id: 31, endpoint_name: 'chat', cold_workers: 1, max_workers: 4 };
  const chat = { ...usual, ...endpoint, ...(load && { load }) };
  return {
    clock: { frozenAtMs: START },
    settings: { workerPerformanceLeast: 100, workerPerformanceMost: 100, ...settings },
    seed: { instances: [], workergroups: [{ id: 7, endpoint_id: 31 }], endpoint_groups: [chat] },
  };
}

let service: PublicClient;
afterEach(() => service[Symbol.asyncDispose]());
async function start(...given: Parameters<typeof options>): Promise<void> {
  service = await startPublic(options(...given));
}

const advance = (seconds: number) => service.emulator.clock.advance(seconds * 1000);
const activity = () => service.emulator.endpointGroups.get('chat');
const put = (body: object) => service.send('PUT', '/api/v0/endptjobs/31/', body);

async function workers(): Promise<Record<string, unknown>[]> {
  const { body } = await service.send('POST', '/get_endpoint_workers/', { id: 31 });
  return body as unknown as Record<string, unknown>[];
}
const statuses = async () => (await workers()).map(({ status }) => status);

async function instances(): Promise<Record<string, unknown>[]> {
  const { body } = await service.send('GET', '/api/v0/instances/');
  return body['instances'] as Record<string, unknown>[];
}

async function endpointLog(level: 'info0' | 'info1'): Promise<string> {
  const { body } = await service.send('POST', '/get_endpoint_logs/', { id: 31, tail: -1 });
  return String(body[level]);
}

describe('the life of a worker', () => {
  test('from nothing to ready, to stopped, to gone, with its instance beside it', async () => {
    const settings = { workerModelLoadingSeconds: 30, engineScaleDownSeconds: 10, engineDestroySeconds: 100 };
    await start({ cold_workers: 0 }, { ...settings, engineLoadWindowSeconds: 10 });
    expect(await workers()).toEqual([]);
    service.emulator.load.set('chat', { shape: 'constant', rate: 50, request_work: 50 });
    await advance(5);
    const seen: unknown[] = [];
    const look = async () => {
      const [worker] = await workers();
      const instance = (await instances()).find(({ id }) => id === worker?.['id']);
      const { actual_status: actual, intended_status: intended } = instance ?? {};
      const said = [worker?.['status'], actual, intended].map((part) => String(part)).join(' ');
      if (seen.at(-1) !== said) seen.push(said);
    };
    for (let second = 0; second < 70; second += 1) {
      await look();
      await advance(1);
    }
    const [ready] = await workers();
    expect(ready).toMatchObject({ status: 'idle', perf: 100, measured_perf: 100 });
    expect(ready?.['loaded_at']).toBe(START / 1000 + 65);
    expect(ready?.['started_at']).toBe(START / 1000 + 5);
    service.emulator.load.stop('chat');
    for (let second = 0; second < 200; second += 1) {
      await advance(1);
      await look();
    }
    expect(seen).toEqual([
      'created created running',
      'loading loading running',
      'model_loading running running',
      'idle running running',
      'stopped exited stopped',
      'destroying exited stopped',
      'undefined undefined undefined',
    ]);
  });

  test('what is asked of workers adds up to the load, also while none is ready', async () => {
    await start({}, {}, { shape: 'constant', rate: 300, request_work: 30 });
    service.emulator.traits.set({ load_meaning: 'rate' });
    const asked = async (field: string) =>
      (await workers()).reduce((sum, worker) => sum + Number(worker[field]), 0);
    await advance(5);
    expect(await statuses()).toEqual(['starting', 'created', 'created', 'created']);
    expect(await asked('cur_load')).toBeCloseTo(300, -1);
    expect(await asked('cur_perf')).toBe(0);
    await advance(600);
    expect(await statuses()).toEqual(['idle', 'idle', 'idle', 'idle']);
    expect(await asked('cur_load')).toBeCloseTo(300);
    expect(await asked('cur_load_rolling_avg')).toBeCloseTo(300);
    expect(await asked('reqs_working')).toBeGreaterThan(1);
  });

  test('of the same endpoint report load in either way if their loads mean both', async () => {
    await start({ min_load: 2000, cold_workers: 0 }, {}, { shape: 'constant', rate: 60, request_work: 600 });
    service.emulator.traits.set({ load_meaning: 'mixed' });
    const seen = new Map<unknown, Set<unknown>>();
    for (let look = 0; look < 60; look += 1) {
      await advance(7);
      for (const { id, status, cur_load: load } of await workers()) {
        const kind = Number(id) % 2 === 0 ? 'in flight' : 'rate';
        if (status === 'idle' && load !== 0) seen.set(kind, (seen.get(kind) ?? new Set()).add(load));
      }
    }
    // In flight is a number of whole requests, which are of one size here.
    const whole = (loads: Iterable<unknown> = []) => [...loads].every((load) => Number(load) % 600 === 0);
    expect(new Set(seen.keys())).toEqual(new Set(['in flight', 'rate']));
    expect([whole(seen.get('in flight')), whole(seen.get('rate'))]).toEqual([true, false]);
  });

  test('flickers if it is ready, and its instance with it', async () => {
    await start({ min_load: 80, cold_workers: 1, max_workers: 2 });
    await advance(300);
    const look = async () => {
      const [ready, other] = (await workers()).map(({ status }) => String(status)).toSorted();
      const isLoading = (await instances()).some(({ actual_status: status }) => status === 'loading');
      return [ready, other, isLoading].join(' ');
    };
    const steady = await look();
    expect(steady).toBe('idle stopped false');
    service.emulator.traits.set({ status_flicker: 0.4 });
    const seen: string[] = [];
    for (let second = 0; second < 100; second += 1) {
      await advance(1);
      seen.push(await look());
    }
    expect(new Set(seen)).toEqual(new Set([steady, 'offline stopped true']));
    expect(seen.filter((one) => one !== steady).length).toBeGreaterThan(20);
    expect(seen.filter((one) => one !== steady).length).toBeLessThan(60);
  });

  test('dies: it is in error, is destroyed, and another one comes', async () => {
    await start({ min_load: 80, cold_workers: 0, cold_mult: 1 });
    const [first] = await workers();
    service.emulator.instances.setStatus(Number(first?.['id']), 'offline');
    expect(await statuses()).toEqual(['error']);
    await advance(5);
    expect(await statuses()).toEqual(['error', 'created']);
    await advance(55);
    expect(await statuses()).toEqual(['destroying', 'model_loading']);
    await advance(5);
    expect(await statuses()).toEqual(['idle']);
    expect(await instances()).toHaveLength(1);
    expect(await endpointLog('info1')).toMatch(/501|\d+ has died, and 0 requests with it/);
  });
});

describe('an endpoint', () => {
  test('suspended does not answer its load; stopped has no ready worker; active again it catches up', async () => {
    await start({ min_load: 90, cold_workers: 3 }, {}, { shape: 'constant', rate: 250, request_work: 50 });
    await put({ endpoint_state: 'suspended' });
    await advance(300);
    expect(await statuses()).toEqual(['idle', 'stopped', 'stopped']);
    expect(activity().waiting).toBeGreaterThan(100);
    await put({ endpoint_state: 'stopped' });
    await advance(60);
    expect(await statuses()).toEqual(['stopped', 'stopped', 'stopped']);
    await put({ endpoint_state: 'active' });
    expect(await statuses()).toEqual(['starting', 'starting', 'starting', 'created']);
    await advance(3600);
    expect(activity().waiting).toBe(0);
  });

  test('without worker groups moves nothing, and one that gets its first comes to life', async () => {
    const { seed, ...given } = options({ max_workers: 2 });
    service = await startPublic({ ...given, seed: { ...seed, workergroups: [] } });
    service.emulator.load.set(31, { shape: 'constant', rate: 50 });
    await advance(60);
    const workerSeconds = { hot: 0, cold: 0, starting: 0 };
    expect(activity()).toMatchObject({ taken: 0, abandoned: 0, deaths: 0, workers: {}, workerSeconds });
    const group = { endpoint_id: 31, template_id: 9, test_workers: 1 };
    await service.send('POST', '/api/v0/workergroups/', group);
    expect(await statuses()).toEqual(['created']);
    await advance(120);
    expect(activity().taken).toBeGreaterThan(50);
    const [made] = service.emulator.workergroups.list();
    await service.send('DELETE', `/api/v0/workergroups/${made?.id}/`, {});
    expect(await statuses()).toEqual([]);
  });
});

describe('the log of a worker group', () => {
  const log = () => service.emulator.workergroups.lines(7).join('\n');

  test('grows while workers serve, and shows requests', async () => {
    const load = { shape: 'constant', rate: 60, request_work: 60 } as const;
    await start({ cold_workers: 1 }, { engineLoadWindowSeconds: 10 }, load);
    await advance(300);
    expect(log()).toContain('Received request chatcmpl-');
    service.emulator.load.stop('chat');
    await advance(300);
    expect(await statuses()).not.toContain('idle');
    const { lineCount } = service.emulator.workergroups.get(7);
    await advance(3600);
    expect(service.emulator.workergroups.get(7).lineCount).toBe(lineCount);
  });

  test('of an endpoint without a load grows as it always did', async () => {
    await start({ min_load: 90, cold_mult: 1 });
    await advance(100);
    expect(service.emulator.workergroups.get(7)).toMatchObject({ lineCount: 200, linesPerSecond: 2 });
  });
});

test('the clients of a load go away', async () => {
  const settings = { requestGiveUpSeconds: 20 };
  await start({ cold_workers: 0 }, settings, { shape: 'constant', rate: 100, request_work: 10 });
  await put({ endpoint_state: 'stopped' });
  await advance(60);
  const { taken, waiting, abandoned } = activity();
  expect(taken).toBe(0);
  expect(waiting).toBeLessThanOrEqual(250);
  expect(waiting + abandoned).toBe(601);
});

describe('the same seed', () => {
  const given = [
    { cold_workers: 2, max_workers: 12 },
    { workerPerformanceLeast: 60, workerPerformanceMost: 140 },
    { shape: 'diurnal', rate: 400, request_work: 80 },
  ] as const satisfies Parameters<typeof options>;

  /** All that can be seen of it. */
  async function seen() {
    const lines = service.emulator.workergroups.lines(7);
    const known = (await workers()).map((worker) => Object.assign(worker, { url: null }));
    return [activity(), known, await instances(), await endpointLog('info0'), lines];
  }

  test('gives the same hours, however it is stepped through', async () => {
    await start(...given);
    await advance(4 * 3600);
    const once = await seen();
    await service[Symbol.asyncDispose]();
    await start(...given);
    for (let hour = 0; hour < 4; hour += 1) {
      await advance(3600);
      await workers();
    }
    expect(await seen()).toEqual(once);
    await service.emulator.reset();
    await advance(4 * 3600);
    expect(await seen()).toEqual(once);
  });

  test('goes on from a snapshot in mid-day with the same workers, and each time alike', async () => {
    await start(...given);
    await advance(5.3 * 3600);
    const snapshot = service.emulator.snapshot();
    const before = (await workers()).filter(({ status }) => status === 'idle');
    await advance(3600);
    const futures: unknown[] = [];
    for (const _ of [1, 2]) {
      service.emulator.restore(snapshot);
      const after = (await workers()).filter(({ status }) => status === 'idle');
      const known = ({ id, perf }: (typeof after)[number]) => ({ id, perf });
      expect(after.map(known)).toEqual(expect.arrayContaining(before.map(known)));
      expect(activity()).toMatchObject({ waiting: 0, taken: 0 });
      await advance(3600);
      futures.push(await seen());
    }
    expect(futures[1]).toEqual(futures[0]);
    expect(activity().taken).toBeGreaterThan(1_000);
  });
});
