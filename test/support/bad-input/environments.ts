/** Environments and files over them, of which each variable has a right value, a wrong one, or none. */
import * as fc from '../fast-check.ts';
import { OPTIONS, OPTION_KEYS, PREFIX, type Option, type OptionKey } from '../../../src/config/options.ts';
import { damagedText } from './damage.ts';

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

export function exampleOf(key: OptionKey): string {
  const { fallback }: Option = OPTIONS[key];
  return EXAMPLES[key] ?? fallback ?? '';
}

export function valuesOf(key: OptionKey): fc.Arbitrary<string> {
  const example = exampleOf(key);
  return fc.oneof(
    { weight: 4, arbitrary: fc.constant(example) },
    { weight: 5, arbitrary: damagedText(example) },
    { weight: 1, arbitrary: fc.constantFrom(...OPTION_KEYS).map((other) => exampleOf(other)) },
    {
      weight: 1,
      arbitrary: fc.constantFrom(
        '',
        ' ',
        ',',
        ',,',
        '0',
        '-1',
        'NaN',
        '1e999',
        'null',
        '[]',
        '{}',
        '[[]]',
        '*',
      ),
    },
    {
      weight: 1,
      arbitrary: fc
        .constantFrom('9', ',', '[', '{"a":', '1,', '* ', '\u0000', '%')
        .map((each) => each.repeat(20_000)),
    },
    { weight: 1, arbitrary: fc.string({ unit: 'binary' }) },
  );
}

export function environments(keys: readonly OptionKey[] = OPTION_KEYS): fc.Arbitrary<Record<string, string>> {
  const entry = fc.constantFrom(...keys).chain((key) => {
    const name = PREFIX + OPTIONS[key].variable;
    const names = fc.oneof(
      { weight: 30, arbitrary: fc.constant(name) },
      { weight: 1, arbitrary: damagedText(name) },
    );
    return fc.tuple(names, valuesOf(key));
  });
  return fc.array(entry, { maxLength: 12 }).map((entries) => Object.fromEntries(entries));
}

export function environmentFiles(environment: fc.Arbitrary<Record<string, string>>): fc.Arbitrary<string> {
  const written = fc
    .tuple(environment, fc.constantFrom('bare', 'single', 'double', 'export'))
    .map(([named, how]) =>
      Object.entries(named)
        .map(([name, value]) => line(name, value, how))
        .join('\n'),
    );
  return fc.oneof(
    { weight: 3, arbitrary: written },
    { weight: 2, arbitrary: written.chain((text) => damagedText(text)) },
    { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 400 }) },
  );
}

function line(name: string, value: string, how: 'bare' | 'single' | 'double' | 'export'): string {
  switch (how) {
    case 'bare':
      return `${name}=${value}`;
    case 'single':
      return `${name}='${value}' # said so`;
    case 'double':
      return `${name}="${value.replaceAll(/["\\$`]/g, String.raw`\$&`)}"`;
    case 'export':
      return `  export ${name}=${value}\r`;
  }
}
