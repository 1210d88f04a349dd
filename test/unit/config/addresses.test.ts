import { expect, test } from 'vitest';
import { loadConfig } from '../../../src/config/load.ts';
import { describeProblem } from '../../../src/config/problem.ts';
import { redactedSettings } from '../../../src/config/secrets.ts';
import { prefixed } from '../../support/settings.ts';

const MINIMAL = { PILOTLIGHT_API_KEY: 'key', PILOTLIGHT_BASE_URL: 'https://console.example.com' };

function load(env: Record<string, string>): ReturnType<typeof loadConfig> {
  return loadConfig({ ...MINIMAL, ...env }, () => '');
}

test.each([
  [`unix:/${'x'.repeat(103)}`, 'the path has 104 bytes'],
  [`unix:/${'é'.repeat(52)}`, 'the path has 105 bytes'],
  ['unix:relative.sock', 'not the absolute path of a file'],
  ['unix:/run/', 'not the absolute path of a file'],
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
  ['http://localhost.example.com', true],
  ['https://console.example.com', false],
  ['http://127.0.0.1:8080', false],
  ['http://[::1]:8080', false],
  ['http://localhost', false],
  ['http://a.localhost', false],
  ['http://1.127.0.0', true],
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
  [{ OTLP_HEADERS: 'api-key=otlp-0123456789', LOG_SINKS: 'stdout' }, []],
  [{ APP_HEALTH: 'http://user:app-0123456789@app:8000/health' }, ['APP_HEALTH']],
  [{ APP_HEALTH: 'http://app:8000/health@1' }, []],
  [{ APP_HEALTH: 'http://user:app-0123456789@localhost/health' }, []],
] as const)('so is one for other credentials, which are not shown: %j', (given, warned) => {
  const all = { LOG_SINKS: 'otlp', OTLP_ENDPOINT: 'http://collector:4318', ...given };
  const { settings, problems } = load(prefixed(all));
  expect(settings).toBeDefined();
  expect(problems.map(({ severity, variable }) => `${severity} ${variable}`)).toEqual(
    warned.map((name) => `warning PILOTLIGHT_${name}`),
  );
  expect(JSON.stringify(problems)).not.toContain('0123456789');
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

function loadApp(address: string, grace?: string) {
  return load({
    PILOTLIGHT_APP_HEALTH: address,
    ...(grace !== undefined && { PILOTLIGHT_APP_GRACE: grace }),
  });
}

test.each([
  'http://127.0.0.1:8000/health',
  'http://localhost',
  'https://me:secret%40@app.example:8443/ready?token=t0ken',
  'tcp://127.0.0.1:5432',
  'tcp://[::1]:80/',
])('the app may be at %s', (address) => {
  const { settings, problems } = loadApp(address);
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({ appHealth: address, appGrace: 600_000 });
});

test.each([
  ['127.0.0.1:8000', 'not an address'],
  ['unix:/run/app.sock', 'unix:// is not supported'],
  ['tcp:80', 'the host is missing'],
  ['tcp://127.0.0.1', 'the port is missing'],
  ['tcp://127.0.0.1:0', 'the port is missing'],
  ['tcp://127.0.0.1:80/health', 'a tcp address has only a host and a port'],
  ['http://127.0.0.1:8000/#up', 'a fragment is never sent'],
  ['http://me:50%@127.0.0.1/', 'the user or password has a % that encodes nothing'],
])('without %s the deployments are kept alive whatever happens: %s', (address, why) => {
  const { settings, problems } = loadApp(address);
  expect(settings).toMatchObject({ appHealth: undefined });
  expect(problems.map((problem) => describeProblem(problem))).toEqual([
    expect.stringMatching(/^error: PILOTLIGHT_APP_HEALTH: .*ignoring it: the deployments are kept alive/),
  ]);
  expect(describeProblem(problems[0]!)).toContain(why);
});

test('credentials in it are shown nowhere', () => {
  const { settings } = loadApp('https://me:secret@app.example/ready?token=t0ken');
  expect(redactedSettings(settings!)['PILOTLIGHT_APP_HEALTH']).toBe('https://…@app.example/ready?…');
  const [problem] = loadApp('ftp://me:secret@app.example/?token=t0ken').problems;
  expect(JSON.stringify(problem)).not.toMatch(/secret|t0ken/);
});

test('a grace has five seconds at least', () => {
  expect(loadApp('tcp://a:1', '5s').settings).toMatchObject({ appGrace: 5_000 });
  expect(loadApp('tcp://a:1', '4s').settings).toMatchObject({ appGrace: 600_000 });
});

// Its host has more than 16,384 characters and a capital letter: `URL.canParse` says yes, and `new URL` throws.
test.each(['BASE_URL', 'APP_HEALTH'])('%s may be what only looks like an address', (name) => {
  const { problems } = load(prefixed({ [name]: `https://${'ex.'.repeat(6_000)}E.com` }));
  expect(problems.map(({ severity, variable }) => `${severity} ${variable}`)).toContain(
    `error PILOTLIGHT_${name}`,
  );
});
