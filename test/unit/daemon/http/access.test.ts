import { afterEach, expect, test } from 'vitest';
import { listen, type HttpListener } from '../../../../src/daemon/http/listener.ts';
import { publicRoutes } from '../../../../src/daemon/http/routes.ts';
import { createMetrics } from '../../../../src/daemon/metrics/metrics.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { fleetView } from '../../../support/recorded-fleet.ts';

const TOKEN = 'metrics-token-77aa';
const PROBES = ['GET /startupz', 'GET /readyz', 'GET /livez'];

let listener: HttpListener | undefined;
afterEach(() => listener?.close());

const current: { settings: { metricsToken: string | undefined } } = { settings: { metricsToken: TOKEN } };

let looks = 0;
let lateMs = 0;
const routes = publicRoutes({
  status() {
    looks += 1;
    return EMPTY_STATUS;
  },
  fleet: { view: () => fleetView([]), spends: () => Promise.resolve([]), history: () => Promise.resolve([]) },
  metrics: createMetrics(() => EMPTY_STATUS, []),
  lifecycle: { state: 'running' },
  heartbeats: { lateMs: () => lateMs },
  current,
});

async function serve(metricsToken: string | undefined): Promise<string> {
  current.settings.metricsToken = metricsToken;
  listener = await listen({ address: { host: '127.0.0.1', port: 0 }, onError() {}, routes });
  return listener.url;
}

/** Path → status, with this Authorization header. */
async function statuses(url: string, authorization?: string): Promise<Record<string, number>> {
  const answers = Object.keys(routes).map(async (key): Promise<[string, number]> => {
    const answer = await fetch(url + key.slice('GET '.length), {
      headers: authorization === undefined ? {} : { authorization },
    });
    await answer.body?.cancel();
    return [key, answer.status];
  });
  return Object.fromEntries(await Promise.all(answers));
}

const isFile = (key: string): boolean => /\.(?:js|css|svg)$/.test(key);

test('with a token all but the probes, and files that are the same for everybody, is closed without it', async () => {
  const url = await serve(TOKEN);
  const without = await statuses(url);
  const closed = Object.keys(without).filter((key) => without[key] === 401);
  expect(closed.toSorted()).toEqual([
    'GET /',
    'GET /api/bill',
    'GET /api/bill/schema',
    'GET /api/fleet',
    'GET /api/fleet/schema',
    'GET /api/status',
    'GET /api/status/schema',
    'GET /metrics',
  ]);
  const open = Object.keys(without).filter((key) => without[key] === 200);
  expect(open.filter((key) => !isFile(key)).toSorted()).toEqual(PROBES.toSorted());
  expect(open.length + closed.length).toBe(Object.keys(routes).length);
});

test.each([
  ['another token', 'Bearer metrics-token-77ab'],
  ['the beginning of it', 'Bearer metrics-token'],
  ['more than it', `Bearer ${TOKEN}x`],
  ['an empty one', 'Bearer '],
  ['another scheme', `Basic ${TOKEN}`],
  ['no scheme', TOKEN],
])('%s opens nothing', async (_, authorization) => {
  const url = await serve(TOKEN);
  const found = await statuses(url, authorization);
  expect(Object.values(found).filter((status) => status === 401)).toHaveLength(8);
});

test('the token opens all of it, and so does a configuration without one', async () => {
  const url = await serve(TOKEN);
  expect(new Set(Object.values(await statuses(url, `Bearer ${TOKEN}`)))).toEqual(new Set([200]));
  expect(new Set(Object.values(await statuses(url, `bearer ${TOKEN}`)))).toEqual(new Set([200]));
  // A reload may take it away.
  current.settings.metricsToken = undefined;
  expect(new Set(Object.values(await statuses(url)))).toEqual(new Set([200]));
});

test('the page that is closed asks for the token, and says no more', async () => {
  const url = await serve(TOKEN);
  const answer = await fetch(url);
  expect([answer.status, answer.headers.get('content-type')]).toEqual([401, 'text/html; charset=utf-8']);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(await answer.text()).toContain('id="access"');
  const status = await fetch(`${url}/api/status`);
  expect([status.status, status.headers.get('www-authenticate')]).toEqual([401, 'Bearer']);
});

test('requests that come together are answered by one look, and later ones by another', async () => {
  current.settings.metricsToken = undefined;
  const request = { headers: {}, query: new URLSearchParams(), body: '' };
  const ask = async () => (await routes['GET /api/status']?.(request))?.status;
  for (let turn = 1; turn <= 2; turn += 1) {
    const before = looks;
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
    expect(looks).toBe(before + 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('a heartbeat scheduler is live until it is more than ten seconds late', async () => {
  const request = { headers: {}, query: new URLSearchParams(), body: '' };
  for (const [late, status] of [
    [10_000, 200],
    [10_001, 503],
  ] as const) {
    lateMs = late;
    expect((await routes['GET /livez']?.(request))?.status).toBe(status);
  }
  lateMs = 0;
});
