/** Endpoints that live: a load comes, workers start, work, stop and fail, and everything that shows them says the same. */
import { afterEach, describe, expect, test } from 'vitest';
import type { EmulatorOptions, LoadInput } from '../../../src/emulator/index.ts';
import { startPublic, type PublicClient } from '../../support/public-client.ts';

const START = Date.UTC(2026, 0, 1);
const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

function options(
  endpoint: object = {},
  settings: EmulatorOptions['settings'] = {},
  load?: LoadInput,
): EmulatorOptions {
  return {
    clock: { frozenAtMs: START },
    settings: { workerPerformanceLeast: 100, workerPerformanceMost: 100, ...settings },
    seed: {
      instances: [],
      workergroups: [{ id: 7, endpoint_id: 31 }],
      endpoint_groups: [
        {
          id: 31,
          endpoint_name: 'chat',
          cold_workers: 1,
          max_workers: 4,
          ...endpoint,
          ...(load && { load }),
        },
      ],
    },
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

  test('its performance and price are drawn within their spreads, and a guess is shown before it was measured', async () => {
    const spread = {
      workerPerformanceLeast: 50,
      workerPerformanceMost: 150,
      workerPriceLeast: 1,
      workerPriceMost: 3,
    };
    await start({ cold_workers: 0, min_load: 600, max_workers: 40, cold_mult: 1 }, spread);
    expect(new Set((await workers()).map(({ perf }) => perf)).size).toBeGreaterThan(4);
    await put({ min_load: 1500 });
    await advance(5);
    const all = await workers();
    const made = all.filter(({ status }) => status === 'created');
    expect(made.length).toBeGreaterThan(5);
    for (const { perf, measured_perf, loaded_at } of made)
      expect([perf, measured_perf, loaded_at]).toEqual([100, 100, 0]);
    await advance(60);
    const later = await workers();
    for (const { perf } of later) {
      expect(perf).toBeGreaterThanOrEqual(50);
      expect(perf).toBeLessThanOrEqual(150);
    }
    const prices = (await instances()).map(({ dph_total: price }) => Number(price));
    expect(new Set(prices).size).toBeGreaterThan(5);
    expect(Math.min(...prices)).toBeGreaterThanOrEqual(1);
    expect(Math.max(...prices)).toBeLessThanOrEqual(3);
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
      return [
        ready,
        other,
        (await instances()).some(({ actual_status: status }) => status === 'loading'),
      ].join(' ');
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

  test('fails by chance as often as the settings say, and the endpoint goes on', async () => {
    const rates = { workerDeathsPerHour: 0.5, workerErrorsPerHour: 1 };
    await start({ min_load: 270, cold_mult: 1 }, rates, { shape: 'poisson', rate: 200, request_work: 400 });
    await advance(DAY_MS / 1000);
    const { deaths, errors, lost, taken, workers: now } = activity();
    expect(deaths).toBeGreaterThan(15);
    expect(deaths).toBeLessThan(65);
    expect(errors).toBeGreaterThan(45);
    expect(errors).toBeLessThan(110);
    expect(lost).toBeGreaterThan(10);
    expect(taken).toBeGreaterThan(40_000);
    expect(Object.values(now).reduce((one, other) => one + other)).toBeLessThanOrEqual(6);
  });
});

describe('an endpoint', () => {
  test('follows other parameters: more workers at its next decision, fewer too', async () => {
    await start({ min_load: 90, cold_mult: 1, cold_workers: 0 });
    expect(await statuses()).toEqual(['idle']);
    await put({ min_load: 270 });
    await advance(70);
    expect(await statuses()).toEqual(['idle', 'idle', 'idle']);
    await put({ max_workers: 1 });
    await advance(10);
    expect((await statuses()).filter((status) => status === 'idle')).toHaveLength(1);
    expect(await endpointLog('info1')).toContain('destroys ');
  });

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

  test('says in its log what it decided and why, and with most detail what it saw', async () => {
    await start({ cold_workers: 2 }, {}, { shape: 'constant', rate: 120, request_work: 60 });
    await advance(30);
    const [info0, info1] = [await endpointLog('info0'), await endpointLog('info1')];
    expect(info1).toMatch(
      /^17672256\S+ \[.*\] endpoint 31 is there\n1767225605\S+ \[.*\] starts \d+ from cold, starts \d+ from cold, recruits \d+ for worker group 7.*: wants \d+ units\/s ready, .*; estimated load [\d.]+ units\/s, \d+ requests wait, no worker is ready\n/,
    );
    expect(info1).toMatch(/^1767225625\S+ \[.*\] \d+ is ready after 20 s \(starting\)/m);
    expect(info1).not.toMatch(/^1767225610/m);
    expect(info0).toMatch(/^1767225610.* managing instances.*\n.* estimated load 1[\d.]+ units\/s/m);
    for (const line of info1.trimEnd().split('\n')) expect(info0).toContain(line);
  });

  test('without worker groups moves nothing, and one that gets its first comes to life', async () => {
    service = await startPublic({
      ...options(),
      seed: {
        instances: [],
        workergroups: [],
        endpoint_groups: [{ id: 31, endpoint_name: 'chat', max_workers: 2 }],
      },
    });
    service.emulator.load.set(31, { shape: 'constant', rate: 50 });
    await advance(60);
    expect(activity()).toMatchObject({ taken: 0, workers: {} });
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

describe('a load that no service takes', () => {
  const given = { endpoint: 'chat', shape: 'poisson', rate: 100 };
  test.each([
    ['rate', { rate: 1e300 }],
    ['rate', { rate: 1e9, request_work: 1 }],
    ['rate', { request_work: 1e-300 }],
    ['rate', { shape: 'bursts', rate: 1e6, burst_ratio: 100 }],
    ['burst_every_seconds', { shape: 'bursts', burst_every_seconds: 1e-9 }],
    ['burst_seconds', { shape: 'bursts', burst_seconds: 1e-10 }],
    ['period_seconds', { shape: 'diurnal', period_seconds: 1e-9 }],
  ])('is refused, and the field named: %s of %j', async (field, wrong) => {
    await start();
    const { status, body } = await service.send('PUT', '/_emulator/load', { ...given, ...wrong });
    expect([status, JSON.stringify(body)]).toEqual([400, expect.stringContaining(field)]);
    expect(service.emulator.load.list()).toMatchObject([{ load: null }]);
  });
});

describe('the log of a worker group', () => {
  const log = () => service.emulator.workergroups.lines(7).join('\n');

  test('shows each start, requests while there are some, and nothing while no worker serves', async () => {
    await start(
      { cold_workers: 1 },
      { engineLoadWindowSeconds: 10 },
      { shape: 'constant', rate: 60, request_work: 60 },
    );
    await advance(5);
    const before = log();
    await advance(20);
    const started = log().slice(before.length);
    expect(started).toContain('Loading safetensors checkpoint shards');
    expect(started).toMatch(/01-01 00:00:2\d \[gpu_model_runner.py:1686\] Graph capturing finished/);
    await advance(300);
    expect(log().slice(before.length + started.length)).toContain('Received request chatcmpl-');
    service.emulator.load.stop('chat');
    await advance(300);
    expect(await statuses()).not.toContain('idle');
    const { lineCount } = service.emulator.workergroups.get(7);
    await advance(3600);
    expect(service.emulator.workergroups.get(7).lineCount).toBe(lineCount);
  });

  test('shows an error with its traceback, and the start after it', async () => {
    const settings = { workerErrorsPerHour: 2, workerErrorSeconds: 10 };
    await start({ min_load: 90 }, settings, { shape: 'constant', rate: 60, request_work: 60 });
    await advance(2 * 3600);
    expect(activity().errors).toBeGreaterThan(0);
    const tracebacks = log().match(/^Traceback \(most recent call last\):$/gm) ?? [];
    expect(tracebacks).toHaveLength(activity().errors);
    expect(log()).toMatch(/OutOfMemoryError[^]*Application startup complete/);
  });

  test('of an endpoint without a load grows as it always did', async () => {
    await start({ min_load: 90, cold_mult: 1 });
    await advance(100);
    expect(service.emulator.workergroups.get(7)).toMatchObject({ lineCount: 200, linesPerSecond: 2 });
  });
});

describe('a load', () => {
  const admin = async (method: string, path: string, body?: object) => {
    const { url } = service.emulator;
    const answer = await fetch(`${url}/_emulator${path}`, {
      method,
      ...(body && { body: JSON.stringify(body) }),
    });
    return { status: answer.status, body: (await answer.json()) as Record<string, unknown> };
  };

  test('is set, shown, changed and stopped over the admin API', async () => {
    await start();
    const given = { endpoint: 'chat', shape: 'constant', rate: 50, request_work: 50 };
    expect((await admin('PUT', '/load', given)).body).toMatchObject({ id: 31, load: { rate: 50 } });
    await advance(100);
    expect((await admin('GET', '/load')).body).toMatchObject({
      loads: [{ endpoint: 'chat', sinceMs: START, requests: 101, load: { shape: 'constant', rate: 50 } }],
    });
    expect((await admin('GET', '/endpoint-groups/chat')).body).toMatchObject({
      taken: 101,
      estimatedLoad: 50,
      workers: { idle: 1 },
      workerSeconds: { hot: 75 },
      queueTime: { max: 25 },
    });
    await admin('PUT', '/load', { ...given, rate: 100 });
    await advance(10);
    expect((await admin('GET', '/load')).body).toMatchObject({ loads: [{ requests: 21 }] });
    await admin('DELETE', '/load?endpoint=chat');
    expect((await admin('GET', '/load')).body).toMatchObject({ loads: [{ load: null, requests: 0 }] });
  });

  test.each([
    [{ endpoint: 'chat', shape: 'constant' }, 400, 'rate'],
    [{ endpoint: 'chat', shape: 'sine', rate: 1 }, 400, 'shape'],
    [{ endpoint: 'nobody', shape: 'constant', rate: 1 }, 404, 'no endpoint group nobody'],
    [{ shape: 'constant', rate: 1 }, 400, 'endpoint'],
  ])('that makes no sense is refused: %j', async (body, status, message) => {
    await start();
    const answer = await admin('PUT', '/load', body);
    expect(answer.status).toBe(status);
    expect(String(answer.body['msg'])).toContain(message);
  });

  test('waits in a bounded queue, and its clients go away', async () => {
    const settings = { requestsWaitingMost: 50, requestGiveUpSeconds: 20 };
    await start({ cold_workers: 0 }, settings, { shape: 'constant', rate: 100, request_work: 10 });
    await put({ endpoint_state: 'stopped' });
    await advance(60);
    expect(activity()).toMatchObject({ taken: 0, waiting: 50 });
    const { refused, abandoned } = activity();
    expect(refused).toBeGreaterThan(300);
    expect(abandoned).toBeGreaterThanOrEqual(100);
    expect(refused + abandoned + 50).toBe(601);
  });
});

describe('the same seed', () => {
  const given = [
    { cold_workers: 2, max_workers: 12 },
    {
      workerPerformanceLeast: 60,
      workerPerformanceMost: 140,
      workerDeathsPerHour: 0.2,
      workerErrorsPerHour: 0.3,
    },
    { shape: 'diurnal', rate: 400, request_work: 80 },
  ] as const satisfies Parameters<typeof options>;

  /** All that can be seen of it. */
  async function seen() {
    const lines = service.emulator.workergroups.lines(7);
    const known = (await workers()).map((worker) => Object.assign(worker, { url: null }));
    return [activity(), known, await instances(), await endpointLog('info0'), lines];
  }

  test('gives the same day, however it is stepped through', async () => {
    await start(...given);
    await advance(DAY_MS / 2000);
    const once = await seen();
    await service[Symbol.asyncDispose]();
    await start(...given);
    for (let hour = 0; hour < 12; hour += 1) {
      await advance(3600);
      await workers();
    }
    expect(await seen()).toEqual(once);
    await service.emulator.reset();
    await advance(DAY_MS / 2000);
    expect(await seen()).toEqual(once);
  });

  test('another one gives another day', async () => {
    await start(...given);
    await advance(3600);
    const one = activity();
    await service[Symbol.asyncDispose]();
    await start(given[0], { ...given[1], randomSeed: 2 }, given[2]);
    await advance(3600);
    expect(activity().queueTime).not.toEqual(one.queueTime);
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

test('a day is driven through in steps of a minute', async () => {
  await start({ max_workers: 20 }, {}, { shape: 'bursts', rate: 500, request_work: 100 });
  const hot: number[] = [];
  for (let minute = 0; minute < 24 * 60; minute += 1) {
    await advance(60);
    hot.push(activity().workers['idle'] ?? 0);
  }
  expect(activity().taken).toBeGreaterThan(400_000);
  expect(Math.max(...hot)).toBeGreaterThan(Math.min(...hot.slice(10)) + 3);
});

test('under the strict dialect the same engine runs', async () => {
  service = await startPublic({
    ...options({}, {}, { shape: 'constant', rate: 50, request_work: 50 }),
    dialect: 'spec',
  });
  await advance(100);
  expect(activity()).toMatchObject({ taken: 101, workers: { idle: 1 } });
});
