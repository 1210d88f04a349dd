import { Ajv } from 'ajv';
import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { parse } from 'yaml';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option } from '../../../src/config/options.ts';
import { SET_BY_CHART, valuesJsonSchema } from '../../docs/values-schema.ts';
import { root } from '../../support/optional.ts';

const chart = `${root}deploy/helm/pilotlight/`;
const defaults = parse(readFileSync(`${chart}values.yaml`, 'utf8')) as Record<string, unknown>;
const options: readonly Option[] = OPTION_KEYS.map((key) => OPTIONS[key]);
const accepts = new Ajv({ strict: true, allowUnionTypes: true, strictRequired: false }).compile(
  valuesJsonSchema(),
);
const required = { PILOTLIGHT_BASE_URL: 'https://console.example.com' };
const fits = (values: object): boolean => accepts({ ...defaults, settings: required, ...values });
const fitsSetting = (name: string, value: unknown): boolean =>
  fits({ settings: { ...required, [name]: value } });

test('knows the values of values.yaml and no others', () => {
  const {
    global: _,
    enabled: __,
    ...known
  } = valuesJsonSchema()['properties'] as object & {
    readonly global: unknown;
    readonly enabled: unknown;
  };
  expect(Object.keys(defaults).toSorted()).toEqual(Object.keys(known).toSorted());
  expect(fits({})).toBe(true);
  expect(fits({ settings: {} })).toBe(false);
});

test.each(options)('has $variable where it belongs: a setting, a secret, or said by the chart', (option) => {
  const name = PREFIX + option.variable;
  interface Place {
    readonly properties: Readonly<Record<string, Place>>;
  }
  const { settings, secret } = (valuesJsonSchema() as unknown as Place).properties;
  expect(Object.hasOwn(secret?.properties['keys']?.properties ?? {}, name)).toBe(option.secret === true);
  expect(Object.hasOwn(settings?.properties ?? {}, name)).toBe(
    option.secret !== true && !SET_BY_CHART.has(option.variable),
  );
});

test.each([
  { livenessProbe: { httpGet: { port: 9847 } } },
  { settings: { ...required, PILOTLIGHT_DEPLOYMENT: '42' } },
  { settings: { ...required, PILOTLIGHT_API_KEY: 'a-key' } },
  { settings: { ...required, PILOTLIGHT_STATE_DIR: '/elsewhere' } },
  { secret: { name: 'pilotlight', keys: { PILOTLIGHT_API_KEY: 'api-key', PILOTLIGHT_LISTEN: 'x' } } },
  { image: { repository: 'pilotlight', digest: 'sha256:short' } },
  { networkPolicy: { enabled: 'yes' } },
  { proxy: { https_proxy: 'http://proxy:3128' } },
  { settings: { ...required, PILOTLIGHT_DEPLOYMENTS: '42@300' } },
  { settings: { ...required, PILOTLIGHT_DEPLOYMENTS: ['42@300s', 'abc'] } },
  { settings: { ...required, PILOTLIGHT_WORKER_GROUPS: ['chat'] } },
  { settings: { ...required, PILOTLIGHT_MACHINES: '11,m12' } },
])('refuses %j', (values) => {
  expect(fits(values)).toBe(false);
});

/** One value or more for each type, and what is none. */
const SAMPLES = [
  ...'true false yes auto all end off info json text stdout,file info1,debug nonsense!'.split(' '),
  ...'42 42@300s,43 name:square/blue@5m endpoint:chat,7 0 -1 1e3 12.50'.split(' '),
  ...'20s 500ms 1.5h 20 5d 64MiB 500KB MiB'.split(' '),
  ...'https://console.example.com http://collector:4318 tcp://app:8080 ftp://x console.example.com'.split(
    ' ',
  ),
  ...'0.0.0.0:9847 [::]:9847 :9847 9847 /var/log/lines a=b [] [{"endpoint_name":"chat"}] {"chat":1}'.split(
    ' ',
  ),
  '20 s',
  '64 MB',
  '*/5 * * * *',
];
/** Types that say more than a pattern can; the program itself says what is wrong then. */
const LOOSE = /list|JSON|cron|path|text|host:port|duration from/;

describe('each setting', () => {
  const settings = options.filter(({ secret, variable }) => !secret && !SET_BY_CHART.has(variable));

  test.each(settings)(
    '$variable may be in values whatever the program takes',
    ({ variable, type, fallback }) => {
      const right = [...SAMPLES, fallback ?? ''].filter(
        (sample) =>
          sample !== '' &&
          !type.parse(sample).problems.some(({ severity = 'error' }) => severity === 'error'),
      );
      expect(right).not.toEqual([]);
      expect(right.filter((sample) => !fitsSetting(PREFIX + variable, sample))).toEqual([]);
    },
  );

  test.each(settings.filter(({ type }) => !LOOSE.test(type.name)))(
    '$variable may not be what the program refuses',
    ({ variable, type }) => {
      const wrong = SAMPLES.filter((sample) => type.parse(sample).value === undefined);
      expect(wrong).not.toEqual([]);
      expect(wrong.filter((sample) => fitsSetting(PREFIX + variable, sample))).toEqual([]);
    },
  );

  test('may be a list, a number, a truth value or objects where YAML has them', () => {
    const right = {
      PILOTLIGHT_DEPLOYMENTS: ['42@300s', 43],
      PILOTLIGHT_WORKER_GROUPS: 7,
      PILOTLIGHT_FINAL_HEARTBEAT: false,
      PILOTLIGHT_LOG_FILE_MAX_FILES: 3,
      PILOTLIGHT_BUDGET_PER_HOUR: 12.5,
      PILOTLIGHT_ENDPOINT_GROUPS: [{ endpoint_name: 'chat' }],
    };
    for (const [name, value] of Object.entries(right))
      expect([name, fitsSetting(name, value)]).toEqual([name, true]);
    expect(fitsSetting('PILOTLIGHT_SHUTDOWN_TIMEOUT', 10)).toBe(false);
    expect(fitsSetting('PILOTLIGHT_LOG_FILE_MAX_FILES', 0)).toBe(false);
  });
});
