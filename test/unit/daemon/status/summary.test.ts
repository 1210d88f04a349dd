import { expect, test } from 'vitest';
import { summaryOf } from '../../../../src/daemon/status/page/status-summary.js';
import type { DeploymentStatus, Status } from '../../../../src/daemon/status/schema.ts';
import { EMPTY_DEPLOYMENT, EMPTY_STATUS } from '../../../support/empty-status.ts';

const NOW = 1_000_000;

function judge(over: Partial<Status>) {
  return summaryOf({ ...EMPTY_STATUS, now: NOW, deployments: [], ...over }, NOW);
}

function deployment(state: string, last_error: string | null = null): DeploymentStatus {
  return { ...EMPTY_DEPLOYMENT, state, last_error };
}

const APP = {
  address: 'http://127.0.0.1:8000/health',
  unhealthy_seconds: 130,
  grace_seconds: 600,
  last_error: 'it refuses connections',
};

test('says that the app is not well, and what follows from it', () => {
  const deployments = [deployment('healthy')];
  expect(judge({ deployments, app: { ...APP, state: 'healthy', last_error: null } }).tone).toBe('good');
  expect(judge({ deployments, app: { ...APP, state: 'unknown', last_error: null } }).tone).toBe('good');
  expect(judge({ deployments, app: { ...APP, state: 'unhealthy' } })).toMatchObject({
    tone: 'warn',
    sentence: 'The deployment is alive, 1 thing to look at.',
    troubles: [
      'The app has been unhealthy for 2 min; heartbeats are withheld after 10 min: it refuses connections',
    ],
  });
  const withheld = [deployment('withheld', 'no answer in time')];
  expect(judge({ deployments: withheld, app: { ...APP, state: 'withheld' } })).toMatchObject({
    tone: 'bad',
    sentence: '0 of 1 deployment alive, 2 things to look at.',
    troubles: [
      'The app has been unhealthy for 2 min, so heartbeats are withheld: it refuses connections',
      'Deployment 42 is withheld: no heartbeat is sent, and it expires',
    ],
  });
});

test.each([
  ['no deployment has this name', 'bad', 'no deployment has this name'],
  [null, 'warn', 'the service was not asked yet'],
])('says that a name has no deployment: %s', (reason, tone, why) => {
  const missing_deployments = [{ deployment: 'square', reason }];
  const said = { tone, troubles: [`Deployment square gets no heartbeat: ${why}`] };
  const alone = judge({ missing_deployments });
  expect(alone).toMatchObject({ ...said, sentence: '0 of 1 deployment alive, 1 thing to look at.' });
  const both = judge({ missing_deployments, deployments: [deployment('healthy')] });
  expect(both).toMatchObject({ ...said, sentence: '1 of 2 deployments alive, 1 thing to look at.' });
});

test('says of a sink that fails how much waits for it', () => {
  const dropped_lines = { overflow: 0, corruption: 0, rejected: 0 };
  const sink = { sink: 'otlp', delivered_lines: 5, dropped_lines, lag_lines: 20, last_error: null };
  expect(judge({ sinks: [sink] }).tone).toBe('good');
  expect(judge({ sinks: [{ ...sink, last_error: 'connection refused' }] })).toMatchObject({
    tone: 'warn',
    troubles: ['Log sink otlp fails, 20 records waiting: connection refused'],
  });
});

test.each([
  ['starting', null, 'warn', 'Deployment 42 is starting; no heartbeat was accepted yet'],
  [
    'starting',
    'no answer yet',
    'warn',
    'Deployment 42 is starting: no answer yet; no heartbeat was accepted yet',
  ],
  ['retrying', 'no answer in time', 'warn', 'Deployment 42 is retrying: no answer in time'],
  [
    'gone',
    'the service does not know this deployment',
    'bad',
    'Deployment 42 is gone: the service does not know this deployment; it is asked again at a slow pace, and at once at a reload',
  ],
])('says of a deployment that is %s (%s) what follows', (state, lastError, tone, words) => {
  expect(judge({ deployments: [deployment(state, lastError)] })).toEqual({
    tone,
    sentence: '0 of 1 deployment alive, 1 thing to look at.',
    troubles: [words],
  });
});

test('calls a deployment by its name and its id', () => {
  const deployments = [{ ...deployment('urgent', 'no answer in time'), deployment: 'square/blue' }];
  expect(judge({ deployments }).troubles).toEqual([
    'Deployment square/blue (42) is urgent: no answer in time',
  ]);
});

test('says what the rate limit leaves for the daemon itself', () => {
  const rate_limit = {
    ...EMPTY_STATUS.rate_limit,
    allowed_requests_per_second: 0.5,
    stretch_ratio: 4,
    paused_seconds: 45,
  };
  expect(judge({ rate_limit })).toMatchObject({
    tone: 'warn',
    troubles: [
      'The service asks for a pause of all requests, for 45 s more',
      'The daemon uses up to 0.5 requests a second beside heartbeats, for the rate limit of the key: logs and watches are polled 4 times less often. Follow less, or use another key',
    ],
  });
});

test.each([
  ['error', 'bad', 'A feature is off', ''],
  ['error', 'bad', 'A setting has its default', '; using the default, auto'],
  ['warning', 'warn', 'A setting is ignored', ''],
] as const)('says what a configuration problem of severity %s means', (severity, tone, meaning, more) => {
  const words = `PILOTLIGHT_OTLP_ENDPOINT: got nowhere; allowed: url${more}`;
  const problem = { variable: 'PILOTLIGHT_OTLP_ENDPOINT', severity, problem: `${severity}: ${words}` };
  expect(judge({ config_problems: [problem] })).toMatchObject({
    tone,
    troubles: [`${meaning}: ${words}`],
  });
});

test.each([
  [false, ['Log records are in memory alone: PILOTLIGHT_STATE_DIR cannot be used, and is tried again']],
  [true, []],
  [null, []],
])('looks at whether the spool is durable: %s', (durable, troubles) => {
  expect(judge({ spool_durable: durable }).troubles).toEqual(troubles);
});

test.each([
  [['error', 'warning', 'warning', 'note'], 'bad', ['Endpoint group chat: 1 error, 2 warnings']],
  [['warning'], 'warn', ['Endpoint group chat: 1 warning']],
  [['note'], 'good', []],
] as const)('counts the findings of an endpoint group: %s', (severities, tone, troubles) => {
  const findings = severities.map((severity) => ({
    rule: 'a-rule',
    severity,
    parameter: 'target_util',
    allowed: 'less',
    message: 'too much',
  }));
  const group = { endpoint_group: 'chat', parameters: {}, findings };
  expect(judge({ endpoint_groups: [group] })).toMatchObject({ tone, troubles });
});
