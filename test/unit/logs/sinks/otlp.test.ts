/** What becomes of one batch, by what a receiver answers; what a pump makes of it is in test/integration/logs/otlp.test.ts. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import {
  acceptanceOf,
  busy,
  isAccepted,
  isRefusal,
  messageOf,
  otlpSink,
  type OtlpSinkOptions,
  type ReceiverAnswer,
} from '../../../../src/logs/sinks/otlp.ts';
import { SinkBusy, type Sink } from '../../../../src/logs/sinks/sink.ts';
import { batchOf, NEVER, numbers, recordsFrom } from '../../../support/log-records.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../../support/otlp-receiver.ts';

const REFUSED = { status: 400, body: 'cannot parse' };

let receiver: OtlpReceiver;
let sink: Sink;
beforeEach(async () => {
  receiver = await startOtlpReceiver();
  sink = open();
});
afterEach(async () => {
  await sink.close();
  await receiver[Symbol.asyncDispose]();
});

const open = (options: Partial<OtlpSinkOptions> = {}): Sink =>
  otlpSink({ endpoint: receiver.url, ...options });
const sizes = (): number[] => receiver.requests.map(({ records }) => records);
const taken = (): number[] => receiver.records.map(({ attributes }) => Number(attributes['seq']));
const write = (seq: number, count: number, into = sink) =>
  into.write(batchOf(recordsFrom(seq, count)), NEVER);

/** Refuses requests with one of these among many or alone. */
function refuse(...bad: readonly number[]): void {
  receiver.decide = (_request, records) =>
    records.some(({ attributes }) => bad.includes(Number(attributes['seq']))) ? REFUSED : 'accept';
}

test('a batch that is taken is one request, with the token', async () => {
  const own = open({ headers: { authorization: 'Bearer secret' } });
  expect(await write(1, 5, own)).toEqual({ rejected: 0 });
  expect([taken(), sizes()]).toEqual([numbers(1, 5), [5]]);
  expect(receiver.requests[0]?.authorization).toBe('Bearer secret');
  await own.close();
});

test.each([
  ['', '/v1/logs'],
  ['/', '/v1/logs'],
  ['/otlp', '/otlp/v1/logs'],
  ['/otlp/', '/otlp/v1/logs'],
  ['/otlp/v1/logs', '/otlp/v1/logs'],
])('at address …%s is asked at %s', async (given, asked) => {
  const own = open({ endpoint: receiver.url + given });
  await write(1, 1, own);
  expect(receiver.requests).toMatchObject([{ path: asked }]);
  await own.close();
});

test('closed it sends nothing more', async () => {
  await sink.close();
  await expect(write(1, 1)).rejects.toThrow('destroyed');
  expect([sink.name, sizes()]).toEqual(['otlp', []]);
});

describe('a batch that is refused', () => {
  test.each([
    ['what is no receiver, is none, and a person is asked', REFUSED, { actor: 'user' }],
    [
      'one that is busy for a request without records, waits',
      { status: 503 },
      { actor: 'service', message: 'the receiver answered 503' },
    ],
  ])('whole by %s', async (_what, empty, error) => {
    receiver.decide = ({ records }) => (records === 0 ? empty : REFUSED);
    const failed = await write(1, 3).catch((caught: unknown) => caught);
    expect(failed).toBeInstanceOf(SinkBusy);
    expect(failed).toMatchObject(error);
    expect(sizes()).toContain(0);
  });

  test('record by record leaves the receiver alone after sixteen of them', async () => {
    receiver.decide = () => REFUSED;
    await expect(write(1, 40)).rejects.toThrow(SinkBusy);
    expect(sizes().filter((size) => size === 1)).toHaveLength(16);
    expect(sizes()).not.toContain(0);
  });

  test('more than sixteen records, all of them, is never dropped for a request without any', async () => {
    const batch = batchOf(recordsFrom(1, 17));
    receiver.decide = ({ records }) => (records === 0 ? 'accept' : REFUSED);
    for (let time = 0; time < 3; time += 1) await expect(sink.write(batch, NEVER)).rejects.toThrow(SinkBusy);
    expect(sizes()).not.toContain(0);
  });

  test('sixteen records, all of them, is dropped when it comes again, by one that takes a request without any', async () => {
    const batch = batchOf(recordsFrom(1, 16));
    receiver.decide = ({ records }) => (records === 0 ? 'accept' : REFUSED);
    await expect(sink.write(batch, NEVER)).rejects.toThrow(SinkBusy);
    expect(await sink.write(batch, NEVER)).toMatchObject({ rejected: 16 });
  });

  test.each<[string, number[], number[], number]>([
    ['and each piece that is taken lets the next be twice as large', [], [1, 2, 4, 1], 0],
    ['and one that is refused again is asked about alone', [5], [1, 2, 4, 1, 2, 1, 1, 2], 1],
  ])('is asked about again, %s', async (_what, bad, pieces, rejected) => {
    const batch = batchOf(recordsFrom(1, 8));
    receiver.decide = () => REFUSED;
    await expect(sink.write(batch, NEVER)).rejects.toThrow(SinkBusy);
    receiver.requests.length = 0;
    refuse(...bad);
    const told = rejected === 0 ? {} : { message: 'the receiver answered 400: cannot parse' };
    expect(await sink.write(batch, NEVER)).toEqual({ rejected, ...told });
    expect(sizes()).toEqual(pieces);
  });

  test('in part has its bad records dropped, also more than sixteen, if others are taken between them', async () => {
    refuse(...numbers(1, 20).map((index) => 2 * index));
    expect(await write(1, 40)).toMatchObject({ rejected: 20 });
    expect(sizes()).not.toContain(0);
  });

  test('and comes again goes on where it was, and asks first about what was refused', async () => {
    const batch = batchOf(recordsFrom(1, 4));
    refuse(1);
    receiver.fates.push(REFUSED, REFUSED, REFUSED, { status: 503 });
    await expect(sink.write(batch, NEVER)).rejects.toThrow('503');
    receiver.requests.length = 0;
    receiver.decide = () => 'accept';
    expect(await sink.write(batch, NEVER)).toEqual({ rejected: 0 });
    expect(taken()).toEqual([1, 2, 3, 4]);
    expect(sizes()).toEqual([1, 1, 2]);
  });

  test('and then another begins anew', async () => {
    refuse(1);
    receiver.fates.push(REFUSED, REFUSED, { status: 503 });
    await expect(write(1, 2)).rejects.toThrow('503');
    receiver.decide = () => 'accept';
    receiver.requests.length = 0;
    expect(await write(5, 1)).toEqual({ rejected: 0 });
    expect(taken()).toEqual([5]);
  });
});

test('a receiver that is too slow for so many is asked for half of them, and a little more after each that it takes', async () => {
  const limit = new AbortController();
  const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValueOnce(limit.signal);
  onTestFinished(() => timeout.mockRestore());
  const batch = batchOf(recordsFrom(1, 48));
  receiver.fates.push('hang');
  const written = sink.write(batch, NEVER);
  await expect.poll(sizes, { interval: 1 }).toEqual([48]);
  limit.abort(new DOMException('too slow', 'TimeoutError'));
  await expect(written).rejects.toThrow('too slow');
  await sink.write(batch, NEVER);
  await write(49, 100);
  expect(sizes()).toEqual([48, 24, 24, 24, 25, 25, 26]);
});

test('an end that is signalled ends a request, and says nothing of the receiver', async () => {
  const batch = batchOf(recordsFrom(1, 8));
  receiver.fates.push('hang');
  const ending = new AbortController();
  const written = sink.write(batch, ending.signal);
  await expect.poll(sizes, { interval: 1 }).toHaveLength(1);
  ending.abort(new DOMException('the end', 'AbortError'));
  await expect(written).rejects.toThrow('the end');
  await sink.write(batch, NEVER);
  expect(sizes()).toEqual([8, 8]);
});

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

  test('says how long to wait for it, where it does', () => {
    const asks = { ...answer(429), headers: { 'retry-after': '7' } };
    expect([busy(asks).retryAfterMs, busy(answer(429)).retryAfterMs]).toEqual([7_000, undefined]);
  });

  test.each([
    ['text/html', 'Log in', false],
    ['text/html', '', true],
    ['text/plain', 'Log in', true],
  ])('200 of %s with %j is a receiver’s: %s', (type, body, isTaken) => {
    expect(isAccepted(answer(200, type, body))).toBe(isTaken);
  });

  test.each(['null', '{', ''])('200 is taken, though nobody can read %j', (body) => {
    for (const type of ['application/json', 'text/plain'])
      expect(acceptanceOf(answer(200, type, body), 3)).toEqual({ rejected: 0 });
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
