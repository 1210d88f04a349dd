/** With real sockets: whoever holds connections open keeps nobody else from being answered. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type Socket } from 'node:net';
import { afterEach, describe, expect, test, vi } from 'vitest';
import {
  CONNECTION_TIMES,
  Connections,
  listen,
  type HttpListener,
} from '../../../../src/daemon/http/listener.ts';
import { plain } from '../../../../src/daemon/http/reply.ts';
import { listening } from '../../../support/listening.ts';
import { ask, holdOpen, type RawConnection } from '../../../support/raw-http.ts';

const held: RawConnection[] = [];
const closing: AsyncDisposable[] = [];
let listener: HttpListener | undefined;
afterEach(async () => {
  vi.useRealTimers();
  for (const { socket } of held.splice(0)) socket.destroy();
  for (const server of closing.splice(0)) await server[Symbol.asyncDispose]();
  await listener?.close();
});

/** More than a listener takes. */
const MANY = 256;
const LIVE = { status: 200, body: 'live\n' };

const slow = Promise.withResolvers<void>();

async function serve(isForPrograms: boolean): Promise<string> {
  listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    onError() {},
    isForPrograms,
    routes: {
      'GET /livez': () => plain(200, 'live\n'),
      'GET /slow': async () => {
        await slow.promise;
        return plain(200, 'at last\n');
      },
      'PUT /body': ({ body }) => plain(200, body),
    },
  });
  return listener.url;
}

async function hold(url: string, count: number, words?: string): Promise<RawConnection[]> {
  const open = await holdOpen(url, count, words);
  held.push(...open);
  return open;
}

describe.each([
  ['the listener of probes', false],
  ['the listener of admin routes', true],
])('%s', (_, isForPrograms) => {
  test.each([
    ['are silent', ''],
    ['are in the middle of their headers', 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
    [
      'are in the middle of a body',
      'PUT /body HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf of it',
    ],
    ['were answered, and stay', 'GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n'],
  ])(`answers at once while ${MANY} connections %s`, async (__, words) => {
    const url = await serve(isForPrograms);
    await hold(url, MANY, words);
    for (let turn = 0; turn < 5; turn += 1) expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  });
});

test('the one that has been silent longest makes room', async () => {
  const url = await serve(false);
  const [first, second] = await hold(url, 2);
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  await hold(url, 127);
  await first?.closed;
  expect(second?.socket.destroyed).toBe(false);
});

/** With room for two; what asks for /slow waits for its answer. */
async function serveTwo() {
  const server = createServer();
  const connections = new Connections(server, 2);
  server.on('request', (request, response) => {
    connections.answering(request.socket, response);
    // More than what the system takes for whoever does not read.
    if (request.url === '/large') response.end(Buffer.alloc(16_000_000));
    else if (request.url !== '/slow') response.end('live\n');
  });
  const own = await listening(server);
  closing.push(own);
  return { server, url: own.url };
}

const asking = (path: string): string => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`;

/** Asks on a connection that is open, and waits for the answer. */
async function answered({ socket }: RawConnection): Promise<void> {
  const answer = once(socket, 'data');
  socket.write(asking('/livez'));
  await answer;
}

async function holdOne(url: string, words?: string): Promise<RawConnection> {
  const [open] = await hold(url, 1, words);
  if (!open) throw new Error('nothing is open');
  return open;
}

test.each([
  ['said nothing', ''],
  ['asked, and did not wait for the answer', asking('/slow')],
])('one that %s and left takes no room', async (_what, words) => {
  const { server, url } = await serveTwo();
  const stays = await holdOne(url);
  await answered(stays);
  const asked = words === '' ? Promise.resolve() : once(server, 'request');
  const [accepted, leaves] = await Promise.all([once(server, 'connection'), holdOne(url, words)]);
  await asked;
  const left = once(accepted[0] as Socket, 'close');
  leaves.socket.destroy();
  await left;
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  await answered(stays);
});

test('one that has its answer is as silent as one that came then', async () => {
  const { url } = await serveTwo();
  const first = await holdOne(url);
  const second = await holdOne(url);
  await answered(second);
  await answered(first);
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  await second.closed;
  await answered(first);
});

test('time to read an answer is given for each anew', async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { server, url } = await serveTwo();
  const stays = await holdOne(url);
  await answered(stays);
  expect(vi.getTimerCount()).toBe(0);
  const asked = once(server, 'request');
  const waits = await holdOne(url, asking('/slow'));
  await asked;
  vi.advanceTimersByTime(59_999);
  expect(vi.getTimerCount()).toBe(1);
  vi.advanceTimersByTime(1);
  await waits.closed;
  await answered(stays);
});

test('one that does not read its answer makes room for one that asks', async () => {
  const { server, url } = await serveTwo();
  for (let turn = 0; turn < 2; turn += 1) {
    const asked = once(server, 'request');
    const reader = connect(Number(new URL(url).port), '127.0.0.1').on('error', () => {});
    held.push({ socket: reader, closed: Promise.resolve() });
    reader.write(asking('/large'));
    await asked;
  }
  for (let turn = 0; turn < 5; turn += 1) expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
});

test('a connection that is being answered makes no room', async () => {
  const url = await serve(false);
  const answer = ask(url, 'GET', '/slow');
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  await hold(url, MANY);
  slow.resolve();
  expect(await answer).toEqual({ status: 200, body: 'at last\n' });
});

test('a silent connection is ended in seconds, and not by the next half minute', async () => {
  const url = await serve(false);
  const [silent] = await hold(url, 1);
  const [halfway] = await hold(url, 1, 'GET /livez HTTP/1.1\r\nHost: ');
  await Promise.all([silent?.closed, halfway?.closed]);
  const { headersTimeout, connectionsCheckingInterval } = CONNECTION_TIMES;
  expect(headersTimeout + connectionsCheckingInterval).toBeLessThan(10_000);
});
