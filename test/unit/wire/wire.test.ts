import { describe, expect, test } from 'vitest';
import * as z from 'zod';
import { operationOf } from '../../../src/contract/operations.ts';
import { coerceFields, coerceText } from '../../../src/wire/coerce.ts';
import { matchOperation } from '../../../src/wire/match.ts';
import { encodeRequest } from '../../../src/wire/request.ts';
import {
  decodeResponse,
  meaningOf,
  type RefusalMeaning,
  type WireResponse,
} from '../../../src/wire/response.ts';

const heartbeat = operationOf('deployments.heartbeat');
const logs = operationOf('workergroups.logs');

function answer(status: number, text: string, headers: WireResponse['headers'] = {}) {
  return decodeResponse(heartbeat, { status, text, headers });
}

describe('request encoding', () => {
  test('a heartbeat has its id in the path and no body', () => {
    expect(encodeRequest(heartbeat, { id: 42 }, 'key')).toEqual({
      ok: true,
      request: { method: 'POST', target: '/api/v0/deployment/42/heartbeat', body: undefined },
    });
  });

  test('the key goes into the body of operations that ask for it there, and nowhere else', () => {
    const encoded = encodeRequest(logs, { id: 7, tail: 10 }, 'key');
    expect(encoded.ok && JSON.parse(encoded.request.body ?? '')).toEqual({ id: 7, tail: 10, api_key: 'key' });
    expect(JSON.stringify(encodeRequest(heartbeat, { id: 42 }, 'the-key'))).not.toContain('the-key');
  });

  test('all problems of an input are reported, with the values it got', () => {
    const encoded = encodeRequest(logs, { id: -1, tail: 'ten', extra: true }, 'key');
    expect(encoded.ok).toBe(false);
    expect(!encoded.ok && encoded.problems.map(({ field, value }) => [field, value])).toEqual([
      ['extra', true],
      ['id', -1],
      ['tail', 'ten'],
    ]);
  });
});

describe('extra fields', () => {
  const search = operationOf('templates.search');
  const edit = operationOf('templates.edit');

  test('go into the body beside the others, unchecked, also what unsets a field', () => {
    const extra = { readme_visible: true, tag: null, nested: { any: ['thing'] } };
    const encoded = encodeRequest(edit, { hash_id: 'h', desc: 'new', extra }, 'key');
    expect(encoded.ok && JSON.parse(encoded.request.body ?? '')).toEqual({
      hash_id: 'h',
      desc: 'new',
      ...extra,
    });
  });

  test('go into the query where there is no body', () => {
    const encoded = encodeRequest(search, { extra: { select_cols: ['id'], not_set: undefined } }, 'key');
    expect(encoded.ok && encoded.request.target).toBe('/api/v0/template/?select_cols=%5B%22id%22%5D');
  });

  test('do not stand in for a field that is set, nor for the key', () => {
    const encoded = encodeRequest(logs, { id: 7, tail: 1, extra: { tail: 2, api_key: 'other' } }, 'key');
    expect(!encoded.ok && encoded.problems.map(({ field }) => field)).toEqual([
      'extra.tail',
      'extra.api_key',
    ]);
  });

  test.each([[null], [[1]], ['tag=x'], [true]])('%j is no object of fields', (extra) => {
    expect(encodeRequest(edit, { hash_id: 'h', extra }, 'key')).toMatchObject({
      problems: [{ field: 'extra', value: extra }],
    });
  });

  test('are unknown where nothing is sent', () => {
    expect(encodeRequest(heartbeat, { id: 42, extra: {} }, 'key')).toMatchObject({
      problems: [{ field: 'extra' }],
    });
  });
});

describe('route matching', () => {
  test.each(['/api/v0/deployment/42/heartbeat', '/api/v0/deployment/42/heartbeat/'])('%s', (path) => {
    expect(matchOperation('POST', path)).toEqual({ value: 'deployments.heartbeat', params: { id: '42' } });
  });

  test('another method, a longer path or a broken escape is no match', () => {
    expect(matchOperation('GET', '/api/v0/deployment/42/heartbeat')).toBeUndefined();
    expect(matchOperation('POST', '/api/v0/deployment/42/heartbeat/now')).toBeUndefined();
    expect(matchOperation('POST', '/api/v0/deployment/%E0%A4%A/heartbeat')).toBeUndefined();
  });

  test('text becomes the type that the schema wants, or stays text', () => {
    const params = heartbeat.params;
    expect(params && coerceFields(params, { id: '42' })).toEqual({ id: 42 });
    expect(params && coerceFields(params, { id: '' })).toEqual({ id: '' });
    expect(params && coerceFields(params, { id: '42x' })).toEqual({ id: '42x' });
  });

  test('an integer is written as ids are, a number in any way', () => {
    for (const text of ['1e2', '007', '4.0', '-0']) {
      expect(coerceText(z.int(), text)).toBe(text);
      expect(coerceText(z.number(), text)).toBe(Number(text));
    }
    for (const text of ['+7', ' 7', '0x10']) expect(coerceText(z.int(), text)).toBe(text);
    expect(['0', '-3', '42'].map((text) => coerceText(z.int(), text))).toEqual([0, -3, 42]);
  });
});

describe('response decoding', () => {
  test('a success keeps fields that the contract does not know', () => {
    const text = '{"success":true,"deployment_id":42,"added":1}';
    expect(answer(200, text)).toEqual({ kind: 'ok', value: { success: true, deployment_id: 42, added: 1 } });
  });

  test.each([
    [
      'error body',
      404,
      '{"error":"not_found","msg":"no such deployment"}',
      'not_found',
      'no such deployment',
    ],
    ['only a message', 400, '{"message":"bad"}', undefined, 'bad'],
    ['detail', 429, '{"detail":"too frequent"}', undefined, 'too frequent'],
    ['plain text', 429, 'API requests too frequent', undefined, 'API requests too frequent'],
    ['success false with status 200', 200, '{"success":false,"msg":"no"}', undefined, 'no'],
    ['error_msg with status 200', 200, '{"error_msg":"no such group"}', undefined, 'no such group'],
    ['bare JSON string with status 200', 200, '"not yours"', undefined, 'not yours'],
    ['redirect', 301, '', undefined, 'no message'],
  ])('%s is a refusal', (_, status, text, code, message) => {
    expect(answer(status, text)).toMatchObject({ kind: 'refused', status, code, message });
  });

  test.each(['{"success":true,"deployment_id":42,"error":""}', '{"success":true,"error_msg":""}'])(
    'an empty error is no refusal: %s',
    (text) => {
      expect(decodeResponse(operationOf('workergroups.logs'), { status: 200, text, headers: {} }).kind).toBe(
        'ok',
      );
    },
  );

  test('HTML with status 200, an empty body and another shape are unreadable', () => {
    expect(answer(200, '<html>gateway</html>')).toMatchObject({ kind: 'unreadable' });
    expect(answer(200, '')).toMatchObject({ kind: 'unreadable' });
    expect(answer(200, '{"success":"yes"}')).toMatchObject({ kind: 'unreadable' });
  });

  test('a success that is not JSON is described, never quoted: it may hold a secret', () => {
    expect(answer(200, 'session=s3cret', { 'content-type': 'text/plain' })).toMatchObject({
      reason: 'status 200 with a body that is not JSON (14 characters, text/plain)',
    });
    expect(answer(204, '')).toMatchObject({
      reason: 'status 204 with a body that is not JSON (0 characters, no content type)',
    });
  });

  test.each([
    ['0', 0],
    ['"0"', '0'],
    ['"false"', 'false'],
    ['"False"', 'False'],
    ['false', false],
  ])('success: %s is a refusal', (_, success) => {
    expect(answer(200, JSON.stringify({ success, deployment_id: 42, msg: 'no' }))).toMatchObject({
      kind: 'refused',
      message: 'no',
    });
  });

  test('a refusal with the status of a success quotes no more than its words', () => {
    expect(answer(200, '{"success":false,"key":"s3cret"}')).toMatchObject({ message: 'no message' });
    expect(answer(400, '{"success":false,"limit":3}')).toMatchObject({ message: 'no message' });
  });

  test.each([
    ['apiKeys.create', 500, '{"success":true,"key":"s3cret"}'],
    ['apiKeys.reset', 502, '{"success":true,"new_api_key":"s3cret'],
    ['apiKeys.create', 500, '{"api_key":"s3cret","user":{"key":"s3cret"}}'],
    ['apiKeys.create', 500, '"s3cret"'],
    ['apiKeys.create', 502, 'key=s3cret'],
    ['tfa.login', 500, '[{"session_key":"s3cret"}]'],
    ['workergroups.logs', 422, '{"detail":[{"msg":"Field required","input":{"api_key":"s3cret"}}]}'],
    ['workergroups.logs', 400, '{"error":"bad_request","request":{"api_key":"s3cret"}}'],
    ['workergroups.logs', 502, '<pre>{"api_key":"s3cret"}</pre>'],
    ['templates.create', 502, '<pre>{"docker_login_pass":"s3cret"}</pre>'],
    ['deployments.heartbeat', 502, '\uFEFF {"authorization":"Bearer s3cret"'],
    ['deployments.heartbeat', 502, `<pre>${'-'.repeat(115)}s3cret-key</pre>`],
  ] as const)('%s: a refusal with status %i quotes no secret of %s', (id, status, text) => {
    const refused = decodeResponse(operationOf(id), { status, text, headers: {} }, 's3cret-key');
    expect(refused.kind).toBe('refused');
    expect(JSON.stringify(refused)).not.toContain('s3c');
  });

  test('what a framework says of the fields of a request is read, and a page quoted', () => {
    const detail = [
      { type: 'missing', loc: ['body', 'ttl'], msg: 'Field required', input: { key: 's3cret' } },
    ];
    expect(answer(422, JSON.stringify({ detail }))).toMatchObject({ message: 'body.ttl: Field required' });
    expect(answer(502, '<h1>Bad\nGateway</h1>')).toMatchObject({ message: '<h1>Bad Gateway</h1>' });
  });

  test('a key that was deleted is told by a sentence, or by no body at all', () => {
    const deletion = operationOf('apiKeys.delete');
    expect(decodeResponse(deletion, { status: 200, text: '"API key 2 deleted"', headers: {} })).toEqual({
      kind: 'ok',
      value: { success: true, msg: 'API key 2 deleted' },
    });
    expect(decodeResponse(deletion, { status: 204, text: '', headers: {} })).toEqual({
      kind: 'ok',
      value: {},
    });
    expect(decodeResponse(deletion, { status: 200, text: '', headers: {} }).kind).toBe('unreadable');
  });

  test('extra fields of an error body are kept', () => {
    expect(answer(429, '{"error":"tfa_locked","msg":"m","fail_count":5,"locked_until":9}')).toMatchObject({
      fields: { fail_count: 5, locked_until: 9 },
    });
    const off = '{"error":"tfa_locked","msg":"m","fail_count":"5","locked_until":"9.5","more":"7"}';
    expect(answer(429, off)).toMatchObject({ fields: { fail_count: 5, locked_until: 9.5, more: '7' } });
    const unknown = '{"error":"tfa_locked","msg":"m","fail_count":"five","locked_until":null}';
    expect(answer(429, unknown)).toMatchObject({ fields: {} });
  });

  const SERVED = 'Sat, 21 Nov 2026 10:00:00 GMT';
  const LONGEST = 2 ** 31 - 1;
  test.each<[headers: WireResponse['headers'], retryAfterMs: number | undefined]>([
    [{ 'retry-after': '7' }, 7000],
    [{ 'retry-after': ' 0 ' }, 0],
    [{ 'retry-after': '1.5' }, 1500],
    [{ 'retry-after': ['3', '9'] }, 3000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:09 GMT', date: SERVED }, 9000],
    [{ 'retry-after': 'Saturday, 21-Nov-26 10:00:09 GMT', date: SERVED }, 9000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 09:00:00 GMT', date: SERVED }, 0],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:09 GMT' }, undefined],
    [{ 'retry-after': 'Sat, 21 Nov 9999 10:00:09 GMT', date: SERVED }, LONGEST],
    [{ 'retry-after': '9'.repeat(400) }, LONGEST],
    [{ 'retry-after': '-5', date: SERVED }, undefined],
    [{ 'retry-after': 'NaN', date: SERVED }, undefined],
    [{ 'retry-after': 'soon, or later', date: SERVED }, undefined],
    [{ 'retry-after': '' }, undefined],
    [{}, undefined],
  ])('Retry-After of %j is %j ms', (headers, retryAfterMs) => {
    expect(answer(429, 'endpoint threshold=3.0', headers)).toMatchObject({ retryAfterMs, thresholdMs: 3000 });
  });

  test.each<[text: string, thresholdMs: number | undefined]>([
    ['API requests too frequent: endpoint threshold=3.0', 3000],
    ['{"detail":"API requests too frequent endpoint threshold=2.0"}', 2000],
    ['{"success":false,"error":"rate_limited","msg":"too frequent: endpoint threshold=2.5"}', 2500],
    [`threshold=${'9'.repeat(400)}`, LONGEST],
    ['threshold=0', undefined],
    ['threshold=-3', undefined],
    ['threshold=NaN', undefined],
    ['API requests too frequent', undefined],
  ])('%s: a threshold of %j ms, and no Retry-After', (text, thresholdMs) => {
    expect(answer(429, text)).toMatchObject({ meaning: 'throttled', retryAfterMs: undefined, thresholdMs });
  });

  test('a threshold counts with 429 alone', () => {
    expect(answer(503, 'endpoint threshold=3.0')).toMatchObject({ thresholdMs: undefined });
  });
});

describe('what a refusal means', () => {
  test.each<[status: number, body: unknown, meaning: RefusalMeaning]>([
    [404, { error: 'not_found', msg: 'no such deployment' }, 'not-found'],
    [404, { success: false, msg: 'Deployment 42 not found' }, 'not-found'],
    [404, { success: false, error: 'no_such_deployment', msg: '' }, 'not-found'],
    [404, { success: false, msg: 'Session expired. Please log in again.' }, 'unauthorized'],
    [404, { message: 'Session expired. Please log in again.' }, 'unauthorized'],
    [404, { error: 'auth_error', msg: 'your session has ended' }, 'unauthorized'],
    [404, { error: 'auth_error', msg: 'not logged in' }, 'unauthorized'],
    [404, { error: 'not_found', msg: 'deployment session-cache not found' }, 'not-found'],
    [404, { error: 'not_found', msg: 'no deployment "please log in"' }, 'not-found'],
    [404, { success: false, msg: 'deployment session-cache not found' }, 'not-found'],
    [404, { success: false, msg: 'no endpoint named session' }, 'not-found'],
    [200, { error_msg: 'no endpoint named session' }, 'other'],
    [200, 'no such endpoint: session', 'other'],
    [403, { msg: 'not the owner of session-cache' }, 'other'],
    [404, { message: 'no Route matched with those values' }, 'other'],
    [404, { detail: 'Not Found' }, 'other'],
    [404, { error: 'Not Found', status: 404, path: '/api/v0/deployment/42/heartbeat' }, 'other'],
    [404, { msg: 'not found' }, 'other'],
    [404, { success: true, msg: 'not found' }, 'other'],
    [404, { error: { code: 5 }, msg: 'not found' }, 'other'],
    [404, { error: 'not_found', msg: null }, 'other'],
    [404, [{ error: 'not_found', msg: 'no such deployment' }], 'other'],
    [404, 'not found', 'other'],
    [404, 'Session expired. Please log in again.', 'unauthorized'],
    [200, 'Session expired. Please log in again.', 'unauthorized'],
    [200, 'Invalid user key', 'unauthorized'],
    [200, { error_msg: 'Session expired. Please log in again.' }, 'unauthorized'],
    [200, { success: false, error: 'auth_error', msg: 'log in' }, 'unauthorized'],
    [200, 'no worker group 9', 'other'],
    [200, { error: 'authorization_required', msg: 'the session has no window' }, 'other'],
    [404, null, 'other'],
    [404, undefined, 'other'],
    [401, undefined, 'unauthorized'],
    [401, { error: 'invalid_key', msg: 'Invalid user key' }, 'unauthorized'],
    [401, { error: 'invalid_backup_code', msg: 'used already' }, 'other'],
    [403, { error: 'auth_error', msg: 'not valid' }, 'unauthorized'],
    [403, { msg: 'expired session' }, 'unauthorized'],
    [403, { message: 'Session expired' }, 'unauthorized'],
    [403, { error_msg: 'the session has expired; log in again' }, 'unauthorized'],
    [403, { error_msg: 'the API key lacks a permission' }, 'other'],
    [403, { error: 'authorization_required', msg: 'the session has no window' }, 'other'],
    [403, { error: 'forbidden', msg: 'this key may not' }, 'other'],
    [403, undefined, 'other'],
    [429, undefined, 'throttled'],
    [400, { msg: 'Session expired' }, 'other'],
    [500, { error: 'internal_error', msg: 'session store' }, 'other'],
  ])('%i %j: %s', (status, body, meaning) => {
    expect(meaningOf(status, body)).toBe(meaning);
  });
});
