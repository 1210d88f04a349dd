/** With real sockets: whoever holds connections open keeps nobody else from being answered. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, type AddressInfo } from 'node:net';
import { afterEach, describe, expect, test } from 'vitest';
import { CONNECTION_TIMES, Connections } from '../../../../src/daemon/http/connections.ts';
import { listen, type HttpListener } from '../../../../src/daemon/http/listener.ts';
import { plain } from '../../../../src/daemon/http/reply.ts';
import { ask, holdOpen, type RawConnection } from '../../../support/raw-http.ts';

const held: RawConnection[] = [];
let listener: HttpListener | undefined;
afterEach(async () => {
  for (const { socket } of held.splice(0)) socket.destroy();
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

test('one that does not read its answer makes room for one that asks', async () => {
  const server = createServer();
  const connections = new Connections(server, 2);
  server.on('request', (request, response) => {
    connections.answering(request.socket, response);
    // More than what the system takes for whoever does not read.
    response.end(request.url === '/livez' ? 'live\n' : Buffer.alloc(16_000_000));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  for (let turn = 0; turn < 2; turn += 1) {
    const asked = once(server, 'request');
    const reader = connect(port, '127.0.0.1').on('error', () => {});
    held.push({ socket: reader, closed: Promise.resolve() });
    reader.write('GET /large HTTP/1.1\r\nHost: localhost\r\n\r\n');
    await asked;
  }
  for (let turn = 0; turn < 5; turn += 1)
    expect(await ask(`http://127.0.0.1:${port}`, 'GET', '/livez')).toEqual(LIVE);
  server.close().closeAllConnections();
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
