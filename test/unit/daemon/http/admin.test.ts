import { expect, test } from 'vitest';
import { loadConfig } from '../../../../src/config/load.ts';
import { adminRoutes } from '../../../../src/daemon/http/admin.ts';
import type { Reply } from '../../../../src/daemon/http/reply.ts';
import type { ReloadResult } from '../../../../src/daemon/services/heartbeats.ts';
import type { DaemonMessage } from '../../../../src/heartbeat/process/link.ts';
import { collectedLog } from '../../../support/collected-log.ts';

const environment = {
  PILOTLIGHT_API_KEY: 'secret-key',
  PILOTLIGHT_BASE_URL: 'https://service.example',
  PILOTLIGHT_WORKER_GROUPS: '7',
};
const { settings } = loadConfig(environment, () => '');
if (!settings) throw new Error('the configuration is invalid');
const current = { settings, problems: [] };

/** The answer of a route, and what became of it. */
async function asked(route: string, { body = '', result }: { body?: string; result?: ReloadResult } = {}) {
  const sent: DaemonMessage[] = [];
  const { logger, lines } = collectedLog();
  const routes = adminRoutes({
    reloading: { reload: async () => result ?? { ok: true, problems: [] } },
    heart: { send: (message) => void sent.push(message) },
    logger,
    current,
  });
  const request = { body, headers: {}, query: new URLSearchParams() };
  const reply = (await routes[route]?.(request)) as Reply;
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
