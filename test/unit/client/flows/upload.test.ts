/** An upload over a transport that answers as a test says, on virtual time. */
import { buffer } from 'node:stream/consumers';
import type { Readable } from 'node:stream';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import type { Archive } from '../../../../src/client/flows/archive.ts';
import { UploadError, uploadArchive } from '../../../../src/client/flows/upload.ts';
import type { Exchange } from '../../../../src/client/transport/transport.ts';
import { answer, AnsweringTransport, never } from '../../../support/answering-transport.ts';

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] }));
afterEach(() => vi.useRealTimers());

function archiveOf(...chunks: readonly string[]): Archive {
  return {
    name: 'code\r\n"1".tar.gz',
    bytes: chunks.join('').length,
    hash: '',
    async *read() {
      for (const chunk of chunks) yield Buffer.from(chunk);
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

interface Upload {
  readonly archive?: Archive;
  readonly signal?: AbortSignal;
  readonly fields?: Readonly<Record<string, unknown>>;
}

async function upload(
  transport: AnsweringTransport,
  { archive = archiveOf('abc', 'de'), signal, fields = {} }: Upload,
) {
  const sent: number[] = [];
  const uploading = uploadArchive(
    archive,
    { url: 'http://store.test/x', fields },
    {
      transport,
      silenceMs: 1_000,
      signal: signal ?? new AbortController().signal,
      onBytes: (bytes) => sent.push(bytes),
    },
  );
  const error = await uploading.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return { error, sent };
}

/** Reads all of it, then answers. */
const taken =
  (status: number, body = '') =>
  async ({ body: stream }: Exchange) => {
    await buffer(stream as Readable);
    return answer(status, body);
  };

describe('an upload', () => {
  test('is one post of a form over a new connection: its fields, then the file, as long as it says', async () => {
    let posted = Buffer.alloc(0);
    const transport = new AnsweringTransport(async ({ body }) => {
      posted = await buffer(body as Readable);
      return answer(204, '');
    });
    const { error, sent } = await upload(transport, { fields: { 'a"b': 'c', n: 7, o: { p: [1] } } });
    expect([error, sent]).toEqual([undefined, [3, 5]]);
    const [{ headers, ...asked } = {} as Exchange] = transport.asked;
    expect(asked).toMatchObject({
      method: 'POST',
      url: 'http://store.test/x',
      fresh: true,
      maxBytes: 1024 * 1024,
    });
    expect(headers['content-length']).toBe(String(posted.length));
    const boundary = headers['content-type']?.replace('multipart/form-data; boundary=', '');
    expect(posted.toString().split(`--${boundary}`)).toEqual([
      '',
      '\r\nContent-Disposition: form-data; name="a%22b"\r\n\r\nc\r\n',
      '\r\nContent-Disposition: form-data; name="n"\r\n\r\n7\r\n',
      '\r\nContent-Disposition: form-data; name="o"\r\n\r\n{"p":[1]}\r\n',
      '\r\nContent-Disposition: form-data; name="file"; filename="code%0D%0A%221%22.tar.gz"\r\n' +
        'Content-Type: application/gzip\r\n\r\nabcde\r\n',
      '--\r\n',
    ]);
    expect(vi.getTimerCount()).toBe(0);
  });

  test.each<[number, string, string | undefined, 'user' | 'service']>([
    [400, '<Error><Code>EntityTooLarge</Code></Error>', 'EntityTooLarge', 'user'],
    [403, '{"code": "AccessDenied"}', 'AccessDenied', 'user'],
    [403, '{ "Error" :"Expired", "x":1}', 'Expired', 'user'],
    [404, 'nothing', undefined, 'user'],
    [408, '', undefined, 'service'],
    [429, '', undefined, 'service'],
    [499, '', undefined, 'user'],
    [500, '', undefined, 'service'],
    [202, '', undefined, 'user'],
  ])('that is answered with %i %j is refused: %s', async (status, body, reason, actor) => {
    const { error } = await upload(new AnsweringTransport(taken(status, body)), {});
    expect(error).toBeInstanceOf(UploadError);
    const why = reason === undefined ? '' : ` ${reason}`;
    const message = `deployments.create: the store did not take the archive: status ${status}${why}`;
    expect(error).toMatchObject({ status, reason, actor, message, code: 'upload_failed' });
  });

  test.each([200, 201, 204])('that is taken with %i before all of it has left is none', async (status) => {
    const { error } = await upload(new AnsweringTransport(answer(status, '')), {});
    const message = `deployments.create: the store answered before it had the archive: status ${status}`;
    expect(error).toMatchObject({ status, reason: undefined, actor: 'service', message });
  });
});

describe('an upload that does not move', () => {
  /** Reads a piece each so many ms, and answers so long after the last. */
  const slow = (everyMs: number) => async (exchange: Exchange) => {
    const read = (async () => {
      const pieces = (exchange.body as Readable)[Symbol.asyncIterator]();
      for (;;) {
        await new Promise((resolve) => setTimeout(resolve, everyMs));
        const { done } = await pieces.next();
        if (done) return answer(200, '');
      }
    })();
    return await Promise.race([read, never(exchange)]);
  };

  test.each([
    [400, undefined],
    [1_010, { code: 'timeout', message: 'deployments.create: no complete answer within 1000 ms' }],
  ])('for %i ms', async (everyMs, expected) => {
    const uploading = upload(new AnsweringTransport(slow(everyMs)), {});
    await vi.advanceTimersByTimeAsync(20_000);
    const { error } = await uploading;
    if (expected) expect(error).toMatchObject(expected);
    else expect(error).toBeUndefined();
    expect(vi.getTimerCount()).toBe(0);
  });
});

describe('an upload that ends', () => {
  test('by its signal, before or in the midst of it', async () => {
    const controller = new AbortController();
    const aborting = upload(new AnsweringTransport(never), { signal: controller.signal });
    controller.abort(new Error('enough'));
    const aborted = { code: 'aborted', message: 'deployments.create: aborted while uploading' };
    expect((await aborting).error).toMatchObject(aborted);
    const transport = new AnsweringTransport(({ signal }) => {
      signal.throwIfAborted();
      return answer(200, '');
    });
    expect((await upload(transport, { signal: controller.signal })).error).toMatchObject(aborted);
  });

  test('by its connection', async () => {
    const reset = Object.assign(new Error('bye'), { code: 'ECONNRESET' });
    expect((await upload(new AnsweringTransport(reset), {})).error).toMatchObject({
      code: 'transport',
      reason: 'reset',
      operation: 'deployments.create',
    });
  });

  test('by what reads the archive, whatever the connection makes of that', async () => {
    const unusable = new UploadError('it was changed');
    const archive: Archive = {
      ...archiveOf('abc'),
      async *read() {
        yield Buffer.from('a');
        throw unusable;
      },
    };
    const broken = async ({ body }: Exchange) => {
      await buffer(body as Readable).catch(() => {});
      throw new Error('the body ended');
    };
    expect((await upload(new AnsweringTransport(broken), { archive })).error).toBe(unusable);
  });
});
