/** One call over a transport that answers as a test says, on virtual time. */
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import {
  type CallOptions,
  type ClientObserver,
  type ClientOptions,
  ClientOptionsError,
} from '../../../src/client/caller.ts';
import { createClient } from '../../../src/client/client.ts';
import { CallError, RequestError } from '../../../src/client/errors.ts';
import type { Gate, Pass } from '../../../src/client/gate.ts';
import type { Answered, Peer } from '../../../src/client/transport/transport.ts';
import type { WireResponse } from '../../../src/wire/response.ts';
import { answer, AnsweringTransport, never } from '../../support/answering-transport.ts';

const OK = answer(200, { instances: [] });
const GONE = answer(404, { success: false, error: 'not_found', msg: 'no instance 5' });
const RATE = { 'x-ratelimit-limit': '5.0', 'x-ratelimit-remaining': '4' };
const RETRY = { attempts: 1, baseMs: 1, maxMs: 1 };
const RESET = Object.assign(new Error('socket hang up'), { code: 'ECONNRESET' });

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'performance'] });
  vi.advanceTimersByTime(1_000);
});
afterEach(() => vi.useRealTimers());

function clientOf(transport: AnsweringTransport, options: Partial<ClientOptions> = {}) {
  return transport.client({ random: () => 1, ...options });
}

function outcomeOf(call: Promise<unknown>): Promise<unknown> {
  return call.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
}

/** What comes of a call in the end, with all its waits. */
async function settled(call: Promise<unknown>): Promise<unknown> {
  const outcome = outcomeOf(call);
  await vi.runAllTimersAsync();
  return outcome;
}

test.each([
  [200, {}, 'instances.list: no'],
  [200, { error: 'odd' }, 'instances.list: odd: no'],
  [400, {}, 'instances.list: status 400: no'],
])('a refusal names its status only if that tells something: %i %j', async (status, body, message) => {
  const transport = new AnsweringTransport(answer(status, { success: false, msg: 'no', ...body }));
  const options = { retry: false } as const;
  expect(await settled(clientOf(transport).instances.list({}, options))).toMatchObject({
    error: { message },
  });
});

test.each<[status: number, body: unknown, judgement: string | undefined]>([
  [200, { instances: [] }, undefined],
  [200, '<html>gateway</html>', 'unreadable'],
  [201, { success: false, msg: 'no' }, undefined],
  [300, '', 'status 300'],
  [302, '', 'status 302'],
  [400, { success: false, msg: 'no' }, undefined],
  [401, { error: 'auth_error', msg: 'no' }, undefined],
  [403, { error: 'forbidden', msg: 'no' }, undefined],
  [403, '<html>firewall</html>', 'status 403'],
  [404, { success: false, error: 'not_found', msg: 'no' }, undefined],
  [404, { msg: 'Session expired. Please log in again.' }, undefined],
  [404, '<html>not here</html>', 'status 404'],
  [429, 'too frequent', undefined],
  [500, { success: false, error: 'unavailable', msg: 'no' }, 'status 500'],
])('status %i with the body %j says of the address: %s', async (status, body, judgement) => {
  const peer = { address: '192.0.2.1', addresses: 2, judge: vi.fn<Peer['judge']>() };
  const transport = new AnsweringTransport({ ...answer(status, body), peer } as Answered);
  const onPeer = vi.fn<(told: Peer) => void>();
  const options = { retry: false, subject: 5, onPeer } as const;
  await settled(clientOf(transport).instances.list({}, options));
  expect(peer.judge.mock.calls).toEqual([[judgement, status === 200 && !judgement ? 5 : undefined]]);
  expect(onPeer.mock.calls).toEqual([[peer]]);
  expect(transport.asked[0]?.subject).toBe(5);
});

test('a client that cannot work is not made: all problems at once, and no secret among them', () => {
  const make = (): unknown =>
    createClient({
      baseUrl: 'console.example.com',
      serverlessUrl: '',
      apiKey: 'the-secret\n',
      timeoutMs: Infinity,
      retry: { attempts: Number.NaN, baseMs: 1, maxMs: 1 },
    });
  expect(make).toThrow(ClientOptionsError);
  expect(make).toThrow(expect.objectContaining({ code: 'invalid_client_options', actor: 'user' }));
  expect(() => createClient(undefined as never)).toThrow(ClientOptionsError);
  const longest = 2 ** 31 - 1;
  const retry = { attempts: 1, baseMs: 0, maxMs: longest };
  expect(() => createClient({ baseUrl: 'http://a.test', timeoutMs: longest, retry })).not.toThrow();
  expect(make).toThrow(
    'createClient: baseUrl: must be an address that begins with http:// or https://, without ? and #; ' +
      'serverlessUrl: must be an address that begins with http:// or https://, without ? and #; ' +
      'apiKey: has a space, a line break or another character that no API key has; ' +
      'timeoutMs: must be a number above 0 and at most 2147483647; retry: must have attempts, a whole number from 1',
  );
});

test.each<[field: string, values: readonly unknown[]]>([
  ['baseUrl', ['http://a.test?b', 'http://a.test#b', 'ftp://a.test', 5]],
  ['timeoutMs', [0, -1, '5', Number.NaN, 2 ** 31]],
  ['retry', [5, { attempts: 0 }, { attempts: 1.5 }, { baseMs: -1 }, { baseMs: '5' }, { maxMs: 2 ** 31 }]],
])('%s of a client may not be one of %j', (field, values) => {
  for (const wrong of values) {
    const value = typeof wrong === 'object' ? { ...RETRY, ...wrong } : wrong;
    const make = () => createClient({ baseUrl: 'http://a.test', [field]: value });
    expect(make).toThrow(`createClient: ${field}: must `);
  }
});

test.each<[string, (client: ReturnType<typeof clientOf>) => Promise<unknown>, RegExp]>([
  ['no object', (client) => client.deployments.heartbeat(null as never), /^\S+: takes an object of fields/],
  ['an unknown operation', (client) => client.call('nobody.knows' as never), /^\S+: there is no such op/],
  [
    'a signal that is none',
    (client) => client.instances.list({}, { signal: 5 as never }),
    /signal: must be an AbortSignal/,
  ],
  [
    'a timeout that no timer takes',
    (client) => client.instances.list({}, { timeoutMs: 2 ** 31, retry: { ...RETRY, baseMs: '5' as never } }),
    /timeoutMs.*; retry: must/,
  ],
  [
    'a key with a line break',
    (client) => client.instances.list({}, { apiKey: 'a\nb' }),
    /apiKey: has a space/,
  ],
])('%s is the caller’s mistake, and nothing is sent', async (_, call, message) => {
  const transport = new AnsweringTransport();
  const error: unknown = await call(clientOf(transport)).catch((cause: unknown) => cause);
  expect(error).toBeInstanceOf(RequestError);
  expect(error).toMatchObject({ actor: 'user', message: expect.stringMatching(message) as string });
  expect(transport.asked).toEqual([]);
});

test.each([
  [500, 'forbidden', false],
  [500, 'internal_error', true],
  [408, 'toString', true],
  [409, 'odd', false],
])('status %i with the code %s may come of what is done: %s', async (status, error, mayBeDone) => {
  const client = clientOf(new AnsweringTransport(answer(status, { error, msg: 'no' })));
  expect(await settled(client.apiKeys.create({ name: 'x' }))).toMatchObject({ error: { status, mayBeDone } });
});

describe('what is sent', () => {
  test('goes to the address of its kind, without slashes at its end', async () => {
    const transport = new AnsweringTransport(OK);
    const bases = { baseUrl: 'http://a.test/x//', serverlessUrl: 'http://b.test/' };
    await clientOf(transport, bases).instances.list();
    for (const options of [bases, {}])
      await clientOf(transport, options).endpointGroups.route({ endpoint: 'chat', cost: 1 });
    expect(transport.asked.map(({ url }) => url)).toEqual([
      'http://a.test/x/api/v0/instances/',
      'http://b.test/route/',
      'http://a.test/route/',
    ]);
  });

  test('has the key as it is now, or the one of the call', async () => {
    let apiKey: string | undefined = 'first';
    const transport = new AnsweringTransport(answer(503, ''), OK);
    const client = clientOf(transport, { apiKey: () => apiKey });
    const listed = client.instances.list();
    apiKey = 'second';
    await settled(listed);
    await client.instances.list({}, { apiKey: 'own' });
    await client.withKey('third').instances.list();
    apiKey = undefined;
    await expect(client.instances.list()).rejects.toThrow('apiKey: this operation needs an API key');
    expect(transport.asked.map(({ headers }) => headers['authorization'])).toEqual(
      ['first', 'second', 'own', 'third'].map((key) => `Bearer ${key}`),
    );
  });

  test.each<[CallOptions | undefined, Partial<ClientOptions>, object, number]>([
    [undefined, {}, { fresh: false, maxBytes: 64 * 1024 * 1024 }, 30_000],
    [undefined, { timeoutMs: 700 }, { fresh: false }, 700],
    [
      { timeoutMs: 50, freshConnection: true, maxBytes: 9 },
      { timeoutMs: 700 },
      { fresh: true, maxBytes: 9 },
      50,
    ],
  ])('with %j of a call and %j of a client', async (callOptions, options, sent, timeoutMs) => {
    const transport = new AnsweringTransport(never);
    const call = clientOf(transport, options).instances.list({}, { retry: false, ...callOptions });
    const outcome = outcomeOf(call);
    await vi.advanceTimersByTimeAsync(timeoutMs - 1);
    expect(transport.asked[0]?.signal.aborted).toBe(false);
    await vi.advanceTimersByTimeAsync(1);
    expect(transport.asked[0]).toMatchObject(sent);
    expect(await outcome).toMatchObject({ error: { code: 'timeout', timeoutMs } });
  });
});

describe('an attempt', () => {
  test.each<[string, AnsweringTransport, string]>([
    ['an answer', new AnsweringTransport(answer(206, { instances: [] })), '206'],
    ['a refusal', new AnsweringTransport(GONE), '404'],
    ['an answer that cannot be read', new AnsweringTransport(answer(200, '<html>')), 'unreadable_response'],
    ['a connection that is reset', new AnsweringTransport(RESET), 'transport'],
    ['no answer', new AnsweringTransport(never), 'timeout'],
  ])('that ends in %s is told', async (_, transport, code) => {
    const told: Parameters<NonNullable<ClientObserver['exchange']>>[0][] = [];
    const heard: unknown[] = [];
    const observe: ClientObserver = {
      exchange: (event) => told.push(event),
      answer: (event) => heard.push(event),
    };
    const client = clientOf(transport, { observe, timeoutMs: 250 });
    await settled(client.instances.list({}, { retry: false }));
    const durationMs = code === 'timeout' ? 250 : 0;
    const refusal = code === '404' && { refusal: 'not-found' };
    expect(told).toEqual([
      { operation: 'instances.list', code, durationMs, serverDate: undefined, ...refusal },
    ]);
    const came = code === '206' ? { value: { instances: [] } } : { error: expect.any(CallError) as unknown };
    expect(heard).toEqual([{ ...told[0], input: {}, ...came }]);
  });

  test.each([
    ['Sat, 21 Nov 2026 00:00:00 GMT', 'Sat, 21 Nov 2026 00:00:00 GMT'],
    [['one', 'other'], undefined],
  ])('tells the date of the service: %j', async (date, serverDate) => {
    const told: unknown[] = [];
    const transport = new AnsweringTransport(answer(200, { instances: [] }, { date }));
    await clientOf(transport, {
      observe: { exchange: (event) => told.push(event.serverDate) },
    }).instances.list();
    expect(told).toEqual([serverDate]);
  });

  test.each<[name: string, response: WireResponse, rate: object]>([
    ['an answer', answer(200, { instances: [] }, RATE), { limit: 5, remaining: 4 }],
    ['a refusal', answer(404, { success: false, msg: 'no', limit: 9 }, RATE), { limit: 5, remaining: 4 }],
    ['an answer that cannot be read', answer(200, '<html>', RATE), { limit: 5, remaining: 4 }],
    ['a 429, by its body', answer(429, { error: 'e', limit: 3, remaining: 0 }), { limit: 3, remaining: 0 }],
    ['a refusal, not by its body', answer(404, { success: false, msg: 'no', limit: 9 }), {}],
  ])('tells the rate limit that %s shows', async (_, response, rate) => {
    const told: ({ limit?: number | undefined; remaining?: number | undefined } | undefined)[] = [];
    const observe: ClientObserver = { exchange: (event) => told.push(event.rate) };
    const client = clientOf(new AnsweringTransport(response), { observe });
    await settled(client.instances.list({}, { retry: false }));
    expect(told).toEqual(Object.keys(rate).length === 0 ? [undefined] : [{ ...rate, resetMs: undefined }]);
  });

  test('leaves no timer and no listener behind', async () => {
    const controller = new AbortController();
    const listeners = vi.spyOn(controller.signal, 'removeEventListener');
    const client = clientOf(new AnsweringTransport(OK), { gate: false });
    await client.instances.list({}, { signal: controller.signal });
    expect(vi.getTimerCount()).toBe(0);
    expect(listeners).toHaveBeenCalledWith('abort', expect.any(Function));
  });

  test('is not made where the signal has fired', async () => {
    const transport = new AnsweringTransport(({ signal }) => {
      signal.throwIfAborted();
      return OK;
    });
    const call = clientOf(transport, { gate: false }).instances.list({}, { signal: AbortSignal.abort() });
    const error = { code: 'aborted', message: 'instances.list: aborted' };
    expect(await settled(call)).toMatchObject({ error });
  });

  test.each<[what: string, answerMs: number | undefined, endsMs: number, outcome: object]>([
    ['an answer within the grace is taken', 499, 499, { value: { key: 's3cret' } }],
    ['a later one is not', 501, 500, { error: { code: 'aborted', mayBeDone: true } }],
    ['what is not on its way ends at once', undefined, 0, { error: { code: 'aborted', mayBeDone: false } }],
  ])('that is aborted, and not safe to repeat: %s', async (_, answerMs, endsMs, outcome) => {
    const key = answer(200, { success: true, id: 9, key: 's3cret' });
    const transport = new AnsweringTransport((exchange) => {
      if (answerMs === undefined) return never(exchange);
      exchange.onConnected?.();
      const late = new Promise<typeof key>((resolve) => setTimeout(() => resolve(key), answerMs));
      return Promise.race([never(exchange), late]);
    });
    const controller = new AbortController();
    const options = { signal: controller.signal, graceMs: 500 };
    const begunAt = performance.now();
    const call = clientOf(transport).apiKeys.create({ name: 'x' }, options);
    const ended = settled(call.finally(() => expect(performance.now() - begunAt).toBe(endsMs)));
    while (transport.asked.length === 0) await Promise.resolve();
    controller.abort(new Error('Ctrl-C'));
    expect(await ended).toMatchObject(outcome);
  });
});

test('an answer that came after the signal leaves no timer behind', async () => {
  const controller = new AbortController();
  const transport = new AnsweringTransport(({ onConnected }) => {
    onConnected?.();
    controller.abort(new Error('Ctrl-C'));
    return answer(200, { success: true, id: 9, key: 's3cret' });
  });
  await clientOf(transport).apiKeys.create({ name: 'x' }, { signal: controller.signal, graceMs: 500 });
  expect(vi.getTimerCount()).toBe(0);
});

describe('an answer that is not safe to ask for again', () => {
  test.each([
    ['{"success":true,"id":9,"key":"s3cret"}', { value: { key: 's3cret' } }],
    ['{"success":true,"id":9}', { error: { code: 'transport', mayBeDone: true } }],
    ['{"success":false,"error":"forbidden","msg":"no"}', { error: { code: 'transport', mayBeDone: true } }],
  ])('and whose end does not come, is one where it has what is shown once: %s', async (text, outcome) => {
    const transport = new AnsweringTransport((exchange) => {
      exchange.onConnected?.();
      exchange.onAnswer?.(() => answer(200, text));
      throw RESET;
    });
    expect(await settled(clientOf(transport).apiKeys.create({ name: 'x' }))).toMatchObject(outcome);
  });

  test('and whose end does not come, is none where nothing is shown once', async () => {
    const place = { address: '192.0.2.1:80', isProxy: false };
    const transport = new AnsweringTransport((exchange) => {
      exchange.onAnswer?.(() => answer(200, { success: true, msg: 'deleted' }));
      exchange.onPlace?.(place);
      throw RESET;
    });
    const deleted = clientOf(transport).call('templates.delete', { template_id: 5 });
    expect(await settled(deleted)).toMatchObject({ error: { code: 'transport', place } });
  });
});

describe('a repeat', () => {
  test.each<[string, CallOptions['retry'], ClientOptions['retry'], number]>([
    ['three times unless told', undefined, undefined, 3],
    ['as the client says', undefined, { attempts: 2, baseMs: 1, maxMs: 1 }, 2],
    ['as the call says', { attempts: 4, baseMs: 1, maxMs: 1 }, { attempts: 2, baseMs: 1, maxMs: 1 }, 4],
    ['never where the call says so', false, { attempts: 2, baseMs: 1, maxMs: 1 }, 1],
  ])('is made %s', async (_, retry, ofClient, attempts) => {
    const transport = new AnsweringTransport(answer(503, ''));
    const options = ofClient === undefined ? {} : { retry: ofClient };
    const call = clientOf(transport, options).instances.list({}, retry === undefined ? {} : { retry });
    expect(await settled(call)).toMatchObject({ error: { status: 503 } });
    expect(transport.asked).toHaveLength(attempts);
  });

  test('is never made of what is not safe to repeat', async () => {
    const transport = new AnsweringTransport(answer(503, ''));
    const call = clientOf(transport).apiKeys.create(
      { name: 'x' },
      { retry: { attempts: 9, baseMs: 1, maxMs: 1 } },
    );
    expect(await settled(call)).toMatchObject({ error: { status: 503, mayBeDone: true } });
    expect(transport.asked).toHaveLength(1);
  });

  test('is told with its wait, and whether it was throttled', async () => {
    const told: unknown[] = [];
    const transport = new AnsweringTransport(answer(503, ''), answer(429, '', { 'retry-after': '2' }), OK);
    await settled(clientOf(transport, { observe: { retry: (event) => told.push(event) } }).instances.list());
    expect(told).toEqual([
      { operation: 'instances.list', waitMs: 250, throttled: false },
      { operation: 'instances.list', waitMs: 2_250, throttled: true },
    ]);
  });

  test('that is waited for ends with the signal', async () => {
    const controller = new AbortController();
    const transport = new AnsweringTransport(answer(503, ''));
    const call = clientOf(transport).instances.list({}, { signal: controller.signal });
    const outcome = outcomeOf(call);
    await vi.advanceTimersByTimeAsync(249);
    const cause = new Error('enough');
    controller.abort(cause);
    expect(await outcome).toMatchObject({
      error: { code: 'aborted', cause, message: 'instances.list: aborted while waiting to repeat' },
    });
    expect(transport.asked).toHaveLength(1);
  });

  const NO = answer(403, { error: 'forbidden', msg: 'no' });
  test.each<[string, 'destroy' | 'update', (WireResponse | Error)[], boolean]>([
    ['a deletion whose answer was lost', 'destroy', [RESET, GONE], true],
    ['a deletion that failed inside', 'destroy', [answer(500, ''), GONE], true],
    ['a deletion that was throttled', 'destroy', [answer(429, ''), GONE], false],
    ['a deletion of nothing', 'destroy', [GONE], false],
    ['a deletion that is then refused', 'destroy', [RESET, NO], false],
    ['no deletion', 'update', [RESET, GONE], false],
  ])('%s finds nothing', async (_, method, answers, isDone) => {
    const client = clientOf(new AnsweringTransport(...answers));
    const outcome = await settled(client.instances[method]({ id: 5 }));
    expect(outcome).toEqual(
      isDone ? { value: {} } : { error: expect.objectContaining({ code: 'api_error' }) },
    );
  });
});

test.each<[what: string, came: WireResponse | Error, heard: unknown[]]>([
  ['an answer', answer(200, { instances: [] }, RATE), [{ throttled: false }, { limit: 5, remaining: 4 }]],
  ['a 429', answer(429, 'threshold=3.0', RATE), [{ throttled: true, thresholdMs: 3_000 }, { limit: 5 }]],
  ['another refusal', answer(400, { msg: 'no' }), [{ throttled: false }, undefined]],
  ['what cannot be read', answer(200, '<html>'), [{ throttled: false }, undefined]],
  ['no answer', RESET, []],
])('the gate hears of %s', async (_, came, heard) => {
  const passes: unknown[][] = [];
  const pass: Pass = { answered: (...said) => passes.push(said), lost: () => passes.push([]) };
  const gate: Gate = { enter: () => Promise.resolve(pass) };
  await settled(clientOf(new AnsweringTransport(came), { gate }).instances.list({}, { retry: false }));
  expect(passes).toMatchObject([heard]);
});

test('a call that is aborted at the gate says so, and why', async () => {
  const cause = new Error('enough');
  const gate = { enter: () => Promise.reject(cause) };
  const outcome = await settled(clientOf(new AnsweringTransport(OK), { gate }).instances.list());
  const message = 'instances.list: aborted while waiting for the rate limit';
  expect(outcome).toMatchObject({ error: { code: 'aborted', message, cause } });
});

test('a client that is disposed of disposes of its transport, and so does one with another key', async () => {
  const transport = new AnsweringTransport(OK);
  await clientOf(transport).withKey('other')[Symbol.asyncDispose]();
  expect(transport.isDisposed).toBe(true);
});
