import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { isAwaited, loadHeartConfig } from '../../../../src/config/load-heart.ts';
import { loadConfig, loadConnection, loadEndpointGroups } from '../../../../src/config/load.ts';
import { localDaemonUrl } from '../../../../src/config/local-daemon.ts';
import { describeProblem } from '../../../../src/config/problem.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const PATH = '/etc/pilotlight/environment';
const MINIMAL = 'PILOTLIGHT_API_KEY_FILE=/key\nPILOTLIGHT_BASE_URL=https://service.example\n';

/** `environment` without the prefix. */
function load(file: string, environment: Record<string, string> = {}) {
  const all = Object.entries(environment).map(([name, value]) => [`PILOTLIGHT_${name}`, value]);
  const env = { PILOTLIGHT_ENV_FILE: PATH, ...(Object.fromEntries(all) as Record<string, string>) };
  const read = (path: string): string => {
    if (path === PATH) return file;
    if (path === '/key' || path === '/other') return `key-of-${path.slice(1)}`;
    throw new Error(`ENOENT: ${path}`);
  };
  return { ...loadConfig(env, read), heart: loadHeartConfig(env, read) };
}

const wordsOf = ({ problems }: Pick<ReturnType<typeof load>, 'problems'>) =>
  problems.map((problem) => describeProblem(problem));

describe('the environment file', () => {
  test('is enough alone, for heart and daemon', () => {
    const { settings, problems, heart, files } = load(
      `# mine\n${MINIMAL}export PILOTLIGHT_DEPLOYMENTS="42@300s,name:square"\nPILOTLIGHT_LISTEN='[::1]:80'\n`,
    );
    expect(problems).toEqual([]);
    expect(settings).toMatchObject({
      apiKey: 'key-of-key',
      deployments: [{ id: 42 }, { name: 'square' }],
      listen: { host: '::1', port: 80 },
      envFile: PATH,
    });
    expect([heart.settings?.baseUrl, files.get('apiKey')]).toEqual(['https://service.example', '/key']);
  });

  test('wins over the environment, which is said, and no value is shown', () => {
    const loaded = load(`${MINIMAL}PILOTLIGHT_LOG_LEVEL=debug\nPILOTLIGHT_STATE_DIR=/a\n`, {
      LOG_LEVEL: 'warn',
      STATE_DIR: '/a',
      BASE_URL: 'https://secret.example',
    });
    expect(loaded.settings).toMatchObject({ logLevel: 'debug', baseUrl: 'https://service.example' });
    expect(wordsOf(loaded)).toEqual([
      expect.stringMatching(/^note: PILOTLIGHT_BASE_URL: got a value in the environment, and another/),
      expect.stringMatching(/^note: PILOTLIGHT_LOG_LEVEL: .*that of \/etc\/pilotlight\/environment is used$/),
    ]);
    expect(loaded.heart.overriddenNames).toEqual(['PILOTLIGHT_BASE_URL', 'PILOTLIGHT_LOG_LEVEL']);
    expect(wordsOf(loaded).join()).not.toContain('secret');
  });

  test.each([
    ['NAME over NAME_FILE', 'PILOTLIGHT_API_KEY=mine', { API_KEY_FILE: '/other' }, 'mine', 'API_KEY_FILE'],
    ['NAME_FILE over NAME', 'PILOTLIGHT_API_KEY_FILE=/key', { API_KEY: 'x' }, 'key-of-key', 'API_KEY'],
  ])('%s of the environment', (_, line, environment, key, overridden) => {
    const loaded = load(`PILOTLIGHT_BASE_URL=https://a\n${line}`, environment);
    expect([loaded.settings?.apiKey, loaded.heart.overriddenNames]).toEqual([
      key,
      [`PILOTLIGHT_${overridden}`],
    ]);
  });

  test('both in the file are as wrong as both in the environment', () => {
    const loaded = load(`${MINIMAL}PILOTLIGHT_API_KEY=mine`, { API_KEY_FILE: '/other' });
    expect(loaded.settings).toBeUndefined();
    expect(wordsOf(loaded).join()).toContain('both are set; keep one');
  });

  test('LOG_FILE is a variable, and no file of a LOG', () => {
    const loaded = load(`${MINIMAL}PILOTLIGHT_LOG_FILE=/a\n`, { LOG_FILE_FILE: '/other' });
    expect(loaded.settings).toMatchObject({ logFile: '/a' });
  });

  test('an empty value unsets the name, and not its file', () => {
    const loaded = load('PILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_API_KEY=\nPILOTLIGHT_LOG_LEVEL=\n', {
      API_KEY_FILE: '/other',
      LOG_LEVEL: 'debug',
    });
    expect(loaded.settings).toMatchObject({ apiKey: 'key-of-other', logLevel: 'info' });
  });

  test('all its problems come at once with those of its values, each with its line', () => {
    const loaded = load(
      [
        'PILOTLIGHT_BASE_URL=nowhere',
        'PILOTLIGHT_DEPLOYMENT=42',
        'broken',
        'PILOTLIGHT_ENV_FILE=/b',
        'PILOTLIGHT_ENDPOINT_GROUPS=[{"target_util":1.5}]',
        'HTTPS_PROXY=http://proxy:3128',
        'DATABASE_URL=postgres://app',
      ].join('\n'),
    );
    expect(loaded.settings).toBeUndefined();
    expect(isAwaited(loaded.problems)).toBe(false);
    const words = wordsOf(loaded);
    expect(words).toHaveLength(7);
    for (const expected of [
      /^error: PILOTLIGHT_ENV_FILE: got line 3 of \/etc.*; allowed: NAME=value.*it has no =$/,
      /^error: PILOTLIGHT_ENV_FILE: got line 4 of .*a file names no other$/,
      /^warning: HTTPS_PROXY: got line 6 of .*read when the process starts/,
      /^error: PILOTLIGHT_DEPLOYMENT: .*did you mean PILOTLIGHT_DEPLOYMENTS\? .*; line 2 of \/etc/,
      /^error: PILOTLIGHT_BASE_URL: got nowhere; .*; line 1 of \/etc/,
      /^error: PILOTLIGHT_API_KEY: is not set/,
      /^error: PILOTLIGHT_ENDPOINT_GROUPS\[0\]\.target_util: .*; line 5 of \/etc/,
    ])
      expect(words).toContainEqual(expect.stringMatching(expected));
  });

  test('one that cannot be read is waited for, and nothing else is said', () => {
    const env = { PILOTLIGHT_ENV_FILE: '/nowhere', PILOTLIGHT_DEPLOYMENT: '42' };
    const { settings, problems } = loadConfig(env);
    expect([settings, isAwaited(problems)]).toEqual([undefined, true]);
    expect(problems).toMatchObject([{ variable: 'PILOTLIGHT_ENV_FILE', awaitedFile: '/nowhere' }]);
    expect(isAwaited(loadConfig({ PILOTLIGHT_ENV_FILE: '/' }).problems)).toBe(true); // a folder
  });

  test('it has no file that has its name', () => {
    const { problems } = loadConfig({ PILOTLIGHT_ENV_FILE_FILE: '/a' });
    expect(problems.map((problem) => describeProblem(problem)).join('\n')).toContain(
      'PILOTLIGHT_ENV_FILE_FILE: got a value; allowed: a known variable',
    );
  });

  test('commands read it too', () => {
    using folder = temporaryFolder();
    const file = join(folder.path, 'environment');
    writeFileSync(
      file,
      'PILOTLIGHT_API_KEY=k\nPILOTLIGHT_BASE_URL=https://a\nPILOTLIGHT_LISTEN=0.0.0.0:81\nPILOTLIGHT_ENDPOINT_GROUPS=[{}]\n',
    );
    const env = { PILOTLIGHT_ENV_FILE: file };
    expect(loadConnection(env).connection).toMatchObject({ apiKey: 'k', baseUrl: 'https://a' });
    expect(loadEndpointGroups(env).groups).toEqual([{}]);
    expect(localDaemonUrl(env)).toBe('http://127.0.0.1:81');
    expect(localDaemonUrl({ PILOTLIGHT_ENV_FILE: '/nowhere' })).toBe('http://127.0.0.1:9847');
  });
});

test('secrets in a file that everybody can read are warned of, those of heart and daemon', () => {
  using folder = temporaryFolder();
  const file = join(folder.path, 'environment');
  const lines = [
    'PILOTLIGHT_API_KEY=secret-1',
    'PILOTLIGHT_BASE_URL=https://a',
    'PILOTLIGHT_METRICS_TOKEN=secret-2',
    'PILOTLIGHT_APP_HEALTH=http://me:secret-3@127.0.0.1/',
    'PILOTLIGHT_REDIS_URL_FILE=/run/redis-url',
  ];
  writeFileSync(file, lines.join('\n'));
  const warnings = (): string[] =>
    loadConfig({ PILOTLIGHT_ENV_FILE: file })
      .problems.filter(({ severity }) => severity === 'warning')
      .map((problem) => describeProblem(problem));
  chmodSync(file, 0o644);
  expect(warnings()).toEqual([
    expect.stringMatching(
      /^warning: PILOTLIGHT_API_KEY: got a secret; allowed: PILOTLIGHT_API_KEY_FILE, .*line 1 of/,
    ),
    expect.stringMatching(/^warning: PILOTLIGHT_APP_HEALTH: .*line 4 of/),
    expect.stringMatching(
      /^warning: PILOTLIGHT_METRICS_TOKEN: .*everybody on this machine can read this file/,
    ),
  ]);
  expect(warnings().join()).not.toContain('secret-');
  chmodSync(file, 0o640);
  expect(warnings()).toEqual([]);
});
