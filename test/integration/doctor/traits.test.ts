/** Doctor in services of every behaviour: what it finds is true, and what answers can tell it finds. */
import { describe, expect, test } from 'vitest';
import { examine, type Examination } from '../../../src/cli/doctor.ts';
import { ASSUMPTION_IDS, ASSUMPTIONS } from '../../../src/contract/assumptions.ts';
import {
  startEmulator,
  type DialectName,
  type Emulator,
  type TraitsInput,
  type Traits,
} from '../../../src/emulator/index.ts';
import { defaultTraits, THROTTLED_SHAPES, TRAITS } from '../../../src/emulator/state/settings.ts';
import { isLong } from '../../support/long.ts';
import { prefixed, settingsOf } from '../../support/settings.ts';

type Name = keyof Traits;

/** `tight` refuses the third question, `late` one of the last. */
const RATE_LIMITS = {
  off: 'off',
  evidence: { operations: 'evidence' },
  tight: { key: { size: 2, refill_per_second: 0.01 } },
  late: { key: { size: 9, refill_per_second: 0.01 } },
} as const satisfies Record<string, TraitsInput['rate_limit']>;

const VALUES: { readonly [N in Name]: readonly NonNullable<TraitsInput[N]>[] } = {
  rate_limit: Object.values(RATE_LIMITS),
  throttled_shape: Object.keys(THROTTLED_SHAPES) as (keyof typeof THROTTLED_SHAPES)[],
  instances_v0: ['answers', '410'],
  tail_unit: ['lines', 'bytes'],
  log_shape: ['text', 'levels'],
  log_file_bytes: ['unlimited', 16_384],
  expired_deployment: ['as_unknown', 'own_words'],
  put_endpoint: ['keeps', 'resets'],
  load_meaning: ['rate', 'in_flight', 'mixed'],
  status_flicker: [0, 0.3],
  cold_at_max: ['settles', 'flaps'],
  tfa_key: ['taken', 'refused'],
};
const NAMES = Object.keys(TRAITS) as Name[];

function worldsOf(name: Name): TraitsInput[] {
  return VALUES[name].map((value) => ({ [name]: value }));
}

const SINGLE: readonly TraitsInput[] = NAMES.flatMap(worldsOf);
const PAIRS: readonly TraitsInput[] = NAMES.flatMap((one, index) =>
  NAMES.slice(index + 1).flatMap((other) =>
    worldsOf(one).flatMap((first) => worldsOf(other).map((second) => Object.assign({}, first, second))),
  ),
);

const EXPIRED = 44;
const SEED = {
  deployments: [
    { id: 42, name: 'square', ttl: 300 },
    { id: EXPIRED, ttl: 60, last_heartbeat_ago: 100 },
  ],
  workergroups: [{ id: 7, endpoint_id: 31, lines_per_second: 5, history_seconds: 60 }],
};

function examined(emulator: Emulator, more: Readonly<Record<string, string>> = {}): Promise<Examination> {
  const service = { BASE_URL: emulator.url, API_KEY: emulator.apiKey };
  const watched = { DEPLOYMENTS: '42', ENDPOINTS: 'chat', WORKER_GROUPS: '', STATE_DIR: '/tmp' };
  return examine({
    settings: settingsOf(prefixed({ ...service, ...watched, ...more })),
    daemon: undefined,
    deployment: EXPIRED,
    signal: new AbortController().signal,
    sleep: (ms) => emulator.clock.advance(ms),
    announce: () => {},
  });
}

function valuesIn({ lines }: Examination): Readonly<Record<string, string | undefined>> {
  return Object.fromEntries(
    lines.filter(({ about }) => about in ASSUMPTIONS).map(({ about, value }) => [about, value]),
  );
}

/** What answers can tell of such a service. A refusal with 429 ends the questions, so what comes after it may stay open. */
function truthOf(traits: TraitsInput) {
  const all = { ...defaultTraits('public'), ...traits };
  const { hasHeaders } = THROTTLED_SHAPES[all.throttled_shape];
  const isThrottled = traits.rate_limit === RATE_LIMITS.tight || traits.rate_limit === RATE_LIMITS.late;
  const isRefused = all.tfa_key === 'refused';
  // The one question of a refused key has no bucket of its own.
  const isLimited = isThrottled || (traits.rate_limit === RATE_LIMITS.evidence && !isRefused);
  const rate_limit = isThrottled && !isRefused ? 'refused' : isLimited && hasHeaders ? 'shown' : 'unseen';
  return {
    isOpen: isRefused || isThrottled,
    values: {
      rate_limit,
      throttled_shape: rate_limit === 'refused' ? all.throttled_shape : undefined,
      instances_v0: all.instances_v0,
      instances_v1: 'answers',
      deployments_list: 'answers',
      deployment_ttl: 'seconds',
      expired_deployment: all.expired_deployment === 'own_words' ? 'own_words' : undefined,
      tail_unit: all.tail_unit,
      log_shape: all.log_shape,
      log_file_bytes: undefined,
      put_endpoint: undefined,
      tfa_key: all.tfa_key,
      spend: 'answers',
      // Workers show these over time, to a daemon.
      load_meaning: undefined,
      status_flicker: undefined,
      cold_at_max: undefined,
    },
  };
}

async function expectTrue(traits: TraitsInput): Promise<void> {
  await using emulator = await startEmulator({ dialect: 'public', clock: 'frozen', seed: SEED, traits });
  const examination = await examined(emulator);
  const found = valuesIn(examination);
  const { values, isOpen } = truthOf(traits);
  const { rate_limit, throttled_shape, tfa_key } = values;
  const sure = { rate_limit, tfa_key, ...(throttled_shape !== undefined && { throttled_shape }) };
  const known = Object.fromEntries(Object.entries(found).filter(([, value]) => value !== undefined));
  expect(values).toMatchObject(known);
  expect(found).toMatchObject(isOpen ? sure : values);
  for (const { about, value, verdict, says } of examination.lines)
    if (value !== undefined)
      expect({ verdict, says }).toEqual(
        (ASSUMPTIONS as Record<string, { outcomes: Record<string, unknown> }>)[about]?.outcomes[value],
      );
  // A 429 ends it, and nothing is written but the heartbeat.
  const codes = examination.exchanges.map(({ code }) => code);
  expect(codes.filter((code) => code === '429')).toEqual(rate_limit === 'refused' ? ['429'] : []);
  if (rate_limit === 'refused') expect(codes.at(-1)).toBe('429');
  const writes = emulator.journal
    .entries()
    .filter(({ method, path }) => method !== 'GET' && !path.includes('_logs'))
    .map(({ path }) => path);
  expect(writes.filter((path) => !path.includes('/heartbeat'))).toEqual([]);
  if (tfa_key === 'refused') expect(examination.exit).toBe(4);
}

/** All in a long run. */
const EVERY = isLong ? 1 : 15;

describe('what doctor finds is so, and it finds what answers can tell', () => {
  test.each(SINGLE.map((traits) => [JSON.stringify(traits), traits] as const))('in %s', (_, traits) =>
    expectTrue(traits),
  );
  const pairs = PAIRS.filter((_, index) => index % EVERY === 0);
  test(`in ${pairs.length} of ${PAIRS.length} pairs`, async () => {
    for (const traits of pairs)
      await expectTrue(traits).catch((error: unknown) => {
        throw new Error(`in ${JSON.stringify(traits)}`, { cause: error });
      });
  });
});

test.each<[DialectName, Readonly<Record<string, string>>]>([
  [
    'public',
    { instances_v1: 'answers', deployments_list: 'answers', deployment_ttl: 'seconds', spend: 'answers' },
  ],
  ['spec', { instances_v1: 'unknown', deployments_list: 'unknown', spend: 'unknown', tail_unit: 'lines' }],
])('the dialect %s is told by its answers', async (dialect, values) => {
  await using emulator = await startEmulator({ dialect, clock: 'frozen', seed: SEED });
  const found = valuesIn(await examined(emulator, { WORKER_GROUPS: '7' }));
  expect(found).toMatchObject(values);
});

test('each trait of the emulator has its assumption, and the other way about', () => {
  // What the dialects tell differently, above.
  const others = ['instances_v1', 'deployments_list', 'deployment_ttl', 'spend'];
  expect(ASSUMPTION_IDS.toSorted()).toEqual([...Object.keys(TRAITS), ...others].toSorted());
});
