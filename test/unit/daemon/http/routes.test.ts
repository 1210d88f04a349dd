import { afterEach, expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';
import { listen, type HttpListener } from '../../../../src/daemon/http/listener.ts';
import type { Reply } from '../../../../src/daemon/http/reply.ts';
import { adminRoutes, publicRoutes } from '../../../../src/daemon/http/routes.ts';
import { createMetrics } from '../../../../src/daemon/metrics.ts';
import type { ReloadResult } from '../../../../src/daemon/services/heartbeats.ts';
import type { DaemonMessage } from '../../../../src/heartbeat/process/link.ts';
import { collectedLog } from '../../../support/collected-log.ts';
import { EMPTY_STATUS } from '../../../support/empty-status.ts';
import { fleetView } from '../../../support/recorded-fleet.ts';

const TOKEN = 'metrics-token-77aa';
const PROBES = ['GET /startupz', 'GET /readyz', 'GET /livez'];

let listener: HttpListener | undefined;
afterEach(() => listener?.close());

const request = { headers: {}, query: new URLSearchParams(), body: '' };
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
  const ask = async () => (await routes['GET /api/status']?.(request))?.status;
  for (let turn = 1; turn <= 2; turn += 1) {
    const before = looks;
    expect(await Promise.all([ask(), ask(), ask()])).toEqual([200, 200, 200]);
    expect(looks).toBe(before + 1);
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test('probes tell the state of the daemon, not that of its deployments', async () => {
  const before = looks;
  for (const probe of PROBES) expect([probe, (await routes[probe]?.(request))?.status]).toEqual([probe, 200]);
  expect(looks).toBe(before);
});

test('a heartbeat scheduler is live until it is more than ten seconds late', async () => {
  for (const [late, status] of [
    [10_000, 200],
    [10_001, 503],
  ] as const) {
    lateMs = late;
    expect((await routes['GET /livez']?.(request))?.status).toBe(status);
  }
  lateMs = 0;
});

const environment = {
  PILOTLIGHT_API_KEY: 'secret-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_WORKER_GROUPS: '7',
};
const { settings } = loadConfig(environment, () => '');
if (!settings) throw new Error('the configuration is invalid');
const loaded = { settings, problems: [] };

/** The answer of a route, and what became of it. */
async function asked(route: string, { body = '', result }: { body?: string; result?: ReloadResult } = {}) {
  const sent: DaemonMessage[] = [];
  const { logger, lines } = collectedLog();
  const admin = adminRoutes({
    reloading: { reload: async () => result ?? { ok: true, problems: [] } },
    heart: { send: (message) => void sent.push(message) },
    logger,
    current: loaded,
  });
  const reply = (await admin[route]?.({ ...request, body })) as Reply;
  return { status: reply.status, told: JSON.parse(String(reply.body)) as unknown, sent, lines, logger };
}

test.each<[string, ReloadResult, number]>([
  ['done', { ok: true, problems: [] }, 200],
  ['refused', { ok: false, problems: ['TTL: got x'] }, 400],
  ['not answered in time', { ok: false, problems: ['no answer'], isUnanswered: true }, 504],
])('a reload that is %s', async (_what, result, status) => {
  const answer = await asked('POST /-/reload', { result });
  expect([answer.status, answer.told]).toEqual([status, { reloaded: result.ok, problems: result.problems }]);
});

test('quitting is the heart’s', async () => {
  expect(await asked('POST /-/quit')).toMatchObject({
    status: 202,
    told: { quitting: true },
    sent: [{ type: 'quit' }],
  });
});

test('the configuration is shown without its secrets', async () => {
  const { status, told } = await asked('GET /-/config');
  expect([status, told]).toMatchObject([200, { PILOTLIGHT_API_KEY: '(set)' }]);
  expect(JSON.stringify(told)).not.toContain('secret-key');
});

test('a log level is the daemon’s and the heart’s from then on', async () => {
  const { status, told, sent, lines, logger } = await asked('PUT /-/log-level', { body: ' debug\n' });
  expect([status, told, sent]).toEqual([200, { level: 'debug' }, [{ type: 'log-level', level: 'debug' }]]);
  expect([logger.level, lines]).toMatchObject(['debug', [{ to: 'debug', msg: 'log level changed' }]]);
});

test('a log level that is none is told in short, and changes nothing', async () => {
  const { status, told, sent, logger } = await asked('PUT /-/log-level', { body: 'x'.repeat(100) });
  expect([status, sent, logger.level]).toEqual([400, [], 'info']);
  expect(told).toEqual({
    error: 'bad_request',
    msg: expect.stringMatching(/^level: got "x{40}"; allowed: .*debug, /),
  });
});
