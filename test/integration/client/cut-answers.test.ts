/** Answers whose end does not come, from real sockets: what is shown once was sent, and is not lost. */
import { createServer, type Socket } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import { createClient } from '../../../src/client/client.ts';
import { AbortedError, CallError, TimeoutError, TransportError } from '../../../src/client/errors.ts';
import { createTransport, type Transport } from '../../../src/client/transport/transport.ts';
import { listening } from '../../support/listening.ts';

const HEAD = 'HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n';
const chunk = (body: string): string =>
  `${HEAD}transfer-encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n`;

/** How an answer is cut short: `end` closes the connection, the others leave it open. */
const CUTS = {
  'a length that is too long, then the end': (socket: Socket, body: string) =>
    socket.end(`${HEAD}content-length: ${body.length + 2}\r\n\r\n${body}`),
  'chunks without a last one, then the end': (socket: Socket, body: string) => socket.end(chunk(body)),
  'chunks that never end': (socket: Socket, body: string) => socket.write(chunk(body)),
};

let cut: (socket: Socket, body: string) => unknown;
let body = '';
const server = await listening(
  createServer((socket) => {
    socket.on('error', () => {});
    socket.once('data', () => cut(socket, body));
  }),
);
const client = createClient({ baseUrl: server.url, apiKey: 'key' });
afterAll(async () => {
  await client[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
});

const KEY = '{"success":true,"id":9,"key":"s3cret"}';
const HALF = '{"success":true,"id":9,"key":"s3cret';
const create = (timeoutMs: number) => client.apiKeys.create({ name: 'x' }, { timeoutMs });

async function failed(call: Promise<unknown>): Promise<CallError> {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  if (!(error instanceof CallError)) throw new Error('not a CallError', { cause: error });
  return error;
}

describe.each(Object.entries(CUTS))('%s', (name, how) => {
  const timeoutMs = name.includes('never') ? 2_000 : 60_000;

  test('where all of it is there, it is the answer', async () => {
    [cut, body] = [how, KEY];
    await expect(create(timeoutMs)).resolves.toEqual({ success: true, id: 9, key: 's3cret' });
    body = '{"new_contract":"505"}';
    const rented = client.instances.create({ offer_id: 1, image: 'a' }, { timeoutMs });
    await expect(rented).resolves.toEqual({ new_contract: 505 });
  });

  test('what there is comes with the error, unless it can be asked for again', async () => {
    [cut, body] = [how, HALF];
    const error = await failed(create(timeoutMs));
    expect(error).toBeInstanceOf(name.includes('never') ? TimeoutError : TransportError);
    expect([error.mayBeDone, error.rawAnswer()]).toEqual([true, HALF]);
    expect(error.message + JSON.stringify(error)).not.toContain('s3cret');
    const listed = await failed(client.instances.list({}, { timeoutMs, retry: false }));
    expect([listed.mayBeDone, listed.rawAnswer()]).toEqual([false, '']);
  });
});

test('what has come of an answer when the caller gives up is not lost', async () => {
  [cut, body] = [CUTS['chunks that never end'], HALF];
  const controller = new AbortController();
  const transport = createTransport();
  const watched: Transport = {
    open: 0,
    addresses: () => [],
    exchange: (exchange) =>
      transport.exchange({
        ...exchange,
        onAnswer(soFar) {
          exchange.onAnswer?.(soFar);
          void expect
            .poll(() => soFar().text)
            .toBe(HALF)
            .then(() => controller.abort());
        },
      }),
    [Symbol.asyncDispose]: () => transport[Symbol.asyncDispose](),
  };
  await using watching = createClient({ baseUrl: server.url, apiKey: 'key', transport: watched });
  const error = await failed(watching.apiKeys.create({ name: 'x' }, { signal: controller.signal }));
  expect(error).toBeInstanceOf(AbortedError);
  expect([error.mayBeDone, error.rawAnswer()]).toEqual([true, HALF]);
});
