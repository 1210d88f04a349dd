import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as fc from '../../support/fast-check.ts';
import { expect, test } from 'vitest';
import { withEnvFile } from '../../../src/config/values.ts';
import { isAwaited, loadHeartConfig, type LoadedHeart } from '../../../src/config/load-heart.ts';
import { loadConfig } from '../../../src/config/load.ts';
import { describeProblem } from '../../../src/config/problem.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { prefixed } from '../../support/settings.ts';

const PATH = '/etc/pilotlight/environment';
const MINIMAL = 'PILOTLIGHT_API_KEY_FILE=/key\nPILOTLIGHT_BASE_URL=https://service.example\n';

/** `environment` without the prefix. */
function load(file: string, environment: Record<string, string> = {}) {
  const env = prefixed({ ENV_FILE: PATH, ...environment });
  const read = (path: string): string => {
    if (path === PATH) return file;
    if (path === '/key' || path === '/other') return `key-of-${path.slice(1)}`;
    throw new Error(`ENOENT: ${path}`);
  };
  return { ...loadConfig(env, read), heart: loadHeartConfig(env, read) };
}

const notesOf = ({ problems }: LoadedHeart) =>
  problems.filter(({ severity }) => severity === 'note').map(({ variable }) => variable);
const wordsOf = ({ problems }: Pick<ReturnType<typeof load>, 'problems'>) =>
  problems.map((problem) => describeProblem(problem));

test('the environment file is enough alone, for heart and daemon', () => {
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

test('the file wins over the environment, which is said, and no value is shown', () => {
  const loaded = load(`${MINIMAL}PILOTLIGHT_LOG_LEVEL=debug\nPILOTLIGHT_STATE_DIR=/a\n`, {
    LOG_LEVEL: 'warn',
    STATE_DIR: '/a',
    BASE_URL: 'https://secret.example',
  });
  expect(loaded.settings).toMatchObject({ logLevel: 'debug', baseUrl: 'https://service.example' });
  expect(wordsOf(loaded)).toEqual([
    expect.stringMatching(/^note: PILOTLIGHT_BASE_URL: got a value in the environment, and another/),
    expect.stringMatching(
      /^note: PILOTLIGHT_LOG_LEVEL: .*the value in \/etc\/pilotlight\/environment is used$/,
    ),
  ]);
  expect(notesOf(loaded.heart)).toEqual(['PILOTLIGHT_BASE_URL', 'PILOTLIGHT_LOG_LEVEL']);
  expect(wordsOf(loaded).join()).not.toContain('secret');
});

test.each([
  ['NAME over NAME_FILE', 'PILOTLIGHT_API_KEY=mine', { API_KEY_FILE: '/other' }, 'mine', 'API_KEY_FILE'],
  ['NAME_FILE over NAME', 'PILOTLIGHT_API_KEY_FILE=/key', { API_KEY: 'x' }, 'key-of-key', 'API_KEY'],
])('%s of the environment', (_, line, environment, key, overridden) => {
  const loaded = load(`PILOTLIGHT_BASE_URL=https://a\n${line}`, environment);
  expect([loaded.settings?.apiKey, notesOf(loaded.heart)]).toEqual([key, [`PILOTLIGHT_${overridden}`]]);
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
    /^error: PILOTLIGHT_ENV_FILE: got line 3 of \/etc.*; allowed: NAME=value.*the line has no =$/,
    /^error: PILOTLIGHT_ENV_FILE: got line 4 of .*an environment file cannot name another one$/,
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
  writeFileSync(file, `${lines.join('\n')}\n`);
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
      /^warning: PILOTLIGHT_METRICS_TOKEN: .*every user of this machine can read this file/,
    ),
  ]);
  expect(warnings().join()).not.toContain('secret-');
  chmodSync(file, 0o640);
  expect(warnings()).toEqual([]);
  writeFileSync(file, 'PILOTLIGHT_APP_HEALTH=http://127.0.0.1/\n');
  chmodSync(file, 0o644);
  expect(warnings()).toEqual([]);
});

const read = (text: string) => withEnvFile({ PILOTLIGHT_ENV_FILE: PATH }, () => text);

/** Name → value. */
function valuesOf(text: string): Record<string, string | undefined> {
  const { environment, problems } = read(text);
  expect(problems).toEqual([]);
  const { PILOTLIGHT_ENV_FILE: _, ...values } = environment;
  return values;
}

test.each([
  ['A=1', '1'],
  ['  export A=1  ', '1'],
  ['A=', ''],
  ['A=one two  three # but not this', 'one two  three'],
  ['A=one#two', 'one#two'],
  ['A=https://host/?a=b&c=$d', 'https://host/?a=b&c=$d'],
  ['A=[{"endpoint_name":"it\'s","target_util":0.9}]', '[{"endpoint_name":"it\'s","target_util":0.9}]'],
  ["A=' kept # as it is \\n $x \" '", ' kept # as it is \\n $x " '],
  ['A="a \\"b\\" \\\\ \\$c \\`d\\` \\n" # e', 'a "b" \\ $c `d` \\n'],
  ['A="" ', ''],
  ['A=1\r', '1'],
  ['A=ü – ☀', 'ü – ☀'],
])('the line %j', (line, value) => {
  expect(valuesOf(line.replace('A=', 'PILOTLIGHT_A='))).toEqual({ PILOTLIGHT_A: value });
});

test('blank lines, comments, a byte order mark and the line ends of Windows mean nothing', () => {
  const text = '\uFEFF# head\r\n\r\n  # more\r\nPILOTLIGHT_A=1\r\n\t\r\nPILOTLIGHT_B=2\r\n';
  expect(valuesOf(text)).toEqual({ PILOTLIGHT_A: '1', PILOTLIGHT_B: '2' });
  expect(valuesOf('')).toEqual({});
});

test('every malformed line at once, with its number, and without its text', () => {
  const lines = [
    ['SECRET one', 'the line has no ='],
    ['SECRET = two', 'there is a space before the ='],
    ['SECRET= \t three', 'there is a space after the =; remove it'],
    ['1SECRET=four', 'the text before the = is not a name'],
    ['=five', 'the text before the = is not a name'],
    ["SECRET='six", "the ' is not closed on the same line"],
    ['SECRET="seven\\"', 'the " is not closed on the same line'],
    ["SECRET='eight'nine", "there is text after the closing '"],
    ['SECRET=#ten', 'a value that begins with # must be quoted'],
    ['SECRET=ele\u0007ven', 'the line has a control character'],
    ['PILOTLIGHT_A=1', undefined],
    ['PILOTLIGHT_B=2', undefined],
    ['export PILOTLIGHT_A=twelve', 'PILOTLIGHT_A is set on line 11 already; keep one'],
  ] as const;
  const { environment, problems } = read(lines.map(([line]) => line).join('\n'));
  expect(problems.map(({ got, message }) => [got, message])).toEqual(
    lines.flatMap(([, why], index) => (why === undefined ? [] : [[`line ${index + 1} of ${PATH}`, why]])),
  );
  expect(environment).toMatchObject({ PILOTLIGHT_A: '1', PILOTLIGHT_B: '2' });
  expect(JSON.stringify(problems)).not.toMatch(/SECRET|four|five|seven|eight|nine|eleven|twelve/);
});

test('every quoted value comes back', () => {
  const text = fc.string({
    unit: fc.oneof(fc.constantFrom('"', "'", '\\', '$', '`', '#', ' ', '='), fc.string()),
  });
  const line = text.filter((value) => !/[^\P{Cc}\t]/u.test(value));
  const inDouble = (value: string) => `PILOTLIGHT_A="${value.replaceAll(/["\\$`]/g, '\\$&')}" # so`;
  fc.assert(
    fc.property(line, (value) => {
      expect(valuesOf(inDouble(value))).toEqual({ PILOTLIGHT_A: value });
      if (!value.includes("'"))
        expect(valuesOf(`export PILOTLIGHT_A='${value}'`)).toEqual({ PILOTLIGHT_A: value });
    }),
  );
});

test('no text makes it throw, and each line is an assignment, a problem or nothing', () => {
  const piece = fc.constantFrom('export ', 'PILOTLIGHT_A', 'B1', ...'=|\'|"|\\|#| |\t|\n|\r|ü|\0'.split('|'));
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = pieces.join('');
      const { file, problems } = read(text);
      expect((file?.assignments.size ?? 0) + problems.length).toBeLessThanOrEqual(text.split('\n').length);
    }),
    { numRuns: 2_000 },
  );
});
