/** How the end of one heartbeat looks to the engine, which decides by it whether a deployment is lost or only its way. */
import { describe, expect, test, vi } from 'vitest';
import type { Peer } from '../../../../src/client/transport/transport.ts';
import {
  ApiError,
  ResponseError,
  ThrottledError,
  TimeoutError,
  TransportError,
  UnauthorizedError,
  type TransportReason,
} from '../../../../src/client/errors.ts';
import { createBeatPort, outcomeOf } from '../../../../src/heartbeat/driver/beat.ts';
import type { BeatRequest } from '../../../../src/heartbeat/driver/ports.ts';
import type { Refusal } from '../../../../src/wire/response.ts';

const OPERATION = 'deployments.heartbeat';

function refusal(status: number, more: Partial<Refusal> = {}): Refusal {
  return {
    kind: 'refused',
    status,
    code: undefined,
    message: 'no',
    meaning: 'other',
    fields: {},
    retryAfterMs: undefined,
    thresholdMs: undefined,
    ...more,
  };
}

describe('a refusal', () => {
  test.each([
    [200, { type: 'failed', reason: 'rejected' }],
    [299, { type: 'failed', reason: 'rejected' }],
    [199, { type: 'failed', reason: 'status' }],
    [300, { type: 'failed', reason: 'redirect' }],
    [399, { type: 'failed', reason: 'redirect' }],
    [400, { type: 'failed', reason: 'status' }],
    [401, { type: 'unauthorized' }],
    [403, { type: 'unauthorized' }],
    [404, { type: 'failed', reason: 'unreadable' }],
    [499, { type: 'failed', reason: 'status' }],
    [500, { type: 'failed', reason: 'server-error' }],
    [503, { type: 'failed', reason: 'server-error' }],
  ])('with status %i', (status, outcome) => {
    expect(outcomeOf(new ApiError(OPERATION, refusal(status)))).toEqual(outcome);
  });

  test('by the service itself, which says that there is no such deployment', () => {
    expect(outcomeOf(new ApiError(OPERATION, refusal(404, { meaning: 'not-found' })))).toEqual({
      type: 'not-found',
    });
    expect(outcomeOf(new ApiError(OPERATION, refusal(403, { meaning: 'not-found' })))).toEqual({
      type: 'unauthorized',
    });
  });

  test('of the key, whatever its status', () => {
    expect(outcomeOf(new UnauthorizedError(OPERATION, refusal(404)))).toEqual({ type: 'unauthorized' });
  });

  test('for now, with what it says of the time', () => {
    const throttled = (more: Partial<Refusal>) =>
      outcomeOf(new ThrottledError(OPERATION, refusal(429, more)));
    expect(throttled({})).toStrictEqual({ type: 'throttled' });
    expect(throttled({ retryAfterMs: 0 })).toStrictEqual({ type: 'throttled', retryAfterMs: 0 });
    expect(throttled({ thresholdMs: 3_000 })).toStrictEqual({ type: 'throttled', thresholdMs: 3_000 });
  });
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
    [
      'unreachable',
      { code: 'EHOSTUNREACH', address: '::1' },
      'the service is unreachable (::1): EHOSTUNREACH',
    ],
    ['dns', { code: 'ENOTFOUND', hostname: 'a.example' }, 'the name a.example does not resolve: ENOTFOUND'],
  ])('says why, with the address: %s', (reason, cause, why) => {
    const inner = Object.assign(new Error('x'), cause);
    for (const error of [inner, new AggregateError([inner]), new Error('y', { cause: inner })])
      expect(outcomeOf(new TransportError(OPERATION, reason, error))).toMatchObject({ why });
  });

  test('in time, that can be read, or that anybody has thought of', () => {
    const reasons = [
      new TimeoutError(OPERATION, 5),
      new ResponseError(OPERATION, 200, 'HTML'),
      new Error('a mistake'),
      'no error at all',
    ].map((error) => outcomeOf(error));
    expect(reasons).toEqual(
      ['timeout', 'unreadable', 'unknown', 'unknown'].map((reason) => ({ type: 'failed', reason })),
    );
  });
});

describe('one heartbeat', () => {
  const { signal } = new AbortController();
  const request: BeatRequest = {
    deploymentId: 7,
    key: 'key',
    keyGeneration: 1,
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

  test('that another deployment has got is none', async () => {
    const beat = createBeatPort({ deployments: { heartbeat: async () => ({ deployment_id: 8 }) } });
    expect(await beat(request)).toEqual({ type: 'failed', reason: 'wrong-deployment' });
  });

  test.each<
    [what: string, answer: () => Promise<{ deployment_id: number }>, judgement: unknown[], more: object]
  >([
    ['accepted', async () => ({ deployment_id: 7 }), [], {}],
    ['for another one', async () => ({ deployment_id: 8 }), ['wrong-deployment'], {}],
    ['a 503', () => Promise.reject(new ApiError(OPERATION, refusal(503))), ['server-error'], {}],
    ['a 429', () => Promise.reject(new ThrottledError(OPERATION, refusal(429))), [], {}],
    [
      'that there is no such deployment',
      () => Promise.reject(new ApiError(OPERATION, refusal(404, { meaning: 'not-found' }))),
      ['not-found', 7],
      { address: '192.0.2.1', addresses: 2 },
    ],
  ])('is judged by its answer: %s', async (_, answer, judgement, more) => {
    const judge = vi.fn<Peer['judge']>();
    const beat = createBeatPort({
      deployments: {
        heartbeat(_input, options) {
          options?.onPeer?.({ address: '192.0.2.1', addresses: 2, judge });
          return answer();
        },
      },
    });
    expect(await beat(request)).toMatchObject(more);
    expect(judge.mock.calls.flat()).toEqual(judgement);
  });

  test('that fails is no exception', async () => {
    const beat = createBeatPort({
      deployments: { heartbeat: () => Promise.reject(new TimeoutError(OPERATION, 5)) },
    });
    expect(await beat(request)).toEqual({ type: 'failed', reason: 'timeout' });
  });
});
