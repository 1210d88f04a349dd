import { describe, expect, test } from 'vitest';
import {
  AbortedError,
  refusalError,
  RequestError,
  ResponseError,
  TimeoutError,
  TransportError,
  explainError,
  transportReason,
  type ApiError,
  type CallError,
} from '../../../src/client/errors.ts';
import type { Refusal } from '../../../src/wire/response.ts';
import { errors } from 'undici';
import { BODY_TOO_LARGE } from '../../../src/wire/body.ts';
import { refusal } from '../../support/refusal.ts';

const ID = 'tfa.login';

const refused = (more: Partial<Refusal> = {}): ApiError => refusalError(ID, refusal(more));

describe('who must act', () => {
  const key = { status: 401, meaning: 'unauthorized' } as const;
  const bye = () => new TransportError(ID, 'reset', new Error('bye'));
  const other = () => new TransportError(ID, 'other', new TypeError());

  test.each<[make: () => CallError, code: string, actor: string, message: string]>([
    [() => new RequestError(ID, []), 'invalid_request', 'user', ''],
    [() => refused(), 'api_error', 'user', 'status 400: no'],
    [() => refused({ code: 'not_found', status: 404 }), 'api_error', 'user', 'status 404 not_found: no'],
    [() => refused({ code: 'toString' }), 'api_error', 'user', 'status 400 toString: no'],
    [() => refused({ status: 500 }), 'api_error', 'service', 'status 500: no'],
    [() => refused({ status: 499 }), 'api_error', 'user', 'status 499: no'],
    [() => refused({ status: 429, meaning: 'throttled' }), 'throttled', 'service', 'status 429: no'],
    [() => refused(key), 'unauthorized', 'user', 'status 401: no'],
    [bye, 'transport', 'service', 'connection failed (reset): bye'],
    [other, 'transport', 'service', 'connection failed (other): TypeError'],
    [() => new TimeoutError(ID, 70), 'timeout', 'service', 'no complete answer within 70 ms'],
    [() => new AbortedError(ID, 'aborted'), 'aborted', 'user', 'aborted'],
    [() => new ResponseError(ID, 200, 'not JSON'), 'unreadable_response', 'service', 'not JSON'],
  ])('%#: %s %s', (make, code, actor, message) => {
    const error = make();
    expect([error.code, error.actor, error.message]).toEqual([code, actor, `tfa.login: ${message}`]);
  });

  test('is what the table says where it knows the code, whatever the status', () => {
    const message = 'tfa.login: status 500 not_found: no';
    expect(refused({ code: 'not_found', status: 500 })).toMatchObject({ actor: 'user', message });
  });
});

test('an error of the input has each field, what is wrong with it, and a short piece of what it got', () => {
  const problem = (field: string, value?: unknown) => ({ field, message: 'is wrong', value });
  const error = new RequestError(ID, [
    problem('a', 'x'.repeat(200)),
    problem('b', { c: { d: { e: 1 } } }),
    problem('', 7),
    problem('f'),
  ]);
  expect(error.message).toBe(
    `tfa.login: a: is wrong (got '${'x'.repeat(79)}); b: is wrong (got { c: { d: [Object] } }); is wrong (got 7); f: is wrong`,
  );
});

test('a refusal is known by its code, and changed nothing', () => {
  const error = refused({ code: 'tfa_locked' });
  expect([error.hasCode('tfa_locked'), error.hasCode('not_found')]).toEqual([true, false]);
  expect([error.mayBeDone, error.rawAnswer()]).toEqual([false, '']);
});

describe('in words for a person', () => {
  const NOW = Date.UTC(2026, 0, 1);
  const locked = (until: unknown) => ({ message: 'Locked.', fields: { locked_until: until } });

  test.each<[string, Partial<Refusal>, string]>([
    ['the words of the service', { message: 'not now' }, 'Not now.'],
    ['no words', { message: '' }, ''],
    ['a code that only looks like one', { code: 'toString', message: 'x' }, 'X.'],
    [
      'a lock that goes on',
      locked(NOW / 1000 + 61),
      'Locked. The method is locked until 2026-01-01T00:01:01.000Z (2 min).',
    ],
    ['a lock that is over', locked(NOW / 1000), 'Locked.'],
    ['a lock that is no time', locked('soon'), 'Locked.'],
  ])('%s', (_, more, words) => {
    const error = refused(more);
    expect(explainError(error, NOW)).toBe(words);
  });

  test('what the table advises', () => {
    expect(explainError(refused({ code: 'bad_request', message: 'Missing field' }), NOW)).toBe(
      'Missing field. Check the input against the operation (`pilotlight ops`).',
    );
  });
});

test.each([
  [
    'Your key lacks proper privileges: it requires you to have logged in using Two Factor Authentication',
    'create a new key there',
    'second-factor',
  ],
  ['Your key lacks the instance_write permission group', 'Give the key this permission', 'unauthorized'],
])('what the public service says in words alone is explained: %s', (msg, advice, kind) => {
  const error = refused({ status: 401, code: 'auth_error', message: msg, meaning: 'unauthorized' });
  expect(explainError(error)).toContain(advice);
  expect(error.kind).toBe(kind);
});

test.each([
  ['not-found', 'the session has expired', 'expired'],
  ['not-found', 'an unexpired one', 'not-found'],
  ['other', 'the session has expired', 'other'],
] as const)('a refusal that means %s and says "%s" is %s', (meaning, message, kind) => {
  expect(refused({ meaning, message }).kind).toBe(kind);
});

test.each([
  ['refused', ['ECONNREFUSED']],
  ['too-large', [BODY_TOO_LARGE]],
  ['reset', ['ECONNRESET', 'EPIPE', 'ECONNABORTED', 'UND_ERR_SOCKET', 'UND_ERR_CLOSED']],
  ['dns', ['ENOTFOUND', 'EAI_AGAIN', 'EAI_FAIL', 'ENODATA']],
  [
    'unreachable',
    ['EHOSTUNREACH', 'ENETUNREACH', 'ENETDOWN', 'EPERM', 'EACCES', 'EADDRNOTAVAIL', 'ETIMEDOUT'],
  ],
  ['unreachable', ['UND_ERR_CONNECT_TIMEOUT']],
  ['proxy', ['UND_ERR_PRX_TLS', 'UND_ERR_ABORTED']],
  ['malformed', ['UND_ERR_HEADERS_OVERFLOW']],
  [
    'tls',
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'ERR_SSL_WRONG_VERSION_NUMBER', 'UNABLE_TO_VERIFY_LEAF_SIGNATURE'],
  ],
  ['tls', ['DEPTH_ZERO_SELF_SIGNED_CERT', 'CERT_HAS_EXPIRED', 'EPROTO']],
  ['tls', ['INVALID_PURPOSE', 'INVALID_CA', 'PATH_LENGTH_EXCEEDED', 'HOSTNAME_MISMATCH', 'CRL_HAS_EXPIRED']],
  ['other', ['EMFILE', 'EPROTOTYPE', 'XEPROTO', 'XERR_TLS', 'UND_ERR_INFO', 'X_UND_ERR_PRX']],
])('%s: %j', (reason, codes) => {
  for (const code of codes) {
    const error = Object.assign(new Error('x'), { code });
    expect([code, transportReason(error)]).toEqual([code, reason]);
    // As Node has it where a name has several addresses.
    expect(transportReason(new AggregateError([error, new Error('y')]))).toBe(reason);
  }
});

test('what has no code is told by its class', () => {
  expect(transportReason(new Error('x'))).toBe('other');
  expect(transportReason(Object.assign(new Error('x'), { name: 'HTTPParserError' }))).toBe('malformed');
  expect(transportReason(new errors.SocketError('closed'))).toBe('reset');
  expect(transportReason(new AggregateError([new errors.ConnectTimeoutError()]))).toBe('unreachable');
});
