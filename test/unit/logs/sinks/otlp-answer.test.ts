import { describe, expect, test } from 'vitest';
import {
  acceptanceOf,
  busy,
  isAccepted,
  isRefusal,
  messageOf,
  type ReceiverAnswer,
} from '../../../../src/logs/sinks/otlp-answer.ts';
import { encodeResponse } from '../../../support/otlp-messages.ts';

function answer(status: number, type = 'application/x-protobuf', body: string | Buffer = ''): ReceiverAnswer {
  return { status, headers: { 'content-type': type }, body: Buffer.from(body) };
}

const CHECK = 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';

describe('an answer by its status', () => {
  test.each([
    [199, 'a person'],
    [200, 'taken'],
    [204, 'taken'],
    [299, 'taken'],
    [300, 'a person'],
    [302, 'a person'],
    [400, 'refused'],
    [401, 'a person'],
    [403, 'a person'],
    [404, 'a person'],
    [408, 'time'],
    [413, 'refused'],
    [415, 'a person'],
    [422, 'refused'],
    [429, 'time'],
    [499, 'a person'],
    [500, 'time'],
    [503, 'time'],
  ] as const)('%i waits for, or is: %s', (status, meaning) => {
    const given = answer(status);
    expect(isRefusal(given)).toBe(meaning === 'refused');
    expect(isAccepted(given)).toBe(meaning === 'taken');
    if (meaning === 'taken') {
      expect(acceptanceOf(given, 3)).toEqual({ rejected: 0 });
      return;
    }
    expect(() => acceptanceOf(given, 3)).toThrow(`the receiver answered ${status}`);
    const { advice, actor, message } = busy(given);
    expect(advice).toBe(meaning === 'time' ? undefined : CHECK);
    expect(actor).toBe(meaning === 'time' ? 'service' : 'user');
    expect(message).toBe(`the receiver answered ${status}${meaning === 'time' ? '' : `; ${CHECK}`}`);
  });
});

test('a page is no answer of a receiver, whatever its status', () => {
  expect(isAccepted(answer(200, 'text/HTML; charset=utf-8', '<title>Log in</title>'))).toBe(false);
  expect(isAccepted(answer(200, 'text/html', ''))).toBe(true);
  expect(isAccepted(answer(200, 'text/plain', 'ok'))).toBe(true);
  expect(isAccepted({ status: 200, headers: {}, body: Buffer.from('ok') })).toBe(true);
});

test('how long a receiver asks to be left alone is said', () => {
  const headers = { 'retry-after': '7' };
  expect(busy({ status: 503, headers, body: Buffer.of() }).retryAfterMs).toBe(7_000);
  expect(busy(answer(503)).retryAfterMs).toBeUndefined();
});

describe('a part that is rejected', () => {
  test.each(['protobuf', 'json'] as const)('is counted, in %s, with the reason', (encoding) => {
    const type = encoding === 'json' ? 'application/json; charset=utf-8' : 'application/x-protobuf';
    const body = encodeResponse(encoding, { rejectedLogRecords: 2, errorMessage: 'too old' });
    expect(acceptanceOf(answer(200, type, body), 3)).toEqual({ rejected: 2, message: 'too old' });
    const all = encodeResponse(encoding, { rejectedLogRecords: 0, errorMessage: 'a warning' });
    expect(acceptanceOf(answer(200, type, all), 3)).toEqual({ rejected: 0 });
  });

  test.each([
    ['5', 3],
    ['3', 3],
    ['1', 1],
    [2, 2],
    [-1, 0],
    ['many', 0],
    [null, 0],
  ])('is %j of 3: %i', (rejectedLogRecords, rejected) => {
    const body = JSON.stringify({ partialSuccess: { rejectedLogRecords, errorMessage: 'why' } });
    expect(acceptanceOf(answer(200, 'application/json', body), 3).rejected).toBe(rejected);
  });

  test('without a reason is said so', () => {
    const body = JSON.stringify({ partialSuccess: { rejectedLogRecords: 1 } });
    expect(acceptanceOf(answer(200, 'application/json', body), 3)).toEqual({
      rejected: 1,
      message: 'the receiver gave no reason',
    });
  });

  test.each([
    ['application/json', '{'],
    ['application/json', 'null'],
    ['application/json', ''],
    ['application/x-protobuf', '\u00FF\u00FF\u00FF'],
    ['text/plain', 'ok'],
  ])('is none where %s is %j', (type, body) => {
    expect(acceptanceOf(answer(200, type, body), 3)).toEqual({ rejected: 0 });
  });
});

describe('what a receiver answered', () => {
  test.each([
    ['text/plain', ' too many \n', 'the receiver answered 400: too many'],
    ['application/json', '{"a":1}', 'the receiver answered 400: {"a":1}'],
    ['application/x-protobuf', 'bytes', 'the receiver answered 400'],
    ['text/plain', '  ', 'the receiver answered 400'],
    ['text/plain', 'x'.repeat(300), `the receiver answered 400: ${'x'.repeat(200)}`],
  ])('as %s is %j', (type, body, message) => {
    expect(messageOf(answer(400, type, body))).toBe(message);
  });

  test('of no type is its status', () => {
    expect(messageOf({ status: 400, headers: {}, body: Buffer.from('text') })).toBe(
      'the receiver answered 400',
    );
  });
});
