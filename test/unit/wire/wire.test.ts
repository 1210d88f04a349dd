import { describe, expect, test } from 'vitest';
import { operationOf } from '../../../src/contract/operations.ts';
import { coerceFields } from '../../../src/wire/coerce.ts';
import { matchOperation } from '../../../src/wire/match.ts';
import { encodeRequest } from '../../../src/wire/request.ts';
import { decodeResponse, type WireResponse } from '../../../src/wire/response.ts';

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

  test('HTML with status 200, an empty body and another shape are unreadable', () => {
    expect(answer(200, '<html>gateway</html>')).toMatchObject({ kind: 'unreadable' });
    expect(answer(200, '')).toMatchObject({ kind: 'unreadable' });
    expect(answer(200, '{"success":"yes"}')).toMatchObject({ kind: 'unreadable' });
  });

  test('extra fields of an error body are kept', () => {
    expect(answer(429, '{"error":"tfa_locked","msg":"m","fail_count":5,"locked_until":9}')).toMatchObject({
      fields: { fail_count: 5, locked_until: 9 },
    });
  });

  test.each([
    [{ 'retry-after': '7' }, '', 7000],
    [{ 'retry-after': 'Sat, 21 Nov 2026 10:00:09 GMT', date: 'Sat, 21 Nov 2026 10:00:00 GMT' }, '', 9000],
    [{}, 'API requests too frequent: endpoint threshold=3.0', 3000],
    [{}, '{"detail":"API requests too frequent endpoint threshold=2.5"}', 2500],
    [{}, 'API requests too frequent', undefined],
  ])('reads when to come back from %j %s', (headers, text, retryAfterMs) => {
    expect(answer(429, text, headers)).toMatchObject({ kind: 'refused', retryAfterMs });
  });
});
