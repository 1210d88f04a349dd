import { describe, expect, test } from 'vitest';
import {
  acceptanceOf,
  busy,
  isAccepted,
  isRefusal,
  messageOf,
  type ReceiverAnswer,
} from '../../../../src/logs/sinks/otlp.ts';

function answer(status: number, type = 'application/x-protobuf', body: string | Buffer = ''): ReceiverAnswer {
  return { status, headers: { 'content-type': type }, body: Buffer.from(body) };
}

const CHECK = 'check PILOTLIGHT_OTLP_ENDPOINT and PILOTLIGHT_OTLP_HEADERS';

describe('an answer by its status', () => {
  test.each([
    [200, 'taken'],
    [204, 'taken'],
    [302, 'a person'],
    [400, 'refused'],
    [404, 'a person'],
    [408, 'time'],
    [413, 'refused'],
    [422, 'refused'],
    [429, 'time'],
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

describe('a part that is rejected', () => {
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
});
