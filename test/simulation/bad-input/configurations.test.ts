/** Whatever the environment and its files say: all of it is taken, or what is wrong is said, and no secret with it. */
import { utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { loadHeartConfig } from '../../../src/config/load-heart.ts';
import { loadConfig } from '../../../src/config/load.ts';
import {
  OPTIONS,
  OPTION_KEYS,
  PREFIX,
  type Option,
  type Settings,
  type OptionKey,
} from '../../../src/config/options.ts';
import { describeProblem } from '../../../src/config/problem.ts';
import { credentialsOf, redactedSettings } from '../../../src/config/secrets.ts';
import { Redaction } from '../../../src/contract/text/redaction.ts';
import type { Status } from '../../../src/daemon/status/schema.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { casesOf, PATIENCE, withoutHang, withoutHangOf } from '../../support/bad-input/cases.ts';
import { damagedText } from '../../support/bad-input/damage.ts';
import { pilotlight } from '../../support/console.ts';
import { daemonPid } from '../../support/daemon-process.ts';
import * as fc from '../../support/fast-check.ts';
import { startPilotlight } from '../../support/process.ts';
import { ask, type RawAnswer } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A right value of each, where the default is none or says little. */
const EXAMPLES: Readonly<Partial<Record<OptionKey, string>>> = {
  apiKey: 'sk-configured-0123456789',
  metricsToken: 'token-configured-0123456789',
  baseUrl: 'https://console.example.com',
  serverlessUrl: 'https://run.example.com/base',
  deployments: '42@300s,name:square/blue@5m,name:square,7',
  deploymentTtl: '300s',
  heartbeatInterval: '20s',
  appHealth: 'http://user:secret-of-app@127.0.0.1:8000/health?deep=1',
  workerGroups: '7,endpoint:chat,all',
  logSinks: 'stdout,file,otlp',
  logFile: '/var/log/pilotlight/worker.log',
  otlpEndpoint: 'http://collector:4318/v1/logs',
  otlpHeaders: 'authorization=Bearer%20otlp-0123456789,x-scope-orgid=team',
  stateDir: '/var/lib/pilotlight',
  endpointGroups:
    '[{"endpoint_name":"chat","target_util":0.9,"cold_mult":2.5,"cold_workers":3,"max_workers":20,"min_load":10}]',
  endpoints: '31,chat,all',
  budgetPerHour: '12.50',
  budgetPerMonth: '4000',
  machines: '11,12',
  redisUrl: 'redis://user:redis-0123456789@redis:6379/0',
  adminListen: 'unix:/run/pilotlight/admin.sock',
  publicStatus: 'true',
};

function exampleOf(key: OptionKey): string {
  const { fallback }: Option = OPTIONS[key];
  return EXAMPLES[key] ?? fallback ?? '';
}

function valuesOf(key: OptionKey): fc.Arbitrary<string> {
  const example = exampleOf(key);
  return fc.weighted(
    [4, fc.constant(example)],
    [5, damagedText(example)],
    [1, fc.constantFrom(...OPTION_KEYS).map((other) => exampleOf(other))],
    [1, fc.constantFrom('', ' ', ',', ',,', '0', '-1', 'NaN', '1e999', 'null', '[]', '{}', '[[]]', '*')],
    [
      1,
      fc.constantFrom('9', ',', '[', '{"a":', '1,', '* ', '\u0000', '%').map((each) => each.repeat(20_000)),
    ],
    [1, fc.string({ unit: 'binary' })],
  );
}

function environments(keys: readonly OptionKey[] = OPTION_KEYS): fc.Arbitrary<Record<string, string>> {
  const entry = fc.constantFrom(...keys).chain((key) => {
    const name = PREFIX + OPTIONS[key].variable;
    const names = fc.weighted([30, fc.constant(name)], [1, damagedText(name)]);
    return fc.tuple(names, valuesOf(key));
  });
  return fc.array(entry, { maxLength: 12 }).map((entries) => Object.fromEntries(entries));
}

function environmentFiles(environment: fc.Arbitrary<Record<string, string>>): fc.Arbitrary<string> {
  const written = fc.tuple(environment, fc.constantFrom(...WAYS_TO_WRITE)).map(([named, write]) =>
    Object.entries(named)
      .map(([name, value]) => write(name, value))
      .join('\n'),
  );
  return fc.weighted(
    [3, written],
    [2, written.chain((text) => damagedText(text))],
    [1, fc.string({ unit: 'binary', maxLength: 400 })],
  );
}

const WAYS_TO_WRITE = [
  (name: string, value: string) => `${name}=${value}`,
  (name: string, value: string) => `${name}='${value}' # said so`,
  (name: string, value: string) => `${name}="${value.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`,
  (name: string, value: string) => `  export ${name}=${value}\r`,
];

const FILE = '/etc/pilotlight/environment';

/** Set by whoever starts the process, so that some of what is made up gets as far as to be used. */
const SOUND = { PILOTLIGHT_API_KEY: exampleOf('apiKey'), PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1' };

/** In the settings, where they are told from other words. */
const SECRETS = [exampleOf('apiKey'), exampleOf('metricsToken'), 'otlp-0123456789', 'redis-0123456789'];

const sources = fc.record({
  environment: fc
    .tuple(fc.constantFrom({}, SOUND), environments())
    .map(([sound, named]) => Object.assign(named, sound)),
  file: fc.option(environmentFiles(environments())),
  /** Of NAME_FILE variables, whatever their path. */
  contents: fc.oneof(fc.constant('content'), fc.string({ unit: 'binary' })),
  inFiles: fc.subarray(OPTION_KEYS, { maxLength: 3 }),
});

test('is loaded, or is said to be wrong, all at once', { timeout: PATIENCE }, async () => {
  await fc.assert(
    fc.asyncProperty(sources, async ({ environment, file, contents, inFiles }) => {
      const named = inFiles.map((key) => [`${PREFIX}${OPTIONS[key].variable}_FILE`, '/run/secrets/one']);
      const all = {
        ...environment,
        ...Object.fromEntries(named),
        ...(file !== null && { [`${PREFIX}ENV_FILE`]: FILE }),
      };
      const readFile = (path: string): string => (path === FILE ? (file ?? '') : contents);
      const loaded = await withoutHang(() => loadConfig(all, readFile));
      const { settings, problems } = loaded;
      expect(loadHeartConfig(all, readFile).settings === undefined).toBe(settings === undefined);
      for (const problem of problems) {
        const words = describeProblem(problem);
        // One line of a log, and of a terminal.
        expect(words).toMatch(/^(?:error|warning|note): \P{Cc}+$/u);
        expect(words.length).toBeLessThan(4_000);
      }
      if (!settings) return;
      expect(Object.isFrozen(settings)).toBe(true);
      const shown = JSON.stringify(redactedSettings(settings));
      for (const option of OPTION_KEYS.map((key): Option => OPTIONS[key]))
        expect(shown).toContain(PREFIX + option.variable);
    }),
    casesOf(20),
  );
});

const MANY = Array.from({ length: 20_000 }, (_, index) => index);
const DEEP = `${'['.repeat(50_000)}${']'.repeat(50_000)}`;

test.each<[string, string]>([
  ['DEPLOYMENTS', MANY.map((id) => `name:a${id}@5s`).join()],
  ['WORKER_GROUPS', MANY.join()],
  ['ENDPOINTS', MANY.join()],
  ['ENDPOINTS', ','.repeat(20_000)],
  ['MACHINES', MANY.join()],
  ['ENDPOINT_GROUPS', DEEP],
  ['ENDPOINT_GROUPS', `[{"target_util":${DEEP}}]`],
  ['INSTANCES_SCHEDULE', `${'1,'.repeat(20_000)}1 * * * *`],
  ['MAINTENANCE_SCHEDULE', '*/5 * * * 1-99999999'],
  // A star stands for a range, before what follows it at once.
  ['ACCOUNT_SCHEDULE', '*/5 * * * *111111111111111'],
  ['BASE_URL', `http://a/${'/'.repeat(100_000)}x`],
  ['APP_HEALTH', 'x'.repeat(100_000)],
  [
    'ENV_FILE',
    MANY.slice(0, 8_000)
      .map((index) => `PILOTLIGHT_DEPLOYMENT${index}=1`)
      .join('\n'),
  ],
])('a large %s is read at once', async (name, value) => {
  const isFile = name === 'ENV_FILE';
  const environment = { ...SOUND, [`PILOTLIGHT_${name}`]: isFile ? FILE : value };
  const { problems } = await withoutHang(() => loadConfig(environment, () => value));
  for (const problem of problems) expect(describeProblem(problem).length).toBeLessThan(4_000);
});

test('no secret in its own variable is part of what is said', { timeout: PATIENCE }, () => {
  fc.assert(
    fc.property(environments(['apiKey', 'metricsToken', 'otlpHeaders', 'redisUrl']), (environment) => {
      const { problems, settings } = loadConfig(
        { ...environment, PILOTLIGHT_BASE_URL: 'http://127.0.0.1:1' },
        () => '',
      );
      const words = problems.map((problem) => describeProblem(problem)).join('\n');
      const shown = settings === undefined ? '' : JSON.stringify(redactedSettings(settings));
      for (const secret of SECRETS) expect(words + shown).not.toContain(secret);
    }),
    casesOf(20),
  );
});

/** Where a machine is so busy that a request takes seconds to be sent, 408 says so, and nothing was done. */
async function answered(...question: Parameters<typeof ask>): Promise<RawAnswer> {
  for (;;) {
    const answer = await ask(...question);
    if (answer.status !== 408) return answer;
  }
}

/** What a reload can change. */
const RELOADED = OPTION_KEYS.filter((key) => (OPTIONS[key] as Option).restart !== true);

test('is taken by heart and daemon at a reload, whole or not at all', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator();
  const file = join(folder.path, 'environment');
  const always = {
    PILOTLIGHT_ENV_FILE: file,
    PILOTLIGHT_API_KEY: emulator.apiKey,
    PILOTLIGHT_BASE_URL: emulator.url,
    PILOTLIGHT_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
    PILOTLIGHT_STATE_DIR: join(folder.path, 'state'),
    PILOTLIGHT_METRICS_TOKEN: 'token-0123456789',
  };
  writeFileSync(file, '');
  await using program = startPilotlight(['run'], always);
  const [, line = ''] = await program.seen(/^(\{.*"pilotlight started"\})$/m);
  const { url, adminUrl } = JSON.parse(line) as { url: string; adminUrl: string };
  const pid = daemonPid(program);
  const shown = async (): Promise<Record<string, unknown>> =>
    JSON.parse((await answered(adminUrl, 'GET', '/-/config')).body) as Record<string, unknown>;
  const kept = new Set(
    OPTION_KEYS.filter((key) => !RELOADED.includes(key)).map((key) => PREFIX + OPTIONS[key].variable),
  );
  const reloadable = (all: Record<string, unknown>): Record<string, unknown> =>
    Object.fromEntries(Object.entries(all).filter(([name]) => !kept.has(name)));
  const wantedIn = ({ deployments }: Pick<Settings, 'deployments'>): number[] =>
    deployments.flatMap((wanted) => (wanted.by === 'id' ? [wanted.id] : []));
  let inForce = loadConfig(always).settings as Settings;
  // A token that is also the text of another setting is cut out of that one too, and stays a secret.
  const redaction = new Redaction(() => credentialsOf(inForce, inForce.apiKey, {}));
  let wanted: readonly number[] = [];

  await fc.assert(
    fc.asyncProperty(
      environmentFiles(environments(RELOADED.filter((key) => key !== 'apiKey'))),
      async (text) => {
        const before = await shown();
        writeFileSync(file, text);
        // What has just been written, and lacks its last line's end, would be waited for.
        utimesSync(file, 0, 0);
        const { settings } = loadConfig(always);
        const { status, body } = await withoutHangOf(pid, () => answered(adminUrl, 'POST', '/-/reload'));
        expect([200, 400]).toContain(status);
        const { reloaded, problems } = JSON.parse(body) as { reloaded: boolean; problems: string[] };
        expect(reloaded).toBe(status === 200);
        if (reloaded) {
          if (!settings) throw new Error(`reloaded what cannot be loaded: ${JSON.stringify(text)}`);
          [inForce, wanted] = [settings, wantedIn(settings)];
          const expected = redaction.json(JSON.stringify(reloadable(redactedSettings(settings))));
          expect(reloadable(await shown())).toEqual(JSON.parse(expected));
        } else {
          expect(problems).not.toEqual([]);
          expect(await shown()).toEqual(before);
        }
        // The heart's part, as the heart has it.
        const answer = await answered(
          url,
          'GET',
          '/api/status',
          inForce.metricsToken === undefined ? {} : { authorization: `Bearer ${inForce.metricsToken}` },
        );
        expect(answer.status).toBe(200);
        const { deployments } = JSON.parse(answer.body) as Status;
        const ids = deployments.map(({ deployment_id: id }) => id);
        expect(ids).toEqual(expect.arrayContaining([...wanted]));
      },
    ),
    casesOf(10),
  );
  expect(daemonPid(program)).toBe(pid);
});

const given = fc.record({ environment: environments(), file: fc.option(environmentFiles(environments())) });

test('makes `pilotlight check` print the problems and nothing else', { timeout: PATIENCE }, async () => {
  using folder = temporaryFolder();
  const path = join(folder.path, 'environment');
  await fc.assert(
    fc.asyncProperty(given, async ({ environment, file }) => {
      writeFileSync(path, file ?? '');
      utimesSync(path, 0, 0);
      const all = { ...environment, ...(file !== null && { PILOTLIGHT_ENV_FILE: path }) };
      const env = Object.entries(all).map(([name, value]) => [name.slice(PREFIX.length), value]);
      const check = () => pilotlight(['check'], { env: Object.fromEntries(env) as Record<string, string> });
      const { code, stdout, stderr } = await withoutHang(check);
      expect([0, 2]).toContain(code);
      expect(stderr + stdout).not.toMatch(/^\s+at .*:\d+/m);
    }),
    casesOf(50, 10_000),
  );
});
