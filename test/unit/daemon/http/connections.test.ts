/** With real sockets: what a client holds open is bounded, in number and in time. */
import { once } from 'node:events';
import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { listen, type HttpListener } from '../../../../src/daemon/http/listener.ts';
import { plain } from '../../../../src/daemon/http/reply.ts';
import { ask, holdOpen, type RawConnection } from '../../../support/raw-http.ts';

const MOST = 128;
const LIVE = { status: 200, body: 'live\n' };

let held: RawConnection[] = [];
let listener: HttpListener | undefined;
afterEach(async () => {
  for (const { socket } of held) socket.destroy();
  await listener?.close();
});

async function serve(): Promise<string> {
  const routes = { 'GET /livez': () => plain(200, 'live\n') };
  listener = await listen({ address: { host: '127.0.0.1', port: 0 }, onError() {}, routes });
  return listener.url;
}

test('128 connections are taken, and another one once they are closed', async () => {
  const url = await serve();
  held = await holdOpen(url, MOST - 1);
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
  held.push(...(await holdOpen(url, 1)));
  await expect(ask(url, 'GET', '/livez')).rejects.toThrow(/hang up|ECONNRESET/);
  // A silent connection is closed after 5 s.
  await Promise.all(held.map(({ closed }) => closed));
  expect(await ask(url, 'GET', '/livez')).toEqual(LIVE);
});

test.each([
  ['headers', 'GET /livez HTTP/1.1\r\nHost: localhost\r\nX-Slow: '],
  ['a body', 'PUT /livez HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\nhalf of it'],
])('a request that stops within %s is closed', async (_what, words) => {
  held = await holdOpen(await serve(), 1, words);
  await Promise.all(held.map(({ closed }) => closed));
});

test.each(['1.0', '1.1'])('a connection takes one request of HTTP/%s', async (version) => {
  const { hostname, port } = new URL(await serve());
  const socket = connect(Number(port), hostname).setEncoding('utf8');
  let text = '';
  socket.on('data', (some: string) => (text += some));
  socket.write(`GET /livez HTTP/${version}\r\nHost: a\r\nConnection: keep-alive\r\n\r\n`.repeat(4));
  await once(socket, 'close');
  expect(Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status]) => status)[0]).toBe('200');
  expect(text.split('live\n')).toHaveLength(2);
});
