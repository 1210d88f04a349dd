/** How an input becomes a request, and what is said of one that cannot. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../../src/contract/define.ts';
import { operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { encodeRequest, keyProblems, problemsOf, requestHeaders } from '../../../src/wire/request.ts';

const heartbeat = operationOf('deployments.heartbeat');
const logs = operationOf('workergroups.logs');
const { params: _, ...without } = heartbeat;
const made: Operation = {
  ...without,
  path: '/made',
  body: z.object({ name: z.string(), any: z.unknown().optional() }),
};
const asked: Operation = { ...without, path: '/asked', query: z.object({ name: z.string().optional() }) };

function requestOf(operation: Operation, input: object) {
  const encoded = encodeRequest(operation, { ...input }, 'the-key');
  return encoded.ok ? encoded.request : undefined;
}

function bodyOf(operation: Operation, input: object): unknown {
  return JSON.parse(requestOf(operation, input)?.body ?? '');
}

function problemsWith(operation: Operation, input: object, apiKey: string | null = 'key') {
  const encoded = encodeRequest(operation, { ...input }, apiKey ?? undefined);
  return encoded.ok ? [] : encoded.problems;
}

test('fields go into path, query or body', () => {
  const target = '/api/v0/deployment/42/heartbeat';
  expect(requestOf(heartbeat, { id: 42 })).toEqual({ method: 'POST', target, body: undefined });
  expect(requestOf(asked, { name: 'a b' })?.target).toBe('/asked?name=a+b');
  expect(requestOf(asked, {})?.target).toBe('/asked');
});

test('the key goes into the body of operations that ask for it there', () => {
  expect(bodyOf(logs, { id: 7, tail: 10 })).toEqual({ id: 7, tail: 10, api_key: 'the-key' });
});

test('a header says what is sent and by whom', () => {
  const request = { method: 'POST', target: '/', body: undefined } as const;
  const always = { accept: 'application/json', 'accept-encoding': 'identity', 'user-agent': 'pilotlight' };
  expect(requestHeaders(request, undefined)).toEqual(always);
  expect(requestHeaders({ ...request, body: '{}' }, 'the-key')).toEqual({
    ...always,
    'content-type': 'application/json',
    authorization: 'Bearer the-key',
  });
});

describe('extra fields', () => {
  const edit = operationOf('templates.edit');

  test('go unchecked into the body, or into the query where there is none', () => {
    const extra = { readme_visible: true, tag: null, nested: { any: ['thing'] } };
    const known = { hash_id: 'h', desc: 'new' };
    expect(bodyOf(edit, { ...known, extra })).toEqual({ ...known, ...extra });
    const search = requestOf(operationOf('templates.search'), { extra: { a: ['id'], b: undefined } });
    expect(search?.target).toBe('/api/v0/template/?a=%5B%22id%22%5D');
  });

  test('do not stand in for a field that is set, nor for the key', () => {
    const message = 'is a field of its own, and set already';
    const problems = problemsWith(logs, { id: 7, tail: 1, extra: { tail: 2, api_key: 'other' } });
    expect(problems).toEqual(['extra.tail', 'extra.api_key'].map((field) => ({ field, message })));
  });

  test.each([[null], [[1]], ['tag=x'], [true]])('%j is no object of fields', (extra) => {
    expect(problemsWith(edit, { hash_id: 'h', extra })).toEqual([
      { field: 'extra', message: 'takes an object of further fields', value: extra },
    ]);
  });

  test('are unknown where nothing is sent', () => {
    expect(problemsWith(heartbeat, { id: 42, extra: {} })).toMatchObject([{ field: 'extra' }]);
  });
});

describe('an input is refused', () => {
  test('with all its problems, and the values it got', () => {
    expect(problemsWith(logs, { id: -1, tail: 'ten', extra: true })).toMatchObject([
      { field: 'extra', value: true },
      { field: 'id', value: -1 },
      { field: 'tail', value: 'ten' },
    ]);
  });

  test('with a field that nobody knows: which there are, and not its value', () => {
    expect(problemsWith(made, { name: 'n', more: 1 })).toEqual([
      { field: 'more', message: 'unknown field "more"; allowed: name, any' },
    ]);
    const [problem] = problemsWith({ ...without, path: '/none' }, { name: 'n' });
    expect(problem?.message).toBe('unknown field "name"; allowed: none');
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
  });

  test('if JSON cannot hold it', () => {
    expect(problemsWith(made, { name: 'n', any: 1n })).toEqual([
      { field: '', message: expect.stringMatching(/^cannot be written as JSON: .*BigInt/) },
    ]);
  });

  test('with flags that no shell could read', () => {
    const input = { hash_id: 'h', env: '-e =A' };
    expect(problemsWith(operationOf('templates.edit'), input)).toMatchObject([
      { field: 'env', message: expect.stringContaining('-e takes NAME') },
    ]);
  });

  test('if an address cannot hold it', () => {
    expect(problemsWith(asked, { name: 'half \uD83D' })).toMatchObject([{ field: 'name' }]);
  });

  test('with a key that no header can hold', () => {
    expect([undefined, '', 'sk-1~'].flatMap(keyProblems)).toEqual([]);
    for (const key of ['two words', 'line\n', 'ключ', 7])
      expect(keyProblems(key)).toMatchObject([{ field: 'apiKey' }]);
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

  const volume_info = { create_new: true, volume_id: 7, mount_path: '/data' };
  test.each<[OperationId, object, string, string]>([
    ['instances.create', { offer_id: 1 }, 'image', 'needed without template_hash_id'],
    ['instances.create', { offer_id: 1, image: 'i', volume_info }, 'volume_info.size', 'new volume, in GB'],
    ['tfa.login', {}, 'code', 'needed without backup_code'],
    ['tfa.login', { code: '123456' }, 'secret', 'needed with a code by sms or email'],
    ['tfa.login', { code: '123456', tfa_method: 'email' }, 'secret', 'needed with a code by sms or email'],
    ['charges.list', { select_filters: { day: { gte: 1 } } }, 'select_filters', 'both gte and lte'],
    ['tfa.remove', { backup_code: 'A1B2-C3D4-E5F6' }, 'target_id', 'needed with backup_code'],
    ['tfa.confirmNew', { tfa_method: 'sms', code: '123456', secret: 's' }, 'phone_number', 'tfa_method sms'],
    ['tfa.update', { label: 'x' }, 'tfa_method_id', 'needed without tfa_method'],
  ])('if it breaks a rule between fields: %s %j', (id, input, field, message) => {
    expect(problemsWith(operationOf(id), input)).toEqual([
      { field, message: expect.stringContaining(message) },
    ]);
  });
});
