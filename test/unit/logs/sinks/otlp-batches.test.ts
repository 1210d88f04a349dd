/** What becomes of one batch, by what a receiver answers; the pump's waits are in test/integration/logs/otlp.test.ts. */
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest';
import { otlpSink, type OtlpSinkOptions } from '../../../../src/logs/sinks/otlp.ts';
import { SinkBusy, type Sink } from '../../../../src/logs/sinks/sink.ts';
import { batchOf, recordsFrom } from '../../../support/log-records.ts';
import { startOtlpReceiver, type OtlpReceiver } from '../../../support/otlp-receiver.ts';

const NEVER = new AbortController().signal;
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
const upTo = (last: number): number[] => Array.from({ length: last }, (_, index) => index + 1);

/** Refuses requests with one of these among many or alone. */
function refuse(...bad: readonly number[]): void {
  receiver.decide = (_request, records) =>
    records.some(({ attributes }) => bad.includes(Number(attributes['seq']))) ? REFUSED : 'accept';
}

test('a batch that is taken is one request, with the token', async () => {
  const own = open({ headers: { authorization: 'Bearer secret' } });
  expect(await own.write(batchOf(recordsFrom(1, 5)), NEVER)).toEqual({ rejected: 0 });
  expect([taken(), sizes()]).toEqual([upTo(5), [5]]);
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
  await own.write(batchOf(recordsFrom(1, 1)), NEVER);
  expect(receiver.requests).toMatchObject([{ path: asked }]);
  await own.close();
});

test('closed it sends nothing more', async () => {
  await sink.close();
  await expect(sink.write(batchOf(recordsFrom(1, 1)), NEVER)).rejects.toThrow('destroyed');
  expect([sink.name, sizes()]).toEqual(['otlp', []]);
});

test('what a receiver takes and rejects a part of is counted', async () => {
  receiver.fates.push({ reject: 2 });
  expect(await sink.write(batchOf(recordsFrom(1, 5)), NEVER)).toEqual({ rejected: 2, message: 'too old' });
});

describe('a batch that is refused', () => {
  test('goes in halves until the bad one is alone, which is dropped once others were taken', async () => {
    refuse(3);
    expect(await sink.write(batchOf(recordsFrom(1, 8)), NEVER)).toEqual({
      rejected: 1,
      message: 'the receiver answered 400: cannot parse',
    });
    expect(taken()).toEqual([1, 2, 4, 5, 6, 7, 8]);
    // 3 alone, asked about once more at the end.
    expect(sizes().filter((size) => size === 1).length).toBeGreaterThanOrEqual(2);
    expect(sizes().slice(0, 3)).toEqual([8, 4, 2]);
    // What was taken says enough of the receiver.
    expect(sizes()).not.toContain(0);
  });

  test('first of all is dropped too, once those behind it were taken', async () => {
    refuse(1);
    expect(await sink.write(batchOf(recordsFrom(1, 3)), NEVER)).toMatchObject({ rejected: 1 });
    expect(taken()).toEqual([2, 3]);
  });

  test('whole by a receiver that takes a request without records, is dropped', async () => {
    refuse(1, 2, 3);
    expect(await sink.write(batchOf(recordsFrom(1, 3)), NEVER)).toMatchObject({ rejected: 3 });
    expect(sizes()).toContain(0);
  });

  test('whole by what is no receiver, is none, and a person is asked', async () => {
    receiver.decide = () => REFUSED;
    const failed = await sink.write(batchOf(recordsFrom(1, 3)), NEVER).catch((error: unknown) => error);
    expect(failed).toBeInstanceOf(SinkBusy);
    expect(failed).toMatchObject({ actor: 'user' });
    expect(sizes()).toContain(0);
  });

  test('whole by one that is busy for a request without records, waits', async () => {
    receiver.decide = ({ records }) => (records === 0 ? { status: 503 } : REFUSED);
    const failed = await sink.write(batchOf(recordsFrom(1, 2)), NEVER).catch((error: unknown) => error);
    expect(failed).toMatchObject({ actor: 'service', message: 'the receiver answered 503' });
  });

  test('record by record leaves the receiver alone after sixteen of them', async () => {
    receiver.decide = () => REFUSED;
    await expect(sink.write(batchOf(recordsFrom(1, 40)), NEVER)).rejects.toThrow(SinkBusy);
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
    expect(await sink.write(batch, NEVER)).toMatchObject({ rejected });
    expect(sizes()).toEqual(pieces);
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
});

describe('an error', () => {
  test.each([
    ['503', { status: 503, headers: { 'retry-after': '7' } }, { retryAfterMs: 7_000, actor: 'service' }],
    ['401', { status: 401 }, { actor: 'user' }],
    [
      'a login page',
      { status: 200, headers: { 'content-type': 'text/html' }, body: 'log in' },
      { actor: 'user' },
    ],
  ] as const)('%s is told, and the batch comes whole the next time', async (_what, fate, error) => {
    const batch = batchOf(recordsFrom(1, 3));
    receiver.fates.push(fate);
    await expect(sink.write(batch, NEVER)).rejects.toMatchObject(error);
    await sink.write(batch, NEVER);
    expect([taken(), sizes()]).toEqual([upTo(3), [3, 3]]);
  });

  test('another batch begins anew', async () => {
    refuse(1);
    receiver.fates.push(REFUSED, REFUSED, { status: 503 });
    await expect(sink.write(batchOf(recordsFrom(1, 2)), NEVER)).rejects.toThrow('503');
    receiver.decide = () => 'accept';
    receiver.requests.length = 0;
    expect(await sink.write(batchOf(recordsFrom(5, 1)), NEVER)).toEqual({ rejected: 0 });
    expect(taken()).toEqual([5]);
  });

  test('of encoding is one of the other from then on, once that was taken', async () => {
    receiver.decide = ({ encoding }) => (encoding === 'json' ? 'accept' : { status: 415 });
    await sink.write(batchOf(recordsFrom(1, 1)), NEVER);
    await sink.write(batchOf(recordsFrom(2, 1)), NEVER);
    expect(receiver.requests.map(({ encoding }) => encoding)).toEqual(['protobuf', 'json', 'json']);
    receiver.decide = () => ({ status: 415 });
    await expect(sink.write(batchOf(recordsFrom(3, 1)), NEVER)).rejects.toThrow('415');
    receiver.decide = () => 'accept';
    await sink.write(batchOf(recordsFrom(4, 1)), NEVER);
    expect(receiver.requests.at(-1)?.encoding).toBe('json');
  });
});

test('an answer that is cut, or whose end never comes, says by its status that the records were taken', async () => {
  receiver.fates.push('cut answer');
  expect(await sink.write(batchOf(recordsFrom(1, 2)), NEVER)).toEqual({ rejected: 0 });
  expect(taken()).toEqual([1, 2]);
});

test('a receiver that is too slow for so many is asked for half of them', async () => {
  const own = open({ timeoutMs: 100 });
  const batch = batchOf(recordsFrom(1, 8));
  receiver.fates.push('hang');
  await expect(own.write(batch, NEVER)).rejects.toMatchObject({ name: 'TimeoutError' });
  receiver.fates.push({ status: 503 });
  await expect(own.write(batch, NEVER)).rejects.toThrow();
  expect(sizes()).toEqual([8, 4]);
  await own.close();
});

test('of one that was too slow for so many a little more is asked after each that it takes', async () => {
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
  await sink.write(batchOf(recordsFrom(49, 100)), NEVER);
  expect(sizes()).toEqual([48, 24, 24, 24, 25, 25, 26]);
});

test('an end that is signalled ends a request, and says nothing of the receiver', async () => {
  const batch = batchOf(recordsFrom(1, 8));
  receiver.fates.push('hang');
  const ending = new AbortController();
  const written = sink.write(batch, ending.signal);
  await expect.poll(sizes, { interval: 1 }).toHaveLength(1);
  ending.abort(new Error('the end'));
  await expect(written).rejects.toThrow('the end');
  await sink.write(batch, NEVER);
  expect(sizes()).toEqual([8, 8]);
});
