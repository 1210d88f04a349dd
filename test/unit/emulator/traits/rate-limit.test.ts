/** The rate limit of a key: over a real socket, on a clock that stands still, and what its numbers may be. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { startEmulator, type Emulator, type TraitsInput } from '../../../../src/emulator/index.ts';
import { count, refilled, tightest, type Counting } from '../../../../src/emulator/rate-limit.ts';
import type { BucketTrait, TokenBucket } from '../../../../src/emulator/state/settings.ts';
import * as fc from '../../../support/fast-check.ts';

const NOON = Date.UTC(2026, 5, 1, 12);
const NOON_S = NOON / 1000;
const FIVE_IN_TEN = { size: 5, refill_per_second: 0.5 };

let emulator: Emulator;
beforeEach(async () => {
  emulator = await startEmulator({ dialect: 'public', clock: { frozenAtMs: NOON } });
});
afterEach(() => emulator.close());

function limit(
  rate_limit: NonNullable<TraitsInput['rate_limit']>,
  shape: TraitsInput['throttled_shape'] = 'json',
) {
  emulator.traits.set({ rate_limit, throttled_shape: shape });
}

async function ask(request: string, key: string | null = emulator.apiKey, body?: object) {
  const [method = '', path = ''] = request.split(' ');
  const answer = await fetch(emulator.url + path, {
    method,
    ...(key !== null && { headers: { authorization: `Bearer ${key}` } }),
    ...(body && { body: JSON.stringify(body) }),
  });
  const { status, headers } = answer;
  const shown = ['limit', 'remaining', 'reset'].map((name) => headers.get(`x-ratelimit-${name}`));
  return {
    status,
    rate: shown.every((value) => value === null) ? null : shown.map(Number),
    retryAfter: headers.get('retry-after'),
    reason: headers.get('x-emulator-reason'),
    type: headers.get('content-type'),
    text: await answer.text(),
  };
}

async function statuses(...requests: readonly string[]): Promise<number[]> {
  const all: number[] = [];
  for (const request of requests) all.push((await ask(request)).status);
  return all;
}

const BEAT = 'POST /api/v0/deployment/42/heartbeat';
const OTHER_BEAT = 'POST /api/v0/deployment/43/heartbeat/';
const LIST = 'GET /api/v0/deployments';
const USER = 'GET /api/v0/users/current/';
const LOGS = 'POST /get_workergroup_logs/';

describe('the bucket of a key', () => {
  test('is shared by all operations at both addresses, and every answer shows it', async () => {
    limit({ key: FIVE_IN_TEN });
    const rates = [];
    for (const request of [BEAT, OTHER_BEAT, LIST, USER]) rates.push((await ask(request)).rate);
    rates.push((await ask(LOGS, emulator.apiKey, { id: 7 })).rate);
    expect(rates).toEqual([
      [5, 4, NOON_S],
      [5, 3, NOON_S],
      [5, 2, NOON_S],
      [5, 1, NOON_S],
      [5, 0, NOON_S + 2],
    ]);
    expect(await ask(BEAT)).toMatchObject({ status: 429, rate: [5, 0, NOON_S + 2], retryAfter: '2' });
    await emulator.clock.advance(1_999);
    expect(await statuses(BEAT)).toEqual([429]);
    await emulator.clock.advance(1);
    expect(await statuses(BEAT, BEAT)).toEqual([200, 429]);
  });

  test('counts refusals of other kinds, unknown paths too, and shows itself on them', async () => {
    limit({ key: { ...FIVE_IN_TEN, size: 2 } });
    const unknown = await ask('POST /api/v0/deployment/999/heartbeat');
    expect(unknown).toMatchObject({ status: 404, rate: [2, 1, NOON_S] });
    expect(await ask('GET /api/v0/nothing')).toMatchObject({ status: 404, rate: [2, 0, NOON_S + 2] });
    expect(await statuses(BEAT)).toEqual([429]);
  });

  test('is that of this key alone; without a valid one there is none', async () => {
    emulator.apiKeys.add({ name: 'second', key: 'second-key' });
    limit({ key: { ...FIVE_IN_TEN, size: 1 } });
    expect((await ask(USER)).status).toBe(200);
    expect((await ask(USER, 'second-key')).status).toBe(200);
    expect((await ask(USER, 'second-key')).status).toBe(429);
    for (const key of [null, 'unknown-key'])
      for (const status of [(await ask(USER, key)).status, (await ask(USER, key)).status])
        expect([401, 403]).toContain(status);
    expect((await ask(`${USER}?api_key=${emulator.apiKey}`, null)).status).toBe(429);
  });

  test('leaves out the serverless address where that is free', async () => {
    limit({ key: { ...FIVE_IN_TEN, size: 1 }, serverless: 'free' });
    for (let round = 0; round < 3; round += 1)
      expect(await ask(LOGS, emulator.apiKey, { id: 7 })).toMatchObject({ status: 200, rate: null });
    expect(await statuses(BEAT, BEAT)).toEqual([200, 429]);
  });

  test('rounds a wait up to whole seconds, from the time of the answer', async () => {
    limit({ key: { size: 1, refill_per_second: 0.4 } });
    await statuses(BEAT);
    await emulator.clock.advance(400);
    expect(await ask(BEAT)).toMatchObject({ retryAfter: '3', rate: [1, 0, NOON_S + 3] });
    await emulator.clock.advance(2_000);
    expect(await ask(BEAT)).toMatchObject({ retryAfter: '1', rate: [1, 0, NOON_S + 3] });
  });

  test('refuses before anything happens: no heartbeat is counted, nothing is made, the journal has the 429', async () => {
    limit({ key: { ...FIVE_IN_TEN, size: 1 } });
    await statuses(USER);
    const offer = { image: 'vllm/vllm-openai', disk: 20 };
    const before = emulator.instances.list().length;
    expect((await ask('PUT /api/v0/asks/3001/', emulator.apiKey, offer)).status).toBe(429);
    expect(await statuses(BEAT)).toEqual([429]);
    expect(emulator.deployments.get(42).beats).toBe(0);
    expect(emulator.instances.list().length).toBe(before);
    expect(emulator.journal.entries().map(({ status }) => status)).toEqual([200, 429, 429]);
  });

  test('never limits the admin API', async () => {
    limit({ key: { ...FIVE_IN_TEN, size: 1 } });
    for (let round = 0; round < 3; round += 1)
      expect(await ask('GET /_emulator/health')).toMatchObject({ status: 200, rate: null });
    expect(await statuses(BEAT)).toEqual([200]);
  });

  test('is asked after faults: a request that a fault answers costs nothing', async () => {
    limit({ key: { ...FIVE_IN_TEN, size: 1 } });
    await emulator.faults.add({ kind: 'status', status: 503, times: 2 });
    expect(await statuses(BEAT, BEAT, BEAT, BEAT)).toEqual([503, 503, 200, 429]);
  });
});

describe('the buckets of operations', () => {
  test('hold one request in the spacing of the contract, for all deployments of a key together', async () => {
    limit({ operations: 'evidence' });
    expect(await statuses(BEAT, OTHER_BEAT, LIST, LIST, USER, USER)).toEqual([200, 429, 200, 429, 200, 200]);
    expect(await ask(BEAT)).toMatchObject({ retryAfter: '2', rate: [1, 0, NOON_S + 2] });
    expect(await ask(USER)).toMatchObject({ rate: null });
    await emulator.clock.advance(2_000);
    expect(await statuses(BEAT, LIST)).toEqual([200, 200]);
  });

  test('count an older address of an operation for itself, with its own spacing', async () => {
    limit({ operations: 'evidence' });
    const group = { endpoint_name: 'chat', template_hash: 'x' };
    const make = async (path: string) => (await ask(`POST ${path}`, emulator.apiKey, group)).retryAfter;
    expect([await make('/api/v0/workergroups/'), await make('/api/v0/autojobs/')]).toEqual([null, null]);
    expect([await make('/api/v0/workergroups/'), await make('/api/v0/autojobs/')]).toEqual(['2', '4']);
    const windows = 'GET /api/v0/machines/maintenances?owner=me';
    expect((await ask(windows)).retryAfter).toBeNull();
    expect((await ask(windows)).retryAfter).toBe('2');
  });

  test('can be larger, or slower, or of all operations alike', async () => {
    limit({ operations: { size: 2 } });
    expect(await statuses(BEAT, BEAT, BEAT, USER, USER, USER)).toEqual([200, 200, 429, 200, 200, 200]);
    limit({ operations: { refill_per_second: 0.1 } });
    expect(await statuses(BEAT, BEAT, USER, USER)).toEqual([200, 429, 200, 429]);
    expect((await ask(USER)).retryAfter).toBe('10');
    limit({ operations: { penalty: 1, debt_cap: 1 } });
    expect(await statuses(BEAT)).toEqual([200]);
    expect((await ask(BEAT)).retryAfter).toBe('4');
  });

  test('are refused beside the key: a request beyond one of them takes nothing from the other', async () => {
    limit({ key: { size: 3, refill_per_second: 0.1 }, operations: 'evidence' });
    expect(await statuses(BEAT, BEAT, BEAT)).toEqual([200, 429, 429]);
    const by = (bucket: string) => expect.stringContaining(`rate_limit.${bucket}`) as string;
    expect(await ask(BEAT)).toMatchObject({ rate: [1, 0, NOON_S + 2], reason: by('operations') });
    expect(await ask(LIST)).toMatchObject({ status: 200, rate: [1, 0, NOON_S + 2] });
    expect(await ask(USER)).toMatchObject({ status: 200, rate: [3, 0, NOON_S + 10] });
    await emulator.clock.advance(2_000);
    expect(await ask(BEAT)).toMatchObject({ status: 429, rate: [3, 0, NOON_S + 10], reason: by('key') });
  });

  test('are local to each server process, in turn; that of the key is shared', async () => {
    limit({ key: { size: 5, refill_per_second: 0.5 }, operations: 'evidence', processes: 3 });
    expect(await statuses(BEAT, BEAT, BEAT, BEAT, BEAT, BEAT)).toEqual([200, 200, 200, 429, 429, 429]);
    expect((await ask(USER)).rate).toEqual([5, 1, NOON_S]);
  });
});

describe('a 429', () => {
  const WORDS = 'API requests too frequent';
  const JSON_BODY = { error: 'HTTPTooManyRequests', msg: WORDS, retry_after: 4, limit: 2, remaining: 0 };

  test.each([
    ['json', 'application/json', JSON.stringify(JSON_BODY)],
    ['plain', 'text/plain; charset=utf-8', WORDS],
    ['detail', 'application/json', `{"detail":"${WORDS} endpoint threshold=4.0"}`],
    ['error', 'application/json', `{"success":false,"error":"rate_limited","msg":"${WORDS}"}`],
  ] as const)('of the shape %s, with and without headers', async (shape, type, text) => {
    const other = shape === 'json' ? 'json_without_headers' : (`${shape}_with_headers` as const);
    for (const name of [shape, other] as const) {
      const hasHeaders = name === 'json' || name.endsWith('_with_headers');
      limit({ key: { size: 2, refill_per_second: 0.25 } }, name);
      expect(await ask(BEAT)).toMatchObject({
        status: 200,
        rate: hasHeaders ? [2, 1, NOON_S] : null,
        retryAfter: null,
      });
      await ask(BEAT);
      expect(await ask(BEAT)).toEqual({
        status: 429,
        rate: hasHeaders ? [2, 0, NOON_S + 4] : null,
        retryAfter: hasHeaders ? '4' : null,
        reason: 'trait rate_limit.key: a bucket of 2 that gets a token every 4 s is empty; it has one in 4 s',
        type,
        text,
      });
    }
  });

  test('in the spec dialect is the error body of the interface', async () => {
    await emulator.close();
    const rate_limit = { key: { size: 1, refill_per_second: 1 } };
    emulator = await startEmulator({ traits: { rate_limit }, clock: { frozenAtMs: NOON } });
    await ask(USER);
    const user = await ask(USER);
    expect([user.status, JSON.parse(user.text)]).toEqual([429, { error: 'rate_limited', msg: WORDS }]);
    const logs = await ask(LOGS, emulator.apiKey, { id: 7, tail: 1, api_key: emulator.apiKey });
    expect([logs.status, JSON.parse(logs.text)]).toEqual([429, { error_msg: WORDS }]);
  });
});

describe('the tokens of a bucket', () => {
  const counting = (rule: BucketTrait, bucket: TokenBucket): Counting => ({
    part: 'key',
    name: 'key',
    rule,
    bucket,
  });

  test.each([
    // It is never fuller than its size, and refills nothing if the clock goes back.
    [{ penalty: 0 }, [0, 1_000, 1_000, 1_000], ['1', '1', '0', 'x 0']],
    [{ penalty: 0, size: 1 }, [100, 40, 42], ['0', 'x 0', '0']],
    // A refused request costs its penalty, down to the cap.
    [{ penalty: 1 }, [0, 0, 0, 0, 0, 1, 3, 9], ['1', '0', 'x -1', 'x -2', 'x -2', 'x -2', 'x -2', '0']],
    [{ penalty: 1, debt_cap: 0 }, [0, 0, 0, 0, 1, 3, 9], ['1', '0', 'x 0', 'x 0', 'x 0', '0', '1']],
    [{ penalty: 0, debt_cap: 4 }, [0, 0, 0, 1, 3], ['1', '0', 'x 0', 'x 0.5', '0.5']],
    [
      { penalty: 1.5, debt_cap: 4 },
      [0, 0, 0, 0, 0, 1, 9],
      ['1', '0', 'x -1.5', 'x -3', 'x -4', 'x -4', 'x -1.5'],
    ],
  ])('with %j at the seconds %j leave %j', (changes, seconds, left) => {
    const rule = { size: 2, refill_per_second: 0.5, ...changes };
    let bucket: TokenBucket | undefined;
    const seen = seconds.map((second) => {
      const { isAllowed, after } = count([counting(rule, refilled(bucket, rule, second * 1000))]);
      bucket = after[0]?.bucket;
      return `${isAllowed ? '' : 'x '}${bucket?.tokens}`;
    });
    expect(seen).toEqual(left);
  });

  test('reach one after exactly the wait that is shown, whatever the numbers', () => {
    const numbers = fc.record({
      size: fc.double({ min: 1, max: 20, noNaN: true }),
      refill_per_second: fc.double({ min: 0.01, max: 20, noNaN: true }),
      penalty: fc.double({ min: 0, max: 5, noNaN: true }),
      debt_cap: fc.double({ min: 0, max: 20, noNaN: true }),
    });
    const visits = fc.array(fc.integer({ min: 0, max: 3_000 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(numbers, visits, (rule, gaps) => {
        let bucket = refilled(undefined, rule, 0);
        const visit = (ms: number) => count([counting(rule, refilled(bucket, rule, bucket.atMs + ms))]);
        for (const gap of gaps) {
          bucket = visit(gap).after[0]?.bucket ?? bucket;
          expect(bucket.tokens).toBeGreaterThanOrEqual(-rule.debt_cap - 1e-6);
          expect(bucket.tokens).toBeLessThanOrEqual(rule.size);
        }
        const waitMs = tightest([counting(rule, bucket)])?.waitMs ?? 0;
        expect(visit(waitMs + 0.01).isAllowed).toBe(true);
        if (waitMs > 0.01) expect(visit(waitMs - 0.01).isAllowed).toBe(false);
      }),
    );
  });

  test('of a full bucket are not charged for a refusal by an empty one', () => {
    const rule = { size: 5, refill_per_second: 0.5, penalty: 1 };
    const left = (...tokens: number[]) =>
      count(tokens.map((one) => counting(rule, { tokens: one, atMs: 0 }))).after.map(
        ({ bucket }) => bucket.tokens,
      );
    expect([left(3, 1), left(3, 0), left(-1, 0.5)]).toEqual([
      [2, 0],
      [3, -1],
      [-2, -0.5],
    ]);
  });

  test('are shown of the bucket with the fewest whole ones, else of the longest wait', () => {
    const shown = (...buckets: readonly [tokens: number, size: number, refill: number][]) =>
      tightest(
        buckets.map(([tokens, size, refill]) =>
          counting({ size, refill_per_second: refill, penalty: 0 }, { tokens, atMs: 0 }),
        ),
      );
    expect(shown([3.5, 5, 0.5], [1, 1, 0.05])).toMatchObject({ limit: 1, remaining: 1, waitMs: 0 });
    expect(shown([0, 5, 0.5], [0.5, 1, 0.05])).toMatchObject({ limit: 1, remaining: 0 });
    expect(shown([-3, 5, 0.5], [0.9, 1, 0.05])).toMatchObject({
      limit: 5,
      remaining: 0,
      waitMs: expect.closeTo(8_000, 3) as number,
      thresholdSeconds: 2,
    });
  });
});
