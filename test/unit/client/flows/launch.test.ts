/** A launch over a transport that answers as a test says. */
import { spawnSync } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { fitOnstart, launchInstance, type LaunchOptions } from '../../../../src/client/flows/launch.ts';
import type { Exchange } from '../../../../src/client/transport/transport.ts';
import { LIMITS } from '../../../../src/contract/limits.ts';
import type { WireResponse } from '../../../../src/wire/response.ts';
import { answer, AnsweringTransport, never } from '../../../support/answering-transport.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

type Answer = WireResponse | Error | typeof never;
const RENTED = answer(200, { new_contract: 505 });
const LOOK = 'GET /api/v1/instances/';
const DONE = answer(200, { success: true });
const is = (status: string | null) =>
  answer(200, {
    instances: [
      { id: 504, actual_status: 'running' },
      { id: 505, actual_status: status },
    ],
  });
const no = (status: number, code: string) => answer(status, { success: false, error: code, msg: `${code}.` });

/** By method: one after the other, the last one stays. */
function service(answers: Readonly<Record<string, readonly Answer[]>>) {
  const left = new Map(Object.entries(answers).map(([method, all]) => [method, [...all]]));
  return new AnsweringTransport((exchange: Exchange) => {
    const all = left.get(exchange.method) ?? [];
    const [next = DONE] = all.length > 1 ? all.splice(0, 1) : all;
    if (next instanceof Error) throw next;
    return typeof next === 'function' ? next(exchange) : next;
  });
}

async function launch(transport: AnsweringTransport, options: Partial<LaunchOptions> = {}) {
  const client = transport.client({ retry: { attempts: 1, baseMs: 0, maxMs: 0 } });
  const steps: unknown[] = [];
  const launching = launchInstance(client, {
    offers: [1, 2],
    request: { image: 'a', disk: 1 },
    onProgress: (step) => steps.push(step),
    ...options,
  });
  const outcome = launching.then(
    (launched) => ({ launched, error: undefined }),
    (error: unknown) => ({ launched: undefined, error }),
  );
  await vi.advanceTimersByTimeAsync(60_000);
  return { ...(await outcome), steps };
}

test('each status is told once, five seconds lie between two looks, and what is not said is as it was', async () => {
  const transport = service({
    PUT: [RENTED],
    GET: [is(null), is('loading'), is('Loading'), answer(503, ''), is('Running')],
  });
  const { launched, steps } = await launch(transport);
  expect(launched).toEqual({ instanceId: 505, offerId: 1, givenUp: [] });
  expect(steps).toEqual([
    { step: 'rented', offerId: 1, instanceId: 505 },
    { step: 'status', instanceId: 505, status: 'created' },
    { step: 'status', instanceId: 505, status: 'loading' },
    { step: 'status', instanceId: 505, status: 'running' },
  ]);
  expect(transport.calls).toEqual(['PUT /api/v0/asks/1/', ...Array(5).fill(LOOK)]);
});

test('it may take as long as it wants, without a limit that timers can count; env may be flags', async () => {
  const transport = service({ PUT: [RENTED], GET: [is('loading'), is('running')] });
  const request = { image: 'a', disk: 1, env: '-e A=1 -p 80:80' };
  const { launched } = await launch(transport, { timeoutMs: Infinity, request });
  expect(launched).toMatchObject({ instanceId: 505, givenUp: [] });
  expect(transport.sent[0]).toMatchObject({ env: { A: '1', '-p 80:80': '1' } });
});

describe('an offer', () => {
  test.each([
    [404, 'no_such_ask'],
    [410, 'no_such_ask'],
  ])('that is gone (%i) is passed over, and told', async (status, code) => {
    const { launched, steps } = await launch(
      service({ PUT: [no(status, code), RENTED], GET: [is('running')] }),
    );
    const givenUp = { offerId: 1, instanceId: undefined, reason: `${code}.` };
    expect(launched).toEqual({ instanceId: 505, offerId: 2, givenUp: [givenUp] });
    expect(steps[0]).toEqual({ step: 'given up', offerId: 1, reason: `${code}.` });
  });

  test.each([
    [404, 'not_found'],
    [410, 'not_found'],
    [402, 'insufficient_credit'],
  ])('that is answered with %i %s ends the launch', async (status, code) => {
    const transport = service({ PUT: [no(status, code)] });
    const { error } = await launch(transport);
    expect(error).toMatchObject({ code: 'api_error', status });
    expect(transport.calls).toEqual(['PUT /api/v0/asks/1/']);
  });

  test('that a gateway answers with 504 may have been rented, which is said', async () => {
    const { error } = await launch(service({ PUT: [answer(504, '<html>gateway timeout</html>')] }));
    expect(error).toMatchObject({ code: 'instance_left_behind', offerId: 1, cause: { status: 504 } });
    expect(String(error)).toMatch(/: instances.destroy: offer 1 may have been rented: its answer was lost$/);
  });

  test('whose answer is lost ends the launch, which says that something may be left', async () => {
    const reset = Object.assign(new Error('bye'), { code: 'ECONNRESET' });
    const transport = new AnsweringTransport((exchange) => {
      exchange.onConnected?.();
      throw reset;
    });
    const { error } = await launch(transport);
    expect(error).toMatchObject({
      code: 'instance_left_behind',
      offerId: 1,
      cause: { code: 'transport', mayBeDone: true },
    });
    expect(transport.asked).toHaveLength(1);
  });

  test.each(['exited', 'unknown', 'offline'])(
    'whose instance becomes %s is given up, and the function of the caller destroys it',
    async (status) => {
      const destroyed: unknown[] = [];
      const { launched, steps } = await launch(service({ PUT: [RENTED], GET: [is(status), is('running')] }), {
        destroy: (id, signal) => Promise.resolve(destroyed.push([id, signal.aborted])),
      });
      const reason = `it became ${status}`;
      expect(destroyed).toEqual([[505, false]]);
      expect(launched).toMatchObject({ offerId: 2, givenUp: [{ offerId: 1, instanceId: 505, reason }] });
      expect(steps).toContainEqual({ step: 'given up', offerId: 1, reason });
    },
  );
});

test('where no offer is left, all reasons are told', async () => {
  const { error } = await launch(service({ PUT: [no(404, 'no_such_ask'), RENTED], GET: [is('offline')] }));
  expect(error).toMatchObject({
    code: 'launch_failed',
    actor: 'user',
    message:
      'instances.create: no offer led to a running instance: offer 1: no_such_ask.; ' +
      'offer 2: it became offline',
  });
  expect((await launch(service({}), { offers: [] })).error).toMatchObject({
    message: 'instances.create: no offer led to a running instance: no offers given',
  });
});

test('what cannot be destroyed is an error of its own, with what runs all the same', async () => {
  const transport = service({
    PUT: [RENTED, answer(200, { new_contract: 504 })],
    GET: [is('exited'), is('exited')],
    DELETE: [answer(500, '')],
  });
  const { error, steps } = await launch(transport);
  expect(error).toMatchObject({
    code: 'instance_left_behind',
    instanceIds: [505],
    launched: { instanceId: 504, offerId: 2 },
    message: 'instances.destroy: instance 505 could not be destroyed and may cost money; instance 504 runs',
  });
  expect(steps).toContainEqual(expect.objectContaining({ step: 'not destroyed', instanceId: 505 }));
  // Three times when it was given up, three times at the end.
  expect(transport.calls.filter((call) => call.startsWith('DELETE'))).toHaveLength(6);
});

test.each([
  [Number.NaN, Infinity],
  [0, 0],
])('options that cannot work are refused before anything is rented: %s %s', async (timeoutMs, pollMs) => {
  const transport = service({});
  const request = { env: '--bad', onstart: randomBytes(6_000).toString('base64'), disk: -1 } as never;
  const wrong = { offers: [1, -2], timeoutMs, pollMs, request };
  const { error } = await launch(transport, wrong);
  expect(error).toMatchObject({
    code: 'invalid_request',
    problems: ['offers', 'timeoutMs', 'pollMs', 'onstart', 'env', 'disk', 'image'].map((field) => ({
      field,
    })),
  });
  expect(String(error)).toContain(
    `: offers: must be a list of offer ids (got [ 1, -2 ]); timeoutMs: must be above 0 (got ${timeoutMs}); ` +
      `pollMs: must be above 0 and at most 2147483647 (got ${pollMs}); onstart: at most `,
  );
  expect(String(error)).toMatch(/onstart: at most 4048 .* one has 8000, and \d+ compressed/);
  expect(transport.asked).toEqual([]);
});

test('a deletion that works when it is tried again leaves nothing', async () => {
  const transport = service({
    PUT: [RENTED, answer(200, { new_contract: 504 })],
    GET: [is('exited')],
    DELETE: [answer(500, ''), answer(404, { success: false, error: 'not_found', msg: 'no instance' })],
  });
  const { launched } = await launch(transport);
  expect(launched).toMatchObject({ instanceId: 504, givenUp: [{ instanceId: 505 }] });
});

test.each<[what: string, looks: readonly Answer[], options: Partial<LaunchOptions>, error: object]>([
  [
    'a listener that throws',
    [],
    {
      onProgress() {
        throw new Error('listener');
      },
    },
    { message: 'listener' },
  ],
  ['a look that is refused for what the caller must mend', [no(403, 'forbidden')], {}, { status: 403 }],
  [
    'the end of the longest wait, with a poll that is not answered',
    [never],
    { offers: [1], timeoutMs: 50 },
    { givenUp: [{ reason: 'not running after 0.05 s, still created' }] },
  ],
])('%s leaves nothing behind', async (_, looks, options, told) => {
  const transport = service({ PUT: [RENTED], GET: looks });
  expect((await launch(transport, options)).error).toMatchObject(told);
  expect(transport.calls.at(-1)).toBe('DELETE /api/v0/instances/505/');
});

test('an abort between two looks is told as such, and destroys what was rented', async () => {
  const controller = new AbortController();
  const cause = new Error('Ctrl-C');
  setTimeout(() => controller.abort(cause), 4_000);
  const transport = service({ PUT: [RENTED], GET: [is('loading')] });
  const { error } = await launch(transport, { signal: controller.signal });
  const message = 'instances.create: aborted while waiting for the instance to run';
  expect(error).toMatchObject({ code: 'aborted', message, cause });
  expect(transport.calls.at(-1)).toBe('DELETE /api/v0/instances/505/');
});

test('an abort while the rental is under way waits for its id, and destroys it', async () => {
  const controller = new AbortController();
  const transport = new AnsweringTransport((exchange) => {
    if (exchange.method !== 'PUT') return DONE;
    exchange.onConnected?.();
    const ended = never(exchange);
    controller.abort();
    const rented = new Promise<WireResponse>((resolve) => setTimeout(() => resolve(RENTED), 1_000));
    return Promise.race([ended, rented]);
  });
  expect((await launch(transport, { signal: controller.signal })).error).toMatchObject({ code: 'aborted' });
  expect(transport.calls).toEqual(['PUT /api/v0/asks/1/', 'DELETE /api/v0/instances/505/']);
});

describe('a start script', () => {
  const filler = Array.from({ length: 200 }, (_, index) => `# a comment, number ${index % 7}\n`).join('');

  function run(script: string) {
    const { status, stdout } = spawnSync('sh', ['-c', script], { encoding: 'utf8' });
    return { status, stdout };
  }

  test.each(['echo "hello"; exit 3', 'x'.repeat(LIMITS.onstartLength), '🔥'.repeat(LIMITS.onstartLength)])(
    'that fits is sent as it is',
    (script) => expect(fitOnstart(script)).toBe(script),
  );

  test('that is longer is packed, runs in sh, and keeps its exit code', () => {
    const packed = fitOnstart(`${filler}echo ü; exit 7\n`);
    expect(packed.length).toBeLessThanOrEqual(LIMITS.onstartLength);
    expect(packed).toMatch(/^#!\/bin\/sh\n/);
    expect(run(packed)).toEqual({ status: 7, stdout: 'ü\n' });
  });

  test('is run by the interpreter of its first line', () => {
    const packed = fitOnstart(`#!/usr/bin/env bash\n${filler}a=(one two); echo "\${a[1]}"\n`);
    expect(run(packed)).toEqual({ status: 0, stdout: 'two\n' });
  });
});
