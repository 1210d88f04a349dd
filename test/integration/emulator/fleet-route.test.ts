/** A request from beginning to end, as existing clients make one: a worker is asked for, and then asked itself. */
import { describe, expect, test } from 'vitest';
import { publicForEach, type Answered } from '../../support/public-client.ts';

const PARAMETERS = { min_load: 90, max_queue_time: 5, cold_mult: 1, cold_workers: 1, max_workers: 1 };
const service = publicForEach({
  settings: { workerPerformanceLeast: 100, workerPerformanceMost: 100 },
  seed: {
    instances: [],
    workergroups: [{ id: 7, endpoint_id: 31 }],
    endpoint_groups: [{ id: 31, endpoint_name: 'chat', ...PARAMETERS }],
  },
});
const { send } = service;

const advance = (seconds: number) => service.emulator.clock.advance(seconds * 1000);

type Route = Record<string, unknown>;

async function route(cost: number, more: object = {}): Promise<Route> {
  const asked = { endpoint: 'chat', cost, request_idx: 0, replay_timeout: 60, ...more };
  return (await send('POST', '/route/', asked)).body;
}

/** Without a key: a worker knows the service's signature alone. */
function work(auth_data: Route, payload: object = { prompt: 'hello' }): Promise<Answered> {
  const { pathname } = new URL(String(auth_data['url']));
  const body = { auth_data, session_id: 'me', payload };
  return send('POST', `${pathname}/v1/completions`, body, '');
}

describe('a request', () => {
  test('is given to a worker, and its payload comes back', async () => {
    const asked = await route(250);
    expect(asked).toMatchObject({ cost: 250, endpoint: 'chat', reqnum: 1, request_idx: 1 });
    const body = { reqnum: 1, payload: { prompt: 'hello' } };
    expect(await work(asked)).toMatchObject({ status: 200, body });
  });

  test('waits behind those before it, and is given its worker when that has room', async () => {
    expect(await route(1000)).toHaveProperty('url');
    const waiting = await route(100);
    const status = 'all workers are busy, and 1 requests wait: 1 idle';
    expect(waiting).toEqual({ success: true, request_idx: 2, endpoint: 'chat', status });
    await advance(4.9);
    expect(await route(100, { request_idx: 2 })).not.toHaveProperty('url');
    // max_queue_time is 5 s: then it is taken.
    await advance(0.1);
    const taken = await route(100, { request_idx: 2 });
    expect(taken).toMatchObject({ request_idx: 2, reqnum: 2, cost: 100 });
    expect((await work(taken)).status).toBe(200);
  });

  test('of a load and of clients stand in one queue', async () => {
    service.emulator.load.set('chat', { shape: 'constant', rate: 300, request_work: 100 });
    await advance(30);
    expect((await route(10))['status']).toMatch(/^all workers are busy, and \d+ requests wait/);
  });

  test('whose client does not ask again in time is not served', async () => {
    await route(1000);
    await route(100, { replay_timeout: 3 });
    const patient = await route(100, { replay_timeout: 30 });
    await advance(20);
    const { abandoned, taken } = service.emulator.endpointGroups.get('chat');
    expect({ abandoned, taken }).toEqual({ abandoned: 1, taken: 2 });
    expect(await route(100, { request_idx: 3 })).toMatchObject({ reqnum: patient['request_idx'] });
    // The one that has gone begins anew.
    expect(await route(100, { request_idx: 2 })).toMatchObject({ reqnum: 4 });
  });

  test('whose route is not used in time has to ask for another one', async () => {
    const asked = await route(10, { replay_timeout: 5 });
    await advance(6);
    const reason = 'auth_data.reqnum: unknown, used, lost or too late: ask /route/ again';
    expect(await work(asked)).toMatchObject({ status: 410, reason });
  });

  test('whose worker dies meanwhile is lost, and has another worker when it asks again', async () => {
    const asked = await route(500);
    await advance(1);
    const [worker] = service.emulator.instances.list();
    service.emulator.instances.setStatus(worker?.id ?? 0, 'offline');
    await advance(1);
    expect((await work(asked)).status).toBe(410);
    expect(service.emulator.endpointGroups.get('chat')).toMatchObject({ lost: 1, deaths: 1 });
    await advance(120);
    const again = await route(500, { request_idx: 1 });
    expect(again).toMatchObject({ reqnum: 2 });
    expect(again['url']).not.toBe(asked['url']);
  });
});

describe('a worker refuses', () => {
  test.each([
    ['a route with a signature of nobody', { signature: 'AAAA' }, 401, 'signature'],
    ['a route without a signature', { signature: undefined }, 400, 'signature'],
    ['a request that no one has asked for', { reqnum: 99 }, 410, 'reqnum'],
  ])('%s', async (_, change, status, reason) => {
    const answer = await work({ ...(await route(10)), ...change });
    expect(answer.status).toBe(status);
    expect(answer.reason).toContain(reason);
  });

  test('a route that was used', async () => {
    const asked = await route(0);
    expect((await work(asked)).status).toBe(200);
    const reason = expect.stringContaining('used') as string;
    expect(await work(asked)).toMatchObject({ status: 410, reason });
  });

  test('what is not for it, and what is no request', async () => {
    const asked = await route(10);
    const other = { ...asked, url: String(asked['url']).replace(/\d+$/, '999') };
    expect((await work(other)).status).toBe(404);
    const answer = await fetch(String(asked['url']), { method: 'POST', body: '{' });
    expect(answer.status).toBe(400);
    expect((await fetch(String(asked['url']))).status).toBe(404);
  });
});
