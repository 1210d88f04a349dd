/** Which proxy the environment names, as a real one sees it. */
import { createServer } from 'node:http';
import { afterAll, afterEach, beforeEach, expect, test, vi } from 'vitest';
import type { Place } from '../../../../src/client/transport/address-book.ts';
import { transportReason } from '../../../../src/client/errors.ts';
import { createTransport } from '../../../../src/client/transport/transport.ts';
import { exchangeOf } from '../../../support/answering-transport.ts';
import { listening } from '../../../support/listening.ts';

const NAMES = ['http_proxy', 'HTTP_PROXY', 'https_proxy', 'HTTPS_PROXY', 'no_proxy', 'NO_PROXY'];
const asked: string[] = [];
const server = createServer((request, response) => {
  asked.push(`${request.method} ${request.url}`);
  response.end('{}');
});
// It leads nowhere.
server.on('connect', ({ url }, socket) => {
  asked.push(`CONNECT ${url}`);
  socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
});
const { url: proxy, ...listened } = await listening(server);
afterAll(() => listened[Symbol.asyncDispose]());
beforeEach(() => {
  asked.length = 0;
  for (const name of NAMES) vi.stubEnv(name, '');
});
afterEach(() => vi.unstubAllEnvs());

const PLAIN = ['GET http://service.test/a'];
const TUNNEL = ['CONNECT service.test:443'];

test.each<[url: string, variables: Readonly<Record<string, string>>, seen: readonly string[]]>([
  ['http', { http_proxy: 'proxy' }, PLAIN],
  ['http', { HTTP_PROXY: 'proxy' }, PLAIN],
  ['http', { http_proxy: 'proxy', HTTP_PROXY: 'http://127.0.0.1:1' }, PLAIN],
  ['http', { https_proxy: 'proxy' }, []],
  ['https', { https_proxy: 'proxy' }, TUNNEL],
  ['https', { HTTPS_PROXY: 'proxy' }, TUNNEL],
  ['https', { https_proxy: 'proxy', HTTPS_PROXY: 'http://127.0.0.1:1' }, TUNNEL],
  ['http', { HTTP_PROXY: 'proxy', NO_PROXY: 'service.test' }, []],
  ['http', { HTTP_PROXY: 'proxy', no_proxy: 'service.test' }, []],
  ['http', { HTTP_PROXY: 'proxy', no_proxy: 'other.test', NO_PROXY: 'service.test' }, PLAIN],
])('%s with %j', async (scheme, variables, seen) => {
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value === 'proxy' ? proxy : value);
  // Who is not led by a proxy finds no such name.
  await using transport = createTransport((_name, _options, callback) =>
    callback(Object.assign(new Error('no such name'), { code: 'ENOTFOUND' }), []),
  );
  const places: Place[] = [];
  const request = exchangeOf(`${scheme}://service.test/a`, { onPlace: (place) => places.push(place) });
  const exchanged = await transport.exchange(request).then(
    ({ status }) => status,
    (error: unknown) => transportReason(error as Error),
  );
  const [first = ''] = seen;
  const came = first.startsWith('GET') ? 200 : first === '' ? 'dns' : 'proxy';
  expect([asked, exchanged]).toEqual([seen, came]);
  const isProxy = seen.length > 0;
  const address = isProxy ? new URL(proxy).host : `service.test:${scheme === 'https' ? 443 : 80}`;
  expect(places).toEqual([{ address, isProxy }]);
});
