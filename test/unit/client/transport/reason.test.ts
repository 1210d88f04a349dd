import { errors } from 'undici';
import { expect, test } from 'vitest';
import { transportReason } from '../../../../src/client/transport/reason.ts';
import { BODY_TOO_LARGE } from '../../../../src/wire/body.ts';

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
