import { expect, test } from 'vitest';
import { redactedSettings } from '../../../src/config/secrets.ts';
import { configError, describeProblem } from '../../../src/config/problem.ts';
import { loadConfig } from '../../../src/config/load.ts';
import type { Environment } from '../../../src/config/values.ts';

const MINIMAL = { PILOTLIGHT_API_KEY: 'secret-key', PILOTLIGHT_BASE_URL: 'https://service.example' };

function load(environment: Environment, files: Record<string, string> = {}) {
  return loadConfig(environment, (path) => {
    const content = files[path];
    if (content === undefined) throw new Error(`ENOENT: no such file ${path}`);
    return content;
  });
}

function errorsOf(environment: Environment, files?: Record<string, string>): string[] {
  return load(environment, files)
    .problems.filter(({ severity }) => severity === 'error')
    .map((problem) => describeProblem(problem));
}

test('what is wrong with many items alike is said once', () => {
  const problems = errorsOf({ ...MINIMAL, PILOTLIGHT_ENDPOINTS: `${','.repeat(20_000)}-1,` });
  expect(problems.length).toBeLessThan(3);
});

test('what is wrong is one line of a terminal, also where what is allowed has a part of it', () => {
  const [problem = ''] = errorsOf({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: 'name:a\u001B[2J\n\u0085b@x' });
  expect(problem).toContain('allowed: name:a');
  expect(problem).not.toMatch(/\p{Cc}/u);
});

test('two variables are enough, and everything else has its documented default', () => {
  const { settings, problems } = load(MINIMAL);
  expect(problems).toEqual([]);
  expect(settings).toMatchObject({
    apiKey: 'secret-key',
    baseUrl: 'https://service.example',
    deployments: [],
    heartbeatInterval: 'auto',
    listen: { host: '0.0.0.0', port: 9847 },
    adminListen: { host: '127.0.0.1', port: 9848 },
    maintenanceSchedule: '*/5 * * * *',
    shutdownTimeout: 10_000,
    finalHeartbeat: true,
  });
  expect(Object.isFrozen(settings)).toBe(true);
});

test('reports all problems at once, each with what it got and what is allowed', () => {
  const errors = errorsOf({
    PILOTLIGHT_DEPLOYMENTS: 'abc',
    PILOTLIGHT_ENDPOINT_GROUPS: '[{"target_util":1.5,"max_worker":3}]',
  });
  expect(errors).toHaveLength(5);
  expect(errors).toEqual(
    expect.arrayContaining([
      expect.stringMatching(/PILOTLIGHT_DEPLOYMENTS: got abc; allowed: ID, name:NAME or/),
      expect.stringMatching(/PILOTLIGHT_API_KEY: is not set/),
      expect.stringMatching(/PILOTLIGHT_BASE_URL: is not set/),
      expect.stringMatching(/ENDPOINT_GROUPS\[0\]\.target_util: got 1\.5; allowed: .*at most 1/),
      expect.stringMatching(/ENDPOINT_GROUPS\[0\]\.max_worker: .*did you mean max_workers\?/),
    ]),
  );
});

test('a secret that was put in the place of its file is not shown', () => {
  const key = 'sk-abc/def-0123456789';
  const { problems } = loadConfig({ ...MINIMAL, PILOTLIGHT_API_KEY: '', PILOTLIGHT_API_KEY_FILE: key });
  expect(JSON.stringify(problems)).not.toContain(key);
  expect(problems.map((problem) => describeProblem(problem))).toEqual([
    expect.stringMatching(
      /^error: PILOTLIGHT_API_KEY_FILE: got a path that cannot be read; .* the value itself, set PILOTLIGHT_API_KEY instead$/,
    ),
  ]);
});

test('a file of another user: the problem names the user that must be able to read it', () => {
  const environment = { PILOTLIGHT_BASE_URL: 'http://h', PILOTLIGHT_API_KEY_FILE: '/run/key' };
  const { problems } = loadConfig(environment, () => {
    throw new Error("EACCES: permission denied, open '/run/key'");
  });
  const problem = problems.find(({ severity }) => severity === 'error');
  expect(problem?.message).toContain(`it must be readable for user ${process.getuid?.()}`);
});

test('reads X_FILE, trims it, and refuses both at once', () => {
  const fromFile = { PILOTLIGHT_BASE_URL: 'http://h', PILOTLIGHT_API_KEY_FILE: '/run/key' };
  const loaded = load(fromFile, { '/run/key': 'from-file\n' });
  expect(loaded.settings?.apiKey).toBe('from-file');
  expect([...loaded.files, loaded.secrets]).toEqual([['apiKey', '/run/key'], { apiKey: 'from-file' }]);
  expect(errorsOf({ ...fromFile, PILOTLIGHT_API_KEY: 'x' }, { '/run/key': 'y' })).toEqual([
    expect.stringContaining('allowed: PILOTLIGHT_API_KEY or PILOTLIGHT_API_KEY_FILE; both are set; keep one'),
  ]);
  expect(errorsOf(fromFile)).toEqual([expect.stringContaining('PILOTLIGHT_API_KEY_FILE: got /run/key')]);
});

test('an empty variable, or name of a file, counts as not set', () => {
  const plain = load(MINIMAL);
  const names = [
    'DEPLOYMENTS',
    'DEPLOYMENTS_FILE',
    'API_KEY_FILE',
    'HEARTBEAT_INTERVAL',
    'LISTEN',
    'ENV_FILE',
  ];
  const empty = Object.fromEntries(names.map((name) => [`PILOTLIGHT_${name}`, '']));
  const { settings, problems } = load({ ...empty, ...MINIMAL });
  expect([settings, problems]).toEqual([plain.settings, []]);
  expect(errorsOf({ ...MINIMAL, PILOTLIGHT_API_KEY: '' })).toEqual([
    expect.stringMatching(/PILOTLIGHT_API_KEY: is not set/),
  ]);
});

test('parses deployments with and without a TTL', () => {
  const { settings } = load({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: '42@300s, 43' });
  expect(settings?.deployments).toEqual([
    { by: 'id', id: 42, ttlMs: 300_000 },
    { by: 'id', id: 43, ttlMs: undefined },
  ]);
  expect(errorsOf({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: '42@300,1.5,-1,43@0s' })).toHaveLength(4);
});

test('takes deployments by name, of any tag or of one', () => {
  const value = 'name:square,name:square / blue@5m, name: my app (v2): test , name:név/été@1h,7';
  const { settings } = load({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: value });
  expect(settings?.deployments).toEqual([
    { by: 'name', name: 'square', tag: undefined, ttlMs: undefined },
    { by: 'name', name: 'square', tag: 'blue', ttlMs: 300_000 },
    { by: 'name', name: 'my app (v2): test', tag: undefined, ttlMs: undefined },
    { by: 'name', name: 'név', tag: 'été', ttlMs: 3_600_000 },
    { by: 'id', id: 7, ttlMs: undefined },
  ]);
});

test.each([
  ['name:', /NAME and TAG have no , @ \/ or control character/],
  ['name:/blue', /name:NAME or name:NAME\/TAG/],
  ['name:square/', /name:NAME or name:NAME\/TAG/],
  ['name:a/b/c', /name:NAME or name:NAME\/TAG/],
  ['name:a\tb', /control character/],
  ['name:square@5', /name:square@TTL with TTL a duration such as/],
  ['name:square@5m@5m', /ID, name:NAME or name:NAME\/TAG, each with or without @TTL/],
  ['@5m', /ID, name:NAME or name:NAME\/TAG, each with or without @TTL/],
  ['square', /ID, name:NAME or name:NAME\/TAG, each with or without @TTL/],
  ['tag:blue', /ID, name:NAME or name:NAME\/TAG, each with or without @TTL/],
  ['name:square@1s', /DEPLOYMENTS: got 1s for deployment name:square; allowed: at least 4\.4s;/],
])('refuses DEPLOYMENTS=%s, and says what is allowed', (value, said) => {
  const errors = errorsOf({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: value });
  expect(errors).toEqual([expect.stringMatching(said)]);
});

test('says every problem of DEPLOYMENTS at once, repeats among them', () => {
  const value = '042,x,name:a,42@5m,name:a/,name:b/t,name:a@5m,name:b/t@9s,name:b';
  expect(errorsOf({ ...MINIMAL, PILOTLIGHT_DEPLOYMENTS: value })).toEqual([
    expect.stringContaining('got x;'),
    expect.stringContaining('got name:a/;'),
    expect.stringContaining('42 is listed more than once'),
    expect.stringContaining('name:a is listed more than once'),
    expect.stringContaining('name:b/t is listed more than once'),
  ]);
});

test.each([
  ['ADMIN_LISTEN', 'nowhere'],
  ['ADMIN_LISTEN', '127.0.0.1:9847'],
  ['API_KEY', 'two words'],
  ['APP_HEALTH', 'nowhere'],
  ['MAINTENANCE_SCHEDULE', 'every day'],
  ['LOG_SINKS', 'stdout,kafka'],
  ['OTLP_HEADERS', 'Bearer abc'],
  ['OTLP_HEADERS', 'content-type=text/plain'],
  ['OTLP_HEADERS', 'authorization=Bearer%0Aabc'],
  ['ENDPOINT_GROUPS', '{"a":1}'],
  ['ENDPOINT_GROUPS', '[{]'],
  ['WORKER_GROUPS', '7,seven'],
  ['WORKER_GROUPS', 'endpoint:chat,endpoint: chat'],
  ['ENDPOINTS', 'chat,31,chat'],
  ['FLEET_INTERVAL', '4s'],
  ['FLEET_INTERVAL', '1000h'],
  ['BUDGET_PER_HOUR', '12 EUR'],
])('refuses %s=%s', (variable, value) => {
  const name = `PILOTLIGHT_${variable}`;
  const errors = errorsOf({ ...MINIMAL, [name]: value });
  expect(errors).toHaveLength(1);
  expect(errors[0]).toMatch(new RegExp(`^error: ${name}.*; allowed: [^;]`));
});

test('takes quotes away that Docker kept, and says so without the value', () => {
  const { settings, problems } = load({ ...MINIMAL, PILOTLIGHT_API_KEY: '"quoted-key"' });
  expect(settings?.apiKey).toBe('quoted-key');
  expect(problems.map((problem) => describeProblem(problem))).toEqual([
    expect.stringMatching(/^warning: PILOTLIGHT_API_KEY: got a value in quotes; .*Docker/),
  ]);
});

test.each([
  ['https://service.example/api/v0/', 'https://service.example'],
  ['https://service.example/prefix/api/v0', 'https://service.example/prefix'],
  ['HTTPS://Service.example/API/V0/', 'https://service.example'],
  ['https://service.example/api/v0\\', 'https://service.example'],
  ['https://service.example/api/v0/api/v0 ', 'https://service.example'],
])('uses BASE_URL=%s without the path that the interface has itself', (given, used) => {
  const { settings, problems } = load({ ...MINIMAL, PILOTLIGHT_BASE_URL: given });
  expect(settings?.baseUrl).toBe(used);
  expect(problems).toMatchObject([{ severity: 'warning', allowed: used }]);
});

test.each([
  ['LOG_LEVEL', 'warning', { logLevel: 'warn' }],
  ['BASE_URL', ' https://service.example\n', { baseUrl: 'https://service.example' }],
  ['DEPLOYMENT_TTL', '15s ', { deploymentTtl: 15_000 }],
  ['HEARTBEAT_INTERVAL', ' Auto', { heartbeatInterval: 'auto' }],
  ['LISTEN', ':9847 ', { listen: { host: '0.0.0.0', port: 9847 } }],
  ['ACCOUNT_SCHEDULE', 'Off', { accountSchedule: 'off' }],
  ['METRICS_TOKEN', ' a token\n', { metricsToken: 'a token' }],
  ['DEPLOYMENTS', '42@20s,', { deployments: [{ by: 'id', id: 42, ttlMs: 20_000 }] }],
  ['OTLP_HEADERS', 'x-scope=team, ', { otlpHeaders: { 'x-scope': 'team' } }],
])('reads %s=%s as people write it', (variable, value, settings) => {
  const loaded = load({ ...MINIMAL, [`PILOTLIGHT_${variable}`]: value });
  expect(loaded.problems).toEqual([]);
  expect(loaded.settings).toMatchObject(settings);
});

test('falls back where a value does not say what to keep alive, and check still fails', () => {
  const { settings, problems } = load({
    ...MINIMAL,
    PILOTLIGHT_DEPLOYMENTS: '42@20s',
    PILOTLIGHT_HEARTBEAT_INTERVAL: '18s',
    PILOTLIGHT_SHUTDOWN_TIMEOUT: 'soon',
    PILOTLIGHT_DEPLOYMENT_TTL: 'long',
  });
  expect(settings).toMatchObject({ heartbeatInterval: 'auto', shutdownTimeout: 10_000 });
  expect(problems.map(({ severity }) => severity)).toEqual(['error', 'error', 'error']);
  expect(problems.map((problem) => describeProblem(problem))[2]).toMatch(
    /HEARTBEAT_INTERVAL: got 18s for deployment 42; allowed: at most 15\.7s;/,
  );
  expect(problems.map(({ message }) => message)).toEqual([
    'ignoring it: the service is asked, or else a heartbeat is sent every 20 s',
    'using the default, 10s',
    expect.stringMatching(/; using the default, auto$/),
  ]);
});

test('wants to know where a sink that is listed delivers to, naming the variable', () => {
  const sinks = { ...MINIMAL, PILOTLIGHT_LOG_SINKS: 'stdout,file,otlp' };
  expect(errorsOf(sinks)).toEqual([
    expect.stringContaining(
      'PILOTLIGHT_LOG_FILE: is not set; allowed: path; required: PILOTLIGHT_LOG_SINKS lists file',
    ),
    expect.stringContaining('PILOTLIGHT_OTLP_ENDPOINT: is not set; allowed: url; required'),
  ]);
  const told = {
    ...sinks,
    PILOTLIGHT_LOG_FILE: '/var/log/w.log',
    PILOTLIGHT_OTLP_ENDPOINT: 'http://c:4318/',
  };
  expect(load(told).settings).toMatchObject({
    logSinks: ['stdout', 'file', 'otlp'],
    logFile: '/var/log/w.log',
    otlpEndpoint: 'http://c:4318',
  });
  expect(errorsOf({ ...told, PILOTLIGHT_OTLP_ENDPOINT: 'nowhere' })).toEqual([
    expect.stringContaining('PILOTLIGHT_OTLP_ENDPOINT: got nowhere'),
  ]);
});

test('reads headers, and never shows them', () => {
  const headers = 'Authorization=Bearer%20abc%2C=, x-scope = a b ,x-odd=100%';
  expect(errorsOf({ ...MINIMAL, PILOTLIGHT_OTLP_HEADERS: headers })).toEqual([
    expect.stringMatching(/^error: PILOTLIGHT_OTLP_HEADERS: got a secret; allowed: HTTP headers/),
  ]);
  const { settings } = load({ ...MINIMAL, PILOTLIGHT_OTLP_HEADERS: headers.replace('x-scope ', 'x-scope') });
  expect(settings?.otlpHeaders).toEqual({ authorization: 'Bearer abc,=', 'x-scope': 'a b', 'x-odd': '100%' });
  expect(settings && redactedSettings(settings)).toMatchObject({ PILOTLIGHT_OTLP_HEADERS: '(set)' });
});

const off = (environment: Environment, files?: Record<string, string>) =>
  load({ ...MINIMAL, ...environment }, files);

test('a malformed value switches off the feature of its variable, and nothing else', () => {
  const {
    settings,
    off: features,
    daemonProblems,
  } = off({
    PILOTLIGHT_DEPLOYMENTS: '42@300s',
    PILOTLIGHT_WORKER_GROUPS: '7,seven',
    PILOTLIGHT_LISTEN: 'nowhere',
    PILOTLIGHT_REDIS_URL: 'redis://h/notanumber',
  });
  expect(features.toSorted()).toEqual(['listener', 'logs', 'replicas']);
  expect(settings).toMatchObject({ workerGroups: [], redisUrl: undefined, listen: undefined });
  expect(settings?.deployments).toMatchObject([{ by: 'id', id: 42 }]);
  expect(daemonProblems).toHaveLength(3);
});

test('endpoints are not watched if it is unknown which, how often, or by which replica', () => {
  const watched = { PILOTLIGHT_ENDPOINTS: 'all', PILOTLIGHT_BUDGET_PER_HOUR: '5' };
  const on = off(watched);
  expect(on.settings).toMatchObject({ endpoints: [{ by: 'all' }], budgetPerHour: 5 });
  const wrong = [{ FLEET_INTERVAL: '1s' }, { ENDPOINTS: 'a,a' }, { REDIS_URL: 'redis://h/notanumber' }];
  for (const one of wrong) {
    const [name, value] = Object.entries(one)[0] ?? [];
    const { settings } = off({ ...watched, [`PILOTLIGHT_${name}`]: value });
    expect(settings).toMatchObject({ endpoints: [], fleetInterval: 15_000, budgetPerHour: 5 });
  }
  const { settings } = off({ ...watched, PILOTLIGHT_BUDGET_PER_HOUR: 'much' });
  expect(settings).toMatchObject({ endpoints: [{ by: 'all' }], budgetPerHour: undefined });
});

test('a token that cannot be read keeps closed what it should close', () => {
  const { settings } = off({ PILOTLIGHT_METRICS_TOKEN_FILE: '/not/there' });
  expect(settings?.metricsToken).toMatch(/^[\da-f-]{36}$/);
});

test('no log is followed if the only sink has no address', () => {
  const { settings } = off({ PILOTLIGHT_LOG_SINKS: 'file', PILOTLIGHT_WORKER_GROUPS: '7' });
  expect(settings).toMatchObject({ logSinks: [], workerGroups: [] });
});

test('a rule of endpoint groups only advises, and switches nothing off', () => {
  const { off: features, settings } = off({ PILOTLIGHT_ENDPOINT_GROUPS: '[{"target_util":1.5}]' });
  expect(features).toEqual([]);
  expect(settings?.endpointGroups).toHaveLength(1);
});

test('the heart waits for the file of its key, and has none meanwhile', () => {
  const { settings, problems } = load({
    PILOTLIGHT_BASE_URL: 'http://h',
    PILOTLIGHT_API_KEY_FILE: '/run/key',
  });
  expect(settings?.apiKey).toBe('');
  expect(problems[0]?.awaitedFile).toBe('/run/key');
});

test.each(['1.5ms', '24h', '3s'])('the heart waits at most %s for its end', (value) => {
  const { settings } = load({ ...MINIMAL, PILOTLIGHT_SHUTDOWN_TIMEOUT: value });
  expect(Number.isInteger(settings?.shutdownTimeout)).toBe(true);
  expect(errorsOf({ ...MINIMAL, PILOTLIGHT_SHUTDOWN_TIMEOUT: '600h' })).toHaveLength(1);
});

test.each([
  ['API_KEY', 's3cretpw s3cretpw'],
  ['API_KEY', 's3cretpw\u00E9'],
  ['API_KEY', 's3cretpw\ns3cretpw'],
  ['BASE_URL', 'ftp://user:s3cretpw@host'],
  ['SERVERLESS_URL', 'user:s3cretpw@host'],
  ['OTLP_ENDPOINT', 'http://h/?api_key=s3cretpw'],
  ['REDIS_URL', 'redis://:s3cretpw%zz@h:1/0'],
])('a credential in a malformed %s is not shown', (variable, value) => {
  const errors = errorsOf({ ...MINIMAL, [`PILOTLIGHT_${variable}`]: value });
  expect(errors).toHaveLength(1);
  expect(errors[0]).not.toContain('s3cretpw');
});

test.each([
  ['x'.repeat(200), 'x'.repeat(200)],
  ['x'.repeat(201), `${'x'.repeat(200)}… (201 characters)`],
  ['a "word"\u001B[31m\nmore', 'a "word"\\u001b[31m\\nmore'],
])('of a value %j a line shows %s', (got, shown) => {
  expect(describeProblem(configError('NAME', got, 'a word', ''))).toBe(
    `error: NAME: got ${shown}; allowed: a word`,
  );
});
