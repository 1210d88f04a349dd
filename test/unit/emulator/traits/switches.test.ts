/** How traits are given, looked at, switched and kept. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { readTraitsFile, startEmulator, type Emulator } from '../../../../src/emulator/index.ts';
import { readTraits } from '../../../../src/emulator/seed/seed.ts';
import { THROTTLED_SHAPES, TRAITS, defaultTraits } from '../../../../src/emulator/state/settings.ts';
import { createClient } from '../../../../src/client/client.ts';
import { type ApiError, explainError } from '../../../../src/client/errors.ts';
import { ask, startPublic } from '../../../support/public-client.ts';
import { temporaryFolder } from '../../../support/temporary-folder.ts';

const KEY = { size: 2, refill_per_second: 0.5 };
const KEY_READ = { ...KEY, penalty: 0 };
const LIMIT_READ = { key: KEY_READ, processes: 1, serverless: 'counted' };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ clock: { frozenAtMs: Date.UTC(2026, 5, 1, 12) } });
});
afterEach(() => emulator.close());

async function admin(method: string, path: string, body?: unknown) {
  const answer = await ask(emulator, [method, `/_emulator${path}`], body);
  return { status: answer.status, body: answer.body };
}

async function statuses(count: number, of = emulator): Promise<number[]> {
  const all: number[] = [];
  while (all.length < count) all.push((await ask(of, ['GET', '/api/v0/users/current/'])).status);
  return all;
}

describe('at the start', () => {
  test('they are as the dialect has them, and none limits anything', async () => {
    const spec = { ...defaultTraits('spec'), rate_limit: 'off', throttled_shape: 'error' };
    expect(await admin('GET', '/traits')).toEqual({ status: 200, body: spec });
    await using other = await startEmulator({ dialect: 'public' });
    expect(other.traits.get()).toMatchObject({ rate_limit: 'off', throttled_shape: 'json' });
    expect(new Set(await statuses(20))).toEqual(new Set([200]));
  });

  test('each default is one of the values', () => {
    for (const dialect of ['spec', 'public'] as const) {
      const traits = defaultTraits(dialect);
      expect(readTraits(traits)).toEqual(traits);
      expect(Object.keys(traits)).toEqual(Object.keys(TRAITS));
    }
    for (const shape of Object.keys(THROTTLED_SHAPES)) readTraits({ throttled_shape: shape });
  });

  test('some can be given, with the defaults inside of them', async () => {
    await using other = await startEmulator({ traits: { rate_limit: { key: KEY } } });
    expect(other.traits.get()).toEqual({ ...defaultTraits('spec'), rate_limit: LIMIT_READ });
    const absent = { rate_limit: undefined } as unknown as object;
    await using same = await startEmulator({ traits: absent });
    expect(same.traits.get()).toEqual(defaultTraits('spec'));
  });

  test('come from a file too', async () => {
    using folder = temporaryFolder();
    const file = (name: string) => join(folder.path, name);
    await writeFile(file('traits.json'), '{"throttled_shape":"plain"}');
    await writeFile(file('broken'), '{');
    expect(await readTraitsFile(file('traits.json'))).toEqual({ throttled_shape: 'plain' });
    await expect(readTraitsFile(file('broken'))).rejects.toMatchObject({
      code: 'invalid_traits',
      message: expect.stringContaining('broken: not JSON: ') as string,
    });
    await expect(readTraitsFile(file('none'))).rejects.toMatchObject({
      code: 'invalid_traits',
      message: expect.stringContaining('ENOENT') as string,
    });
  });
});

describe('switched', () => {
  test('by PUT or POST, those that are named change, and all are answered', async () => {
    const changed = { ...defaultTraits('spec'), throttled_shape: 'detail' } as const;
    const put = await admin('PUT', '/traits', { throttled_shape: 'detail' });
    expect(put).toEqual({ status: 200, body: changed });
    const both = { ...changed, rate_limit: LIMIT_READ };
    expect(await admin('POST', '/traits', { rate_limit: { key: KEY } })).toEqual({ status: 200, body: both });
    expect((await admin('PUT', '/traits', both)).body).toEqual(both);
    expect(emulator.traits.get()).toEqual(both);
    expect(emulator.traits.set({ rate_limit: 'off' })).toEqual(changed);
  });

  test('to another rate limit, which begins with full buckets; another shape leaves them', async () => {
    emulator.traits.set({ rate_limit: { key: KEY } });
    expect(await statuses(3)).toEqual([200, 200, 429]);
    emulator.traits.set({ throttled_shape: 'json' });
    expect(await statuses(1)).toEqual([429]);
    emulator.traits.set({ rate_limit: { key: KEY } });
    expect(await statuses(1)).toEqual([200]);
  });

  test('to what nothing takes: all problems at once, and nothing changes', async () => {
    const wrong = {
      rate_limit: { key: { size: 0, penalty: -1 }, operations: 'all', processes: 1.5, serverles: 'free' },
      throttled_shape: 'xml',
      log_file_bytes: 'few',
      tail: 7,
    };
    const problems = [
      ['rate_limit.key.size', 'Too small: expected number to be >=1 (got 0)'],
      ['rate_limit.key.refill_per_second', 'is missing'],
      ['rate_limit.key.penalty', 'Too small: expected number to be >=0 (got -1)'],
      [
        'rate_limit.operations',
        'allowed: "evidence", or an object of size, refill_per_second, penalty, debt_cap (got "all")',
      ],
      ['rate_limit.processes', 'Invalid input: expected int, received number (got 1.5)'],
      ['rate_limit', 'unknown field serverles; allowed: key, operations, processes, serverless'],
      [
        'throttled_shape',
        `Invalid option: expected one of ${Object.keys(THROTTLED_SHAPES)
          .map((shape) => `"${shape}"`)
          .join('|')} (got "xml")`,
      ],
      ['log_file_bytes', 'allowed: "unlimited", or a size in bytes from 1 (got "few")'],
      ['traits', `unknown field tail; allowed: ${Object.keys(TRAITS).join(', ')}`],
    ];
    const msg = problems.map(([field, message]) => `${field}: ${message}`).join('; ');
    const answer = await admin('PUT', '/traits', wrong);
    expect(answer).toMatchObject({ status: 400, body: { error: 'bad_request', msg } });
    expect(answer.body['problems']).toContainEqual({
      field: 'rate_limit.key.refill_per_second',
      message: 'is missing',
    });
    expect(emulator.traits.get()).toEqual(defaultTraits('spec'));
    const started = startEmulator({ traits: wrong as object });
    await expect(started).rejects.toMatchObject({ code: 'invalid_traits', message: msg });
  });

  const allowed = 'rate_limit: allowed: "off", or an object of key, operations, processes, serverless';
  test.each([
    [{ rate_limit: 'on' }, `${allowed} (got "on")`],
    [{ rate_limit: [1] }, allowed],
    [{ rate_limit: null }, allowed],
    [{ rate_limit: {} }, 'rate_limit: limits nothing: give key, operations, or both'],
    [
      { rate_limit: { operations: { refill_per_second: 0 } } },
      'rate_limit.operations.refill_per_second: Too small: expected number to be >0 (got 0)',
    ],
    ['off', 'traits: Invalid input: expected object, received string (got "off")'],
  ])('%j: %s', (traits, message) => {
    expect(() => readTraits(traits)).toThrow(message);
  });
});

describe('kept', () => {
  const limited = { rate_limit: { key: KEY } } as const;

  test('a reset has the traits of the start, and full buckets', async () => {
    await using other = await startEmulator({ traits: limited });
    expect(await statuses(3, other)).toEqual([200, 200, 429]);
    await other.reset();
    expect(await statuses(3, other)).toEqual([200, 200, 429]);
    other.traits.set({ rate_limit: 'off' });
    await other.reset();
    expect(other.traits.get()).toMatchObject({ rate_limit: LIMIT_READ });
  });

  test('a snapshot has traits and buckets, as often as it is restored', async () => {
    emulator.traits.set(limited);
    expect(await statuses(1)).toEqual([200]);
    const snapshot = emulator.snapshot();
    for (let round = 0; round < 2; round += 1) {
      expect(await statuses(2)).toEqual([200, 429]);
      emulator.traits.set({ rate_limit: 'off' });
      emulator.restore(snapshot);
      expect(emulator.traits.get()).toMatchObject({ rate_limit: LIMIT_READ });
    }
  });
});

describe('in the public dialect', () => {
  test.each([
    ['as_unknown', 'Deployment 42 not found.'],
    ['own_words', 'Deployment 42 has expired.'],
  ] as const)('expired_deployment %s says: %s', async (expired, says) => {
    await using service = await startPublic({ traits: { expired_deployment: expired } });
    await service.emulator.clock.advance(3_600_000);
    const told = { status: 404, body: { msg: says } };
    expect(await service.send('POST', '/api/v0/deployment/42/heartbeat/')).toMatchObject(told);
    expect(await service.send('GET', '/api/v0/deployment/42/')).toMatchObject(told);
  });

  test.each([
    ['keeps', { endpoint_name: 'chat', max_workers: 7, min_load: 1500 }],
    ['resets', { endpoint_name: 'chat', max_workers: 7, min_load: 0 }],
  ] as const)('put_endpoint %s what is left out', async (put, parameters) => {
    await using service = await startPublic({ traits: { put_endpoint: put } });
    await service.send('PUT', '/api/v0/endptjobs/31/', { max_workers: 7 });
    const { body } = await service.send('GET', '/api/v0/endptjobs/31/');
    expect(body['result']).toMatchObject(parameters);
  });

  test('tfa_key refuses reads with a key that no 2FA session made, and our client says what to do', async () => {
    await using service = await startPublic({ traits: { tfa_key: 'refused' } });
    const { url, apiKey, totp } = service.emulator;
    await using client = createClient({ baseUrl: url, apiKey });
    const error: unknown = await client.deployments.list({}).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ status: 401, meaning: 'unauthorized' });
    expect(explainError(error as ApiError)).toContain('create a new key there');
    await client.offers.search({});
    const { session_key: session } = await client.tfa.login({ tfa_method: 'totp', code: totp(1) });
    const { key } = await client.apiKeys.create({ name: 'new' }, { apiKey: session ?? '' });
    expect(await service.send('GET', '/api/v0/deployments/', undefined, key)).toMatchObject({ status: 200 });
  });
});
