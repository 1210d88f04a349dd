import { expect, test } from 'vitest';
import { credentialsOf } from '../../../src/config/credentials.ts';
import { loadConfig } from '../../../src/config/load.ts';

const MINIMAL = { PILOTLIGHT_API_KEY: 'key', PILOTLIGHT_BASE_URL: 'https://console.example.com' };

function load(env: Record<string, string>): ReturnType<typeof loadConfig> {
  return loadConfig({ ...MINIMAL, ...env }, () => '');
}

test('the admin routes may be on a socket file', () => {
  const { settings, problems } = load({ PILOTLIGHT_ADMIN_LISTEN: 'unix:/run/pilotlight/admin.sock' });
  expect([settings?.adminListen, problems]).toEqual([{ path: '/run/pilotlight/admin.sock' }, []]);
});

test.each([
  [`unix:/${'x'.repeat(103)}`, 'the path has 104 bytes'],
  [`unix:/${'é'.repeat(52)}`, 'the path has 105 bytes'],
  ['unix:relative.sock', 'the path of a file is needed, from / on'],
  ['unix:', 'the path of a file is needed, from / on'],
  ['unix:/run/', 'the path of a file is needed, from / on'],
  ['9848', undefined],
])('%s is no address for them, and switches nothing else off', (value, message) => {
  const { settings, problems, off } = load({ PILOTLIGHT_ADMIN_LISTEN: value });
  expect(off).toEqual(['adminListener']);
  expect(settings?.adminListen).toBeUndefined();
  expect(problems).toEqual([
    expect.objectContaining({ variable: 'PILOTLIGHT_ADMIN_LISTEN', got: value, message }),
  ]);
});

test.each([
  ['0.0.0.0:9848', false],
  ['[::]:9848', false],
  ['10.0.0.5:9848', false],
  ['console.example.com:9848', false],
  ['127.0.0.1:9848', true],
  ['[::1]:9848', true],
  ['localhost:9848', true],
])('the admin routes never leave the machine: %s', (value, isTaken) => {
  const { settings, problems, off } = load({ PILOTLIGHT_ADMIN_LISTEN: value });
  expect(settings?.adminListen !== undefined).toBe(isTaken);
  expect(off).toEqual(isTaken ? [] : ['adminListener']);
  expect(problems.map(({ message }) => message)).toEqual(
    isTaken ? [] : [expect.stringContaining('never leave the machine')],
  );
});

test('the longest path that each system takes is taken', () => {
  const path = `/${'x'.repeat(102)}`;
  expect(load({ PILOTLIGHT_ADMIN_LISTEN: `unix:${path}` }).settings?.adminListen).toEqual({ path });
});

test.each([
  ['http://console.example.com', true],
  ['http://10.0.0.1:8080', true],
  ['http://localhost.example.com', true],
  ['https://console.example.com', false],
  ['http://127.0.0.1:8080', false],
  ['http://[::1]:8080', false],
  ['http://localhost', false],
])('an address that the key leaves the machine for without TLS is a warning: %s', (address, warns) => {
  for (const variable of ['PILOTLIGHT_BASE_URL', 'PILOTLIGHT_SERVERLESS_URL']) {
    const { settings, problems } = load({ [variable]: address });
    expect(settings).toBeDefined();
    expect(problems.map(({ severity, variable: of }) => `${severity} ${of}`)).toEqual(
      warns ? [`warning ${variable}`] : [],
    );
  }
});

test.each([
  [{ OTLP_HEADERS: 'authorization=Bearer%20otlp-0123456789' }, ['OTLP_ENDPOINT']],
  [{ OTLP_HEADERS: 'x-scope-orgid=team-a' }, []],
  [{ OTLP_HEADERS: 'api-key=otlp-0123456789', OTLP_ENDPOINT: 'http://127.0.0.1:4318' }, []],
  [{ OTLP_HEADERS: 'api-key=otlp-0123456789', OTLP_ENDPOINT: 'https://collector:4318' }, []],
  [{ OTLP_HEADERS: 'api-key=otlp-0123456789', LOG_SINKS: 'stdout' }, []],
  [{ APP_HEALTH: 'http://user:app-0123456789@app:8000/health' }, ['APP_HEALTH']],
  [{ APP_HEALTH: 'http://app:8000/health@1' }, []],
  [{ APP_HEALTH: 'http://user:app-0123456789@localhost/health' }, []],
  [{ APP_HEALTH: 'https://user:app-0123456789@app/health' }, []],
] as const)('so is one for other credentials, which are not shown: %j', (given, warned) => {
  const all = { LOG_SINKS: 'otlp', OTLP_ENDPOINT: 'http://collector:4318', ...given };
  const { settings, problems } = load(
    Object.fromEntries(Object.entries(all).map(([name, value]) => [`PILOTLIGHT_${name}`, value])),
  );
  expect(settings).toBeDefined();
  expect(problems.map(({ severity, variable }) => `${severity} ${variable}`)).toEqual(
    warned.map((name) => `warning PILOTLIGHT_${name}`),
  );
  expect(JSON.stringify(problems)).not.toContain('0123456789');
});

test.each(['', 'a{b}', 'with space', 'x'.repeat(65)])('%j is no prefix for keys in Redis', (value) => {
  const { settings, off } = load({ PILOTLIGHT_REDIS_PREFIX: value });
  // An empty variable counts as not set.
  expect([settings?.redisPrefix, off]).toEqual(['pilotlight', value === '' ? [] : ['replicas']]);
});

test.each(['t\u00f6k\u00e9n-0123456789', 'two\nlines', ' ', 'x'.repeat(8_001)])(
  '%.20j is no token: no header holds it, and all stays closed',
  (value) => {
    const { settings, off, problems } = load({ PILOTLIGHT_METRICS_TOKEN: value });
    expect(off).toEqual(['metrics']);
    expect(settings?.metricsToken).not.toBe(value);
    expect(JSON.stringify(problems)).toContain('visible ASCII characters, and spaces between');
  },
);

test('white space around a token is not part of it', () => {
  expect(load({ PILOTLIGHT_METRICS_TOKEN: ' a token\n' }).settings?.metricsToken).toBe('a token');
});

test('credentials of settings and environment: the key, token, passwords, and what is in headers', () => {
  const { settings } = load({
    PILOTLIGHT_METRICS_TOKEN: 'metrics-token',
    PILOTLIGHT_REDIS_URL: 'redis://user:p%40ss@redis:6379/0',
    PILOTLIGHT_OTLP_HEADERS: `authorization=Basic%20${btoa('name:otlp-password')},x-scope-orgid=team-a,api-key=otlp-key,x-honeycomb-team=comb`,
  });
  if (settings === undefined) throw new Error('no settings');
  const environment = { HTTPS_PROXY: 'http://me:proxy-password@proxy:3128' };
  const found = credentialsOf(settings, 'rotated-key', environment);
  expect(found.toSorted()).toEqual(
    [
      'key',
      'rotated-key',
      'metrics-token',
      'redis://user:p%40ss@redis:6379/0',
      'p%40ss',
      'p@ss',
      `Basic ${btoa('name:otlp-password')}`,
      btoa('name:otlp-password'),
      'name:otlp-password',
      'otlp-password',
      'otlp-key',
      'comb',
      'proxy-password',
      // As HTTP sends them.
      btoa('user:p@ss'),
      btoa('me:proxy-password'),
    ].toSorted(),
  );
});
