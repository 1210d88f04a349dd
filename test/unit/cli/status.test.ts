import { expect, test } from 'vitest';
import { describeStatus } from '../../../src/cli/fleet/words.ts';
import type { SinkStatus, Status, WorkerGroupStatus } from '../../../src/daemon/status/schema.ts';
import { fleetStatus } from '../../../src/daemon/status/fleet.ts';
import { type Around, jsonIn, pilotlight, type Ran } from '../../support/console.ts';
import { serve } from '../../support/local-server.ts';
import { DEPLOYMENT_STATUS, EMPTY_LOG, EMPTY_STATUS } from '../../support/empty-status.ts';
import { endpointView, fleetView, WATCH_ALL } from '../../support/recorded-fleet.ts';

const FOLLOWED = { ...EMPTY_LOG, lines: 120, bytes: 4_000, lines_per_second: 2 };
const GROUP: WorkerGroupStatus = { workergroup_id: 7, ...FOLLOWED };
const CHAT = { endpoint_group: 'chat', endpoint_id: 31, ...FOLLOWED };
const SINK: SinkStatus = {
  sink: 'otlp',
  delivered_lines: 100,
  dropped_lines: { overflow: 0, corruption: 0, rejected: 0 },
  lag_lines: 20,
  last_error: null,
};

test('the status in words: gaps of each log, and what waits for each sink', () => {
  const logs = { worker_groups: [GROUP], endpoint_logs: [CHAT], sinks: [SINK] };
  const quiet = describeStatus({ ...EMPTY_STATUS, ...logs });
  expect(quiet.slice(1)).toEqual([
    'No deployment to keep, all is well.',
    'log of worker group 7: 120 lines, 2.0 lines/s, no gaps',
    'log of endpoint chat: 120 lines, 2.0 lines/s, no gaps',
    'log sink otlp: 100 delivered, 20 waiting',
  ]);
  const gaps = { overrun: 2, reset: 1, ambiguous: 0 };
  const app = { unhealthy_seconds: 130, grace_seconds: 600, last_error: 'status 503' };
  const troubled = describeStatus({
    ...EMPTY_STATUS,
    app: { address: 'tcp://127.0.0.1:80', state: 'unhealthy', ...app },
    replica: { id: 'a', role: 'standby', last_error: 'Redis is away: connect ECONNREFUSED' },
    worker_groups: [{ ...GROUP, gaps, lost_lines_estimate: 350, unknown_gaps: 1 }],
  });
  expect(troubled.slice(1)).toEqual([
    'No deployment to keep, 2 things to look at.',
    '- The app has been unhealthy for 2 min; heartbeats are withheld after 10 min: status 503',
    '- Worker group 7 has gaps in its log: 2 overrun',
    'app tcp://127.0.0.1:80: unhealthy',
    'replicas: Redis is away: connect ECONNREFUSED',
    'log of worker group 7: 120 lines, 2.0 lines/s, gaps: 2 overrun, 1 reset, at least about 350 lines lost',
  ]);
});

const VIEW = fleetView([endpointView({}, 996_000)], { historyTrouble: 'no space left on the device' });
const DEPLOYMENT = { ...DEPLOYMENT_STATUS, expires_at: 1_012.4, lapses: 1 };

const STATUS: Status = {
  ...EMPTY_STATUS,
  version: '1.2.3',
  now: 1_000,
  started_at: 939.6,
  service: { ...EMPTY_STATUS.service, base_url: 'https://a.test' },
  deployments: [
    DEPLOYMENT,
    { ...DEPLOYMENT, deployment: 'square', expires_at: null, last_error: 'no\u001B[2J answer' },
  ],
  worker_groups: [{ ...GROUP, last_error: 'status 503' }],
  fleet: fleetStatus(VIEW, WATCH_ALL),
  maintenance_windows: [{ machine_id: 11, category: 'power', starts_at: 86_400, ends_at: null }],
};

/** What the command prints of a daemon that answers so. */
async function statusOf(
  words: readonly string[],
  around: Around,
  answer: (path: string | undefined, token: string | undefined) => readonly [status: number, body: unknown],
): Promise<Ran> {
  await using server = await serve(({ url, headers }, response) => {
    const [status, body] = answer(url, headers.authorization);
    response.writeHead(status).end(JSON.stringify(body));
  });
  const env = { LISTEN: new URL(server.url).host, ...around.env };
  return await pilotlight(['status', ...words], { ...around, env });
}

test('the daemon of this machine is asked, with its token, and told a line for each thing', async () => {
  const asked: unknown[] = [];
  const ran = await statusOf([], { env: { METRICS_TOKEN: 'secret-of-sixteen' } }, (...request) => {
    asked.push(request);
    return [200, STATUS];
  });
  expect(asked).toEqual([['/api/status', 'Bearer secret-of-sixteen']]);
  expect(ran).toEqual({
    code: 0,
    stderr: '',
    stdout:
      'pilotlight 1.2.3, running, up 60 s, https://a.test\n' +
      'Both deployments are alive, 2 things to look at.\n' +
      '- Worker group 7 cannot be read: status 503\n' +
      '- What the endpoints do is not being recorded: no space left on the device\n' +
      'deployment 42: healthy, 12 s left, 7 heartbeats, 1 lapse\n' +
      'deployment square (42): healthy, TTL unknown, 7 heartbeats, 1 lapse\n' +
      'log of worker group 7: 120 lines, 2.0 lines/s, no gaps\n' +
      'endpoint chat: active, load 42 of 60 ready (70%), 12 requests at work, 6 idle, 2 model_loading, 10 stopped, 3.20 an hour, seen 4.0 s ago\n' +
      'machine 11: power maintenance at 1970-01-02T00:00:00.000Z\n',
  });
});

test('the whole of it is JSON; a daemon that answers otherwise is an exit code', async () => {
  const whole = await statusOf(['--json'], {}, (_, token) => [token === undefined ? 200 : 401, STATUS]);
  expect(jsonIn(whole)).toEqual(STATUS);
  const away = await statusOf([], { env: { METRICS_TOKEN: 'secret-of-sixteen' } }, () => [401, {}]);
  expect(away).toMatchObject({
    code: 4,
    stdout: '',
    stderr: expect.stringContaining(' wants another token: '),
  });
  const trouble = await statusOf([], {}, () => [500, { msg: 'stuck' }]);
  expect(trouble).toMatchObject({ code: 3, stdout: '' });
  expect(trouble.stderr).toMatch(/^error: http:\S+\/api\/status: status 500: stuck\n$/);
});
