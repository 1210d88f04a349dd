/** What is said of an input or an answer that is not as it should be, and what a request has in its header. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../../src/contract/define.ts';
import { operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { secretText, shownOnce } from '../../../src/contract/schemas.ts';
import { namesShownOnce, readAnswer, rowsLeftOut, showsOnce } from '../../../src/wire/reading.ts';
import { encodeRequest, problemsOf, requestHeaders } from '../../../src/wire/request.ts';
import { decodeResponse, meaningOf, type Refusal } from '../../../src/wire/response.ts';
import { thresholdMs, retryAfterMs } from '../../../src/wire/rate-limit.ts';

const { params: _, ...without } = operationOf('deployments.heartbeat');
/** Long enough to be a key, not a word. */
const KEY = '0123456789abcdef'.repeat(3);
/** Takes fields of all kinds; its answer has a list. */
const made: Operation = {
  ...without,
  path: '/made',
  body: z.object({ name: z.string(), any: z.unknown().optional() }),
  response: z.looseObject({ rows: z.array(z.looseObject({ id: z.int() })) }),
};
const asked: Operation = { ...without, path: '/asked', query: z.object({ name: z.string().optional() }) };

function problemsWith(operation: Operation, input: object, apiKey: string | null = 'key') {
  const encoded = encodeRequest(operation, { ...input }, apiKey ?? undefined);
  return encoded.ok ? [] : encoded.problems;
}

function refusalOf(operation: Operation, status: number, text: string): Refusal {
  const outcome = decodeResponse(operation, { status, text, headers: {} }, KEY);
  if (outcome.kind !== 'refused') throw new Error(`no refusal: ${outcome.kind}`);
  return outcome;
}

describe('an input', () => {
  test('with a field that nobody knows: which there are, and not its value', () => {
    const unknown = (operation: Operation) => problemsWith(operation, { name: 'n', more: 1 })[0];
    expect(unknown(made)).toEqual({
      field: 'more',
      message: 'unknown field "more"; allowed: name, any',
    });
    expect(unknown({ ...without, path: '/none' })?.message).toBe('unknown field "name"; allowed: none');
  });

  test('without a field that must be there, on any level', () => {
    expect(problemsWith(made, {})).toEqual([{ field: 'name', message: 'is missing' }]);
    const schema = z.object({ inner: z.object({ list: z.array(z.int()) }), word: z.literal('yes') });
    const input = { inner: { list: [1, 'two'] } };
    const { error } = schema.safeParse(input);
    expect(error && problemsOf(error, input)).toEqual([
      { field: 'inner.list.1', message: expect.stringMatching(/expected (number|int)/), value: 'two' },
      { field: 'word', message: expect.stringContaining('yes') },
    ]);
    // A problem of what is not there at all.
    expect(error && problemsOf(error, undefined).map(({ field }) => field)).toEqual(['inner.list.1', 'word']);
  });

  test('that JSON cannot hold', () => {
    expect(problemsWith(made, { name: 'n', any: 1n })).toEqual([
      { field: '', message: expect.stringMatching(/^cannot be written as JSON: .*BigInt/) },
    ]);
  });

  test('with further fields that are none, or are set already', () => {
    expect(problemsWith(made, { name: 'n', extra: 7 })).toEqual([
      { field: 'extra', message: 'takes an object of further fields', value: 7 },
    ]);
    expect(problemsWith(made, { name: 'n', extra: { name: 'secret' } })).toEqual([
      { field: 'extra.name', message: 'is a field of its own, and set already' },
    ]);
  });

  test('of which a part goes into the query, as it is', () => {
    const target = (input: object) => {
      const encoded = encodeRequest(asked, { ...input }, 'key');
      return encoded.ok ? encoded.request : undefined;
    };
    expect(target({ name: 'a b' })).toEqual({ method: 'POST', target: '/asked?name=a+b', body: undefined });
    expect(target({})?.target).toBe('/asked');
  });

  test('without a key, unless a secret stands in for it', () => {
    expect(problemsWith(made, { name: 'n' }, null)).toEqual([
      { field: 'apiKey', message: 'this operation needs an API key' },
    ]);
    const loggedOut = operationOf('tfa.sendEmail');
    expect(problemsWith(loggedOut, {}, null)).toEqual([
      { field: 'secret', message: 'needed without an API key' },
    ]);
    expect(problemsWith(loggedOut, { secret: 's' }, null)).toEqual([]);
  });

  test.each<[OperationId, object, string]>([
    ['instances.create', { offer_id: 1 }, 'image: needed without template_hash_id'],
    [
      'instances.create',
      { offer_id: 1, image: 'i', volume_info: { create_new: true, volume_id: 7, mount_path: '/data' } },
      'volume_info.size: needed for a new volume, in GB',
    ],
    ['tfa.login', {}, 'code: needed without backup_code'],
    ['tfa.login', { code: '123456' }, 'secret: needed with a code by sms or email'],
    ['tfa.regenerateBackupCodes', {}, 'code: needed without backup_code'],
    [
      'tfa.remove',
      { backup_code: 'A1B2-C3D4-E5F6' },
      'target_id: needed with backup_code, which is not of a method',
    ],
    [
      'tfa.confirmNew',
      { tfa_method: 'sms', code: '123456', secret: 's' },
      'phone_number: needed with tfa_method sms',
    ],
    ['tfa.update', { label: 'x' }, 'tfa_method_id: needed without tfa_method'],
  ])('that breaks a rule between fields: %s %j', (id, input, problem) => {
    expect(problemsWith(operationOf(id), input).map(({ field, message }) => `${field}: ${message}`)).toEqual([
      problem,
    ]);
  });
});

test('a header says what is sent and by whom', () => {
  const request = { method: 'POST', target: '/', body: undefined } as const;
  expect(requestHeaders(request, undefined)).toEqual({
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'pilotlight',
  });
  expect(requestHeaders({ ...request, body: '{}' }, 'the-key')).toEqual({
    accept: 'application/json',
    'accept-encoding': 'identity',
    'user-agent': 'pilotlight',
    'content-type': 'application/json',
    authorization: 'Bearer the-key',
  });
});

describe('an answer that cannot be read', () => {
  const reasonOf = (text: string, operation = made, status = 200) => {
    const outcome = decodeResponse(operation, { status, text, headers: {} });
    return outcome.kind === 'unreadable' ? outcome.reason : outcome.kind;
  };

  test('says which field, or the body', () => {
    expect(reasonOf('{"rows":7}')).toMatch(/^an answer that does not fit the contract: rows: .*array/);
    expect(reasonOf('7')).toMatch(/^an answer that does not fit the contract: body: .*object/);
  });

  test('is one where it is no JSON', () => {
    const outcome = decodeResponse(made, { status: 200, text: 'no', headers: { 'content-type': ['a'] } });
    expect(outcome).toEqual({
      kind: 'unreadable',
      reason: 'status 200 with a body that is not JSON (2 characters, no content type)',
      problems: [],
    });
  });

  test('is none where there is no content, and said so', () => {
    const open = { ...made, response: z.looseObject({}) };
    expect(reasonOf('', open, 204)).toBe('ok');
    expect(reasonOf('', open, 200)).toContain('not JSON');
    expect(reasonOf('nothing', open, 204)).toContain('not JSON');
  });
});

describe('a refusal', () => {
  test('quotes the first 120 characters of a page, on one line', () => {
    const quoted = (text: string) => refusalOf(made, 502, text).message;
    expect(quoted(`  <b>\n\n  bad ${'x'.repeat(200)}`)).toBe(`<b> bad ${'x'.repeat(112)}…`);
    expect(quoted('x'.repeat(120))).toBe('x'.repeat(120));
    expect(quoted('')).toBe('no message');
    // It may repeat the request.
    for (const text of ['{"password": "p', '  ["p', '"p', '\uFEFF{"p'])
      expect(quoted(text)).toBe('no message');
    expect(quoted('see {"this"}')).toBe('see {"this"}');
  });

  test('with the status of a success quotes nothing', () => {
    for (const status of [200, 299])
      expect(refusalOf(made, status, '{"success":false}').message).toBe('no message');
    expect(refusalOf(made, 300, 'elsewhere').message).toBe('elsewhere');
  });

  test('tells which fields a framework does not take', () => {
    const detail = [
      { loc: ['body', 'name'], msg: 'Field required' },
      { msg: 'Too long' },
      'row',
      { loc: ['x'], msg: '' },
      { loc: ['y'] },
      null,
    ];
    const { message } = refusalOf(made, 422, JSON.stringify({ detail }));
    expect(message).toBe('body.name: Field required; Too long');
    expect(refusalOf(made, 422, '{"detail":"Not Found"}').message).toBe('Not Found');
  });

  test('of a request with secrets keeps what can hold none', () => {
    const guarded = { ...made, body: z.object({ name: secretText.optional() }) };
    const body = { msg: 'no', count: 3, locked: true, until: null, name: 'the secret', tried: ['secret'] };
    expect(refusalOf(guarded, 400, JSON.stringify(body)).fields).toEqual({
      count: 3,
      locked: true,
      until: null,
    });
    expect(refusalOf(made, 400, JSON.stringify(body)).fields).toMatchObject({ name: 'the secret' });
    expect(refusalOf(guarded, 502, 'the secret').message).toBe('no message');
  });

  test('does not repeat the key', () => {
    const { message, code } = refusalOf(made, 401, JSON.stringify({ error: KEY, msg: `${KEY} is bad` }));
    expect(`${message} ${code}`).not.toContain(KEY);
    expect(message).toContain(' is bad');
  });

  test('has no code where that is no text', () => {
    expect(refusalOf(made, 400, '{"error":7,"msg":"no"}')).toMatchObject({ code: undefined, message: 'no' });
    expect(meaningOf(401, { error: { code: 'not_found' } })).toBe('unauthorized');
    expect(meaningOf(401, { error: 'not_found' })).toBe('other');
  });

  test('speaks of the key with 401, 403 and where all seems well, not with a redirection', () => {
    const over = { msg: 'session expired' };
    for (const status of [200, 299, 401, 403]) expect(meaningOf(status, over)).toBe('unauthorized');
    for (const status of [100, 199, 300, 500]) expect(meaningOf(status, over)).toBe('other');
  });
});

describe('what is shown once', () => {
  const schema = z.looseObject({ one: z.looseObject({ token: shownOnce(z.string()).optional() }) });
  const whole = shownOnce(z.string());

  test('is there or not', () => {
    expect(showsOnce(schema, { one: { token: 't' } })).toBe(true);
    for (const token of [undefined, null, '']) expect(showsOnce(schema, { one: { token } })).toBe(false);
    expect(showsOnce(schema, { one: null })).toBe(false);
    expect([showsOnce(whole, 't'), showsOnce(whole, '')]).toEqual([true, false]);
  });

  test('is named in a text that is cut off', () => {
    expect(namesShownOnce(schema, '{"one":{"token":"t')).toBe(true);
    expect(namesShownOnce(schema, '{"one":{"tok')).toBe(false);
    const both = z.looseObject({ a: shownOnce(z.string()), b: shownOnce(z.string()) });
    expect(namesShownOnce(both, '"b"')).toBe(true);
  });
});

describe('what stands for a value', () => {
  const one = (schema: z.ZodType, value: unknown) =>
    (readAnswer(z.looseObject({ value: schema }), { value }).data as { value?: unknown } | undefined)?.value;

  test.each([
    [' 1e5 ', 1e5],
    ['1.25', 1.25],
    ['-2.50E-10', -2.5e-10],
    ['1.5e+10', 1.5e10],
    ['x1', undefined],
    ['1x', undefined],
    ['1e', undefined],
    ['', undefined],
    [[4], undefined],
  ])('%j for a number', (value, number) => {
    expect(one(z.number(), value)).toBe(number);
  });

  test.each([
    [' True ', true],
    ['1', true],
    [0, false],
    ['FALSE', false],
    ['yes', undefined],
  ])('%j for a boolean', (value, boolean) => {
    expect(one(z.boolean(), value)).toBe(boolean);
  });

  test('a number for a string, and nothing else', () => {
    expect(one(z.string(), 7)).toBe('7');
    expect(one(z.string(), true)).toBeUndefined();
  });

  test('entries that cannot be read are left out and counted; with none left, none is lost', () => {
    const map = z.record(z.string(), z.looseObject({ id: z.int() }));
    const { data } = readAnswer(map, { a: { id: '1' }, b: { id: 'x' }, c: {} });
    expect(data).toEqual({ a: { id: 1 } });
    expect(rowsLeftOut(data)).toBe(2);
    expect(readAnswer(map, { b: { id: 'x' } }).success).toBe(false);
    const lists = z.looseObject({ a: z.array(z.int()), b: z.array(z.int()) });
    expect(rowsLeftOut(readAnswer(lists, { a: [1, 'x'], b: [1, 'x', 'y'] }).data)).toBe(3);
  });
});

test('when to come back', () => {
  const after = (header: string | string[], nowMs?: number) => retryAfterMs({ 'retry-after': header }, nowMs);
  expect(after('1.25')).toBe(1250);
  expect(after([' 2 ', '3'])).toBe(2000);
  for (const text of ['2s', '1.', 'x2', '']) expect(after(text)).toBeUndefined();
  const date = 'Thu, 01 Jan 1970 00:00:09 GMT';
  expect(after(date, 4_000)).toBe(5_000);
  expect(after(date.replace(',', ''), 4_000)).toBe(5_000);
  expect(after(`- ${date}`, 4_000)).toBeUndefined();
  expect(after(date)).toBeUndefined();
});

test('the least time between two requests', () => {
  expect(thresholdMs('Threshold = 3.25 s')).toBe(3250);
  expect(thresholdMs('threshold:2')).toBe(2000);
  for (const text of ['threshold', 'athreshold=2', 'threshold=0', 'threshold per key=2'])
    expect(thresholdMs(text)).toBeUndefined();
});

describe('a refusal in the public service’s words', () => {
  const says = (id: OperationId, status: number, body: object) =>
    decodeResponse(operationOf(id), { status, headers: {}, text: JSON.stringify(body) });

  test.each<[OperationId, number, object, unknown]>([
    ['templates.search', 200, { success: false, msg: 'No templates found' }, { templates: [] }],
    [
      'templates.create',
      200,
      { success: false, msg: 'Existing Template Found: vllm', template: { id: 9, hash_id: 'abc' } },
      { template: { id: 9, hash_id: 'abc' } },
    ],
    ['endpointGroups.list', 400, { error: 'bad', msg: 'No endpoints for user 7 found.' }, { results: [] }],
  ])('may be an answer: %s %i %j', (id, status, body, value) => {
    expect(says(id, status, body)).toEqual({ kind: 'ok', value });
  });

  test.each<[OperationId, string]>([
    ['endpointGroups.update', 'Endpoint 31 for user 7 not found.'],
    ['workergroups.update', 'Workergroup 5 not found.'],
  ])('may say that something is not there, with status 400: %s', (id, msg) => {
    expect(says(id, 400, { success: false, error: 'bad', msg })).toMatchObject({ meaning: 'not-found' });
    expect(says(id, 400, { success: false, error: 'bad', msg: 'no' })).toMatchObject({ meaning: 'other' });
  });

  test('is no answer if its words are there without what they promise', () => {
    const found = { success: false, msg: 'Existing Template Found' };
    expect(says('templates.create', 200, found)).toMatchObject({ kind: 'refused' });
  });
});
