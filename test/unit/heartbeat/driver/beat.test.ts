/** How the end of one heartbeat looks to the engine, which decides by it whether a deployment is lost or only its way. */
import { describe, expect, test, vi } from 'vitest';
import type { Peer } from '../../../../src/client/transport/transport.ts';
import {
  ApiError,
  RequestError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  type TransportReason,
} from '../../../../src/client/errors.ts';
import { createBeatPort, describeFailure, outcomeOf } from '../../../../src/heartbeat/driver/beat.ts';
import type { BeatRequest } from '../../../../src/heartbeat/driver/ports.ts';
import { refusal } from '../../../support/refusal.ts';

const OPERATION = 'deployments.heartbeat';

test.each<[status: number, outcome: object, code?: string]>([
  [200, { type: 'failed', reason: 'rejected' }],
  [299, { type: 'failed', reason: 'rejected' }],
  [199, { type: 'failed', reason: 'status' }],
  [300, { type: 'failed', reason: 'redirect' }],
  [399, { type: 'failed', reason: 'redirect' }],
  [400, { type: 'failed', reason: 'status' }],
  [401, { type: 'unauthorized' }],
  [403, { type: 'failed', reason: 'unreadable' }],
  [403, { type: 'unauthorized' }, 'forbidden'],
  [404, { type: 'failed', reason: 'unreadable' }],
  [499, { type: 'failed', reason: 'status' }],
  [500, { type: 'failed', reason: 'server-error' }],
  [503, { type: 'failed', reason: 'server-error' }],
])('a refusal with status %i', (status, outcome, code) => {
  expect(outcomeOf(new ApiError(OPERATION, refusal({ status, code })))).toMatchObject(outcome);
});

describe('an attempt without an answer', () => {
  test.each<[reason: TransportReason, of: string]>([
    ['dns', 'dns'],
    ['tls', 'tls'],
    ['reset', 'reset'],
    ['refused', 'connect'],
    ['unreachable', 'connect'],
    ['proxy', 'connect'],
    ['too-large', 'unreadable'],
    ['malformed', 'unreadable'],
    ['other', 'unknown'],
  ])('%s', (reason, of) => {
    const error = new TransportError(OPERATION, reason, new Error('x'));
    expect(outcomeOf(error)).toMatchObject({ type: 'failed', reason: of });
  });

  test.each<[reason: TransportReason, cause: object, why: string]>([
    ['refused', { address: '10.0.0.7', port: 443 }, 'connection refused (10.0.0.7:443)'],
    ['refused', { address: '::1', port: 443 }, 'connection refused ([::1]:443)'],
    ['unreachable', { errno: -113, address: '::1' }, 'the service is unreachable: host is unreachable (::1)'],
    ['unreachable', { code: 'UND_ERR_CONNECT_TIMEOUT' }, 'the service is unreachable: no answer in time'],
    [
      'dns',
      { errno: -3008, hostname: 'a.example' },
      'the name a.example does not resolve: unknown node or service',
    ],
    ['reset', { code: 'UND_ERR_SOCKET' }, 'the connection was closed'],
    [
      'proxy',
      { message: 'Proxy response (407) !== 200 when HTTP Tunneling' },
      'the proxy did not connect: it answered status 407',
    ],
    ['malformed', { name: 'HTTPParserError' }, 'the answer is not HTTP'],
    ['malformed', { code: 'UND_ERR_HEADERS_OVERFLOW' }, 'the headers of the answer are too large'],
    [
      'tls',
      { code: 'ERR_SSL_NO_PROTOCOLS', reason: 'no protocols' },
      'the TLS handshake failed: no protocols',
    ],
  ])('says why, with the address: %s', (reason, cause, why) => {
    const inner = Object.assign(new Error('x'), cause);
    for (const error of [inner, new AggregateError([inner]), new Error('y', { cause: inner })])
      expect(outcomeOf(new TransportError(OPERATION, reason, error))).toMatchObject({ why });
  });

  test.each<[code: string, words: string]>([
    ['SELF_SIGNED_CERT_IN_CHAIN', 'NODE_EXTRA_CA_CERTS'],
    ['UNABLE_TO_VERIFY_LEAF_SIGNATURE', 'NODE_EXTRA_CA_CERTS'],
    ['ERR_TLS_CERT_ALTNAME_INVALID', 'another host name'],
    ['CERT_HAS_EXPIRED', 'expired'],
    ['CERT_NOT_YET_VALID', 'clock'],
    ['ERR_SSL_WRONG_VERSION_NUMBER', 'does not speak TLS'],
    ['EPROTO', 'first line'],
  ])('names the CA only if that is the cause: %s', (code, words) => {
    const cause = Object.assign(new Error('first line\nsecond line'), { code });
    const place = { address: '10.0.0.7:443', isProxy: false };
    const { why } = outcomeOf(new TransportError(OPERATION, 'tls', cause, { place })) as { why: string };
    expect(why).toContain(words);
    expect(why.includes('NODE_EXTRA_CA_CERTS')).toBe(words === 'NODE_EXTRA_CA_CERTS');
    expect(why).toMatch(/^the TLS handshake failed: .*[^\n] \(10\.0\.0\.7:443\)$/);
  });

  test('names the address of those that answered, and says that it is the proxy', () => {
    const place = { address: '10.0.0.9:3128', isProxy: true };
    const refused = Object.assign(new Error('x'), { address: '127.0.0.1', port: 21_999 });
    const words = [
      new TimeoutError(OPERATION, 5, { place }),
      new ApiError(OPERATION, refusal({ status: 503 }), { place }),
      new ResponseError(OPERATION, 200, 'HTML', { place }),
      new TransportError(OPERATION, 'refused', refused, { place }),
    ].map((error) => (outcomeOf(error) as { why: string }).why);
    expect(words).toEqual([
      'no answer in time (proxy 10.0.0.9:3128)',
      'the service failed (status 503, proxy 10.0.0.9:3128)',
      'the answer does not come from the service; is there a proxy in between? (proxy 10.0.0.9:3128)',
      'connection refused (proxy 127.0.0.1:21999)',
    ]);
  });

  test('says that no key could be read, and asks for a report of other requests that break the contract', () => {
    const wordsFor = (field: string) =>
      describeFailure(new RequestError('deployments.list', [{ field, message: 'x' }]));
    expect(wordsFor('apiKey')).toBe('no API key could be read, so nothing was sent');
    expect(wordsFor('id')).toContain('please report it');
    const noRoute = new ApiError(OPERATION, refusal({ status: 404 }));
    expect(describeFailure(noRoute)).toContain('PILOTLIGHT_BASE_URL');
    expect(describeFailure(new Error('a mistake'))).not.toContain('(');
  });

  test('in time, that can be read, or that anybody has thought of', () => {
    const reasons = [
      new TimeoutError(OPERATION, 5),
      new ResponseError(OPERATION, 200, 'HTML'),
      new Error('a mistake'),
      'no error at all',
    ].map((error) => outcomeOf(error));
    expect(reasons).toMatchObject(
      ['timeout', 'unreadable', 'unknown', 'unknown'].map((reason) => ({ type: 'failed', reason })),
    );
  });
});

describe('one heartbeat', () => {
  type Heartbeat = Parameters<typeof createBeatPort>[0]['deployments']['heartbeat'];
  const { signal } = new AbortController();
  const request: BeatRequest = {
    deploymentId: 7,
    key: 'key',
    timeoutMs: 5_000,
    fresh: true,
    connected: () => {},
    signal,
  };

  test('is one attempt with the limits of the engine', async () => {
    const calls: unknown[] = [];
    const beat = createBeatPort({
      deployments: {
        heartbeat: async (input, options) => {
          calls.push(input, options);
          return { deployment_id: 7 };
        },
      },
    });
    expect(await beat(request)).toEqual({ type: 'accepted' });
    expect(calls).toEqual([
      { id: 7 },
      {
        apiKey: 'key',
        timeoutMs: 5_000,
        signal,
        retry: false,
        freshConnection: true,
        subject: 7,
        maxBytes: 65_536,
        onConnected: request.connected,
        onPeer: expect.any(Function),
      },
    ]);
  });

  test.each<
    [what: string, answer: () => Promise<{ deployment_id: number }>, judgement: unknown[], more: object]
  >([
    ['accepted', async () => ({ deployment_id: 7 }), [], {}],
    [
      'for another one',
      async () => ({ deployment_id: 8 }),
      ['wrong-deployment'],
      { type: 'failed', reason: 'wrong-deployment' },
    ],
    ['a 503', () => Promise.reject(new ApiError(OPERATION, refusal({ status: 503 }))), ['server-error'], {}],
    ['a 429', () => Promise.reject(new ThrottledError(OPERATION, refusal({ status: 429 }))), [], {}],
    [
      'that there is no such deployment',
      () => Promise.reject(new ApiError(OPERATION, refusal({ status: 404, meaning: 'not-found' }))),
      ['not-found', 7],
      { address: '192.0.2.1', addresses: 2 },
    ],
  ])('is judged by its answer: %s', async (_, answer, judgement, more) => {
    const judge = vi.fn<Peer['judge']>();
    const beatBy = (peer?: Peer) => {
      const heartbeat: Heartbeat = (_input, options) => {
        if (peer) options?.onPeer?.(peer);
        return answer();
      };
      return createBeatPort({ deployments: { heartbeat } })(request);
    };
    expect(await beatBy({ address: '192.0.2.1', addresses: 2, judge })).toMatchObject(more);
    expect(judge.mock.calls.flat()).toEqual(judgement);
    expect(await beatBy()).not.toHaveProperty('address');
  });
});
