/** What an answer is: a success, a refusal in one of many shapes, or nothing that can be read. */
import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import type { Operation } from '../../../src/contract/define.ts';
import { operationOf, type OperationId } from '../../../src/contract/operations.ts';
import { secretText } from '../../../src/contract/schemas.ts';
import {
  decodeResponse,
  meaningOf,
  type Refusal,
  type RefusalMeaning,
  type WireResponse,
} from '../../../src/wire/response.ts';

const heartbeat = operationOf('deployments.heartbeat');
/** Long enough to be a key, not a word. */
const KEY = '0123456789abcdef'.repeat(3);

function answer(status: number, text: string, operation = heartbeat, headers: WireResponse['headers'] = {}) {
  return decodeResponse(operation, { status, text, headers }, KEY);
}

function refusalOf(status: number, text: string, operation = heartbeat): Refusal {
  const outcome = answer(status, text, operation);
  if (outcome.kind !== 'refused') throw new Error(`no refusal: ${outcome.kind}`);
  return outcome;
}

test('a success keeps fields that the contract does not know', () => {
  const text = '{"success":true,"deployment_id":42,"added":1}';
  const value = { success: true, deployment_id: 42, added: 1 };
  for (const written of [text, `\uFEFF${text}`]) expect(answer(200, written)).toEqual({ kind: 'ok', value });
});

test('a key that was deleted is told by a sentence, or by no body at all', () => {
  const deletion = operationOf('apiKeys.delete');
  const value = { success: true, msg: 'API key 2 deleted' };
  expect(answer(200, '"API key 2 deleted"', deletion)).toEqual({ kind: 'ok', value });
  expect(answer(204, '', deletion)).toEqual({ kind: 'ok', value: {} });
  expect(answer(200, '', deletion).kind).toBe('unreadable');
  expect(answer(200, '""', deletion).kind).toBe('refused');
  expect(answer(204, 'nothing', deletion).kind).toBe('unreadable');
});

describe('what cannot be read', () => {
  test.each([
    [200, '<html>gateway</html>', 'status 200 with a body that is not JSON (20 characters, no content type)'],
    [204, '', 'status 204 with a body that is not JSON (0 characters, no content type)'],
    [200, '{"success":"yes"}', 'an answer that does not fit the contract: deployment_id: is missing'],
    [200, '7', /^an answer that does not fit the contract: body: .*object/],
  ])('%i %s is described', (status, text, reason) => {
    expect(answer(status, text)).toMatchObject({
      kind: 'unreadable',
      reason: typeof reason === 'string' ? reason : expect.stringMatching(reason),
    });
  });

  test('is never quoted: it may hold a secret', () => {
    const headers = { 'content-type': 'text/plain' };
    expect(answer(200, 'session=s3cret', heartbeat, headers)).toMatchObject({
      reason: 'status 200 with a body that is not JSON (14 characters, text/plain)',
    });
  });
});

describe('a refusal', () => {
  test.each([
    ['an error body', 404, '{"error":"not_found","msg":"no such"}', 'not_found', 'no such'],
    ['a code that is no text', 400, '{"error":7,"msg":"no"}', undefined, 'no'],
    ['only a message', 400, '{"message":"bad"}', undefined, 'bad'],
    ['detail', 404, '{"detail":"Not Found"}', undefined, 'Not Found'],
    ['plain text', 429, 'API requests too frequent', undefined, 'API requests too frequent'],
    ['success false with status 200', 200, '{"success":false,"msg":"no"}', undefined, 'no'],
    ['success "False" with status 299', 299, '{"success":"False","msg":"no"}', undefined, 'no'],
    ['success 0 with status 200', 200, '{"success":0,"msg":"no"}', undefined, 'no'],
    ['error_msg with status 200', 200, '{"error_msg":"no such group"}', undefined, 'no such group'],
    ['a bare JSON string with status 200', 200, '"not yours"', undefined, 'not yours'],
    ['a redirect', 301, '', undefined, 'no message'],
    ['a redirect with words', 300, 'elsewhere', undefined, 'elsewhere'],
    ['a success that quotes nothing', 200, '{"success":false,"key":"s3cret"}', undefined, 'no message'],
  ])('is %s', (_, status, text, code, message) => {
    expect(answer(status, text)).toMatchObject({ kind: 'refused', status, code, message });
  });

  test('quotes the first 120 characters of a page, on one line, and no JSON', () => {
    const quoted = (text: string) => refusalOf(502, text).message;
    expect(quoted(`  <b>\n\n  bad ${'x'.repeat(200)}`)).toBe(`<b> bad ${'x'.repeat(112)}…`);
    expect(quoted('x'.repeat(120))).toBe('x'.repeat(120));
    for (const text of ['', '{"password": "p', '  ["p', '"p', '\uFEFF{"p'])
      expect(quoted(text)).toBe('no message');
    expect(quoted('see {"this"}')).toBe('see {"this"}');
  });

  test('tells which fields a framework does not take', () => {
    const detail = [
      { loc: ['body', 'name'], msg: 'Field required', input: 's3cret' },
      { msg: 'Too long' },
      'row',
      { loc: ['x'], msg: '' },
      null,
    ];
    expect(refusalOf(422, JSON.stringify({ detail })).message).toBe('body.name: Field required; Too long');
  });

  test('keeps the other fields of its body, as the types that the table gives them', () => {
    const fields = (more: object) =>
      refusalOf(429, JSON.stringify({ error: 'tfa_locked', msg: 'm', ...more })).fields;
    expect(fields({ fail_count: '5', locked_until: '9.5', more: '7' })).toEqual({
      fail_count: 5,
      locked_until: 9.5,
      more: '7',
    });
    expect(fields({ fail_count: 'five', locked_until: null })).toEqual({});
  });

  test('of a request with secrets keeps fields that can hold none', () => {
    const guarded: Operation = { ...heartbeat, body: z.object({ name: secretText.optional() }) };
    const body = JSON.stringify({ count: 3, locked: true, until: null, name: 'secret', tried: ['secret'] });
    expect(refusalOf(400, body, guarded).fields).toEqual({ count: 3, locked: true, until: null });
    expect(refusalOf(400, body).fields).toMatchObject({ name: 'secret' });
  });

  test.each([
    ['apiKeys.create', 500, '{"success":true,"key":"s3cret"}'],
    ['apiKeys.reset', 502, '{"success":true,"new_api_key":"s3cret'],
    ['apiKeys.create', 500, '"s3cret"'],
    ['apiKeys.create', 502, 'key=s3cret'],
    ['tfa.login', 500, '[{"session_key":"s3cret"}]'],
    ['workergroups.logs', 422, '{"detail":[{"msg":"Field required","input":{"api_key":"s3cret"}}]}'],
    ['workergroups.logs', 502, '<pre>{"api_key":"s3cret"}</pre>'],
    ['templates.create', 502, '<pre>{"docker_login_pass":"s3cret"}</pre>'],
    ['deployments.heartbeat', 502, '\uFEFF {"authorization":"Bearer s3cret"'],
    ['deployments.heartbeat', 502, `<pre>${'-'.repeat(115)}s3cret-key</pre>`],
    ['deployments.heartbeat', 401, '{"error":"s3cret-key","msg":"s3cret-key is bad"}'],
  ] as const)('%s: status %i quotes no secret of %s', (id, status, text) => {
    const refused = decodeResponse(operationOf(id), { status, text, headers: {} }, 's3cret-key');
    expect(refused.kind).toBe('refused');
    expect(JSON.stringify(refused)).not.toContain('s3c');
  });
});

describe('a refusal in the public service’s words', () => {
  const template = { id: 9, hash_id: 'abc' };

  test.each<[OperationId, number, object, unknown]>([
    ['templates.search', 200, { success: false, msg: 'No templates found' }, { templates: [] }],
    ['templates.create', 200, { success: false, msg: 'Existing Template Found: x', template }, { template }],
    ['endpointGroups.list', 400, { error: 'bad', msg: 'No endpoints for user 7 found.' }, { results: [] }],
  ])('may be an answer: %s %i %j', (id, status, body, value) => {
    expect(answer(status, JSON.stringify(body), operationOf(id))).toEqual({ kind: 'ok', value });
  });

  test.each<[OperationId, string]>([
    ['endpointGroups.update', 'Endpoint 31 for user 7 not found.'],
    ['workergroups.update', 'Workergroup 5 not found.'],
  ])('may say that something is not there, with status 400: %s', (id, msg) => {
    const says = (words: string) =>
      refusalOf(400, JSON.stringify({ success: false, error: 'bad', msg: words }), operationOf(id)).meaning;
    expect([says(msg), says('no')]).toEqual(['not-found', 'other']);
  });

  test('is no answer if its words are there without what they promise', () => {
    const text = JSON.stringify({ success: false, msg: 'Existing Template Found' });
    expect(answer(200, text, operationOf('templates.create'))).toMatchObject({ kind: 'refused' });
  });
});

const OVER = 'Session expired. Please log in again.';
test.each<[status: number, body: unknown, meaning: RefusalMeaning]>([
  [404, { error: 'not_found', msg: 'no such deployment' }, 'not-found'],
  [404, { success: false, msg: 'deployment session-cache not found' }, 'not-found'],
  [404, { error: 'not_found', msg: 'no deployment "please log in"' }, 'not-found'],
  [404, { success: false, msg: OVER }, 'unauthorized'],
  [404, { message: OVER }, 'unauthorized'],
  [404, { error: 'auth_error', msg: 'not logged in' }, 'unauthorized'],
  [404, OVER, 'unauthorized'],
  [404, { message: 'no Route matched with those values' }, 'other'],
  [404, { detail: 'Not Found' }, 'other'],
  [404, { error: 'Not Found', status: 404 }, 'other'],
  [404, { msg: 'not found' }, 'other'],
  [404, { success: true, msg: 'not found' }, 'other'],
  [404, { error: { code: 5 }, msg: 'not found' }, 'other'],
  [404, { error: 'not_found', msg: null }, 'other'],
  [404, [{ error: 'not_found', msg: 'no such deployment' }], 'other'],
  [404, undefined, 'other'],
  [200, OVER, 'unauthorized'],
  [299, { msg: 'session expired' }, 'unauthorized'],
  [200, 'Invalid user key', 'unauthorized'],
  [200, { error_msg: OVER }, 'unauthorized'],
  [200, { success: false, error: 'auth_error', msg: 'log in' }, 'unauthorized'],
  [200, { error_msg: 'no endpoint named session' }, 'other'],
  [200, { error: 'authorization_required', msg: 'session expired' }, 'other'],
  [199, { msg: 'session expired' }, 'other'],
  [300, { msg: 'session expired' }, 'other'],
  [401, undefined, 'unauthorized'],
  [401, { error: { code: 'not_found' } }, 'unauthorized'],
  [401, { error: 'invalid_key', msg: 'Invalid user key' }, 'unauthorized'],
  [401, { error: 'invalid_backup_code', msg: 'used already' }, 'other'],
  [403, { error: 'auth_error', msg: 'not valid' }, 'unauthorized'],
  [403, { msg: 'expired session' }, 'unauthorized'],
  [403, { error_msg: 'the session has expired; log in again' }, 'unauthorized'],
  [403, { error: 'forbidden', msg: 'this key may not' }, 'other'],
  [403, undefined, 'other'],
  [429, undefined, 'throttled'],
  [400, { msg: 'Session expired' }, 'other'],
  [500, { msg: 'session expired' }, 'other'],
])('%i %j means %s', (status, body, meaning) => {
  expect(meaningOf(status, body)).toBe(meaning);
});
