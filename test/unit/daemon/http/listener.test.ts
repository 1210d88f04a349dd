import { createServer, type Server } from 'node:http';
import { afterEach, expect, test, vi } from 'vitest';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import {
  keepListening,
  listen,
  redactedReply,
  refusalOfForeign,
  type ListenerOptions,
} from '../../../../src/daemon/http/listener.ts';
import { json, plain } from '../../../../src/daemon/http/reply.ts';
import { collectedLog } from '../../../support/collected-log.ts';
import { freePort } from '../../../support/ports.ts';
import { ask, holdOpen } from '../../../support/raw-http.ts';

const closing: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  vi.useRealTimers();
  for (const close of closing.splice(0)) await close();
});

const errors: string[] = [];
async function serve(options: Partial<ListenerOptions> = {}): Promise<string> {
  const listener = await listen({
    address: { host: '127.0.0.1', port: 0 },
    onError: (error, route) => errors.push(`${route}: ${(error as Error).message}`),
    routes: {
      'GET /hello': () => plain(200, 'hello\n'),
      'GET /texts': () => ({ ...plain(200, ''), body: ['✓ one\n', 'two\n', 'it is sesame-open\n'] }),
      'PUT /echo': ({ body }) => json(200, { body }),
      'GET /broken': () => {
        throw new Error('secret detail');
      },
    },
    ...options,
  });
  closing.push(() => listener.close());
  return listener.url;
}

test('a listener answers its routes, HEAD too, with the security headers', async () => {
  const url = await serve();
  const answer = await fetch(`${url}/hello?x=1`);
  expect([answer.status, await answer.text()]).toEqual([200, 'hello\n']);
  expect(answer.headers.get('content-security-policy')).toContain("default-src 'none'");
  const head = await fetch(`${url}/hello`, { method: 'HEAD' });
  expect([head.status, head.headers.get('content-length'), await head.text()]).toEqual([200, '6', '']);
});

test('several texts are one body, each without secrets', async () => {
  const url = await serve({ redaction: new Redaction(() => ['sesame-open']) });
  const answer = await fetch(`${url}/texts`);
  const length = answer.headers.get('content-length');
  expect([length, await answer.text()]).toEqual(['29', '✓ one\ntwo\nit is [redacted]\n']);
  const head = await fetch(`${url}/texts`, { method: 'HEAD' });
  expect([head.headers.get('content-length'), await head.text()]).toEqual(['29', '']);
});

test('a listener names its routes for an unknown path, and which method for a wrong one', async () => {
  const url = await serve();
  const unknown = await fetch(`${url}/nothing`);
  expect([unknown.status, await unknown.text()]).toEqual([404, expect.stringContaining('GET /hello')]);
  const wrong = await fetch(`${url}/echo`);
  expect([wrong.status, wrong.headers.get('allow')]).toEqual([405, 'PUT']);
});

test('a route that throws answers 500 without its message, and the others go on', async () => {
  const url = await serve();
  const broken = await fetch(`${url}/broken`);
  expect([broken.status, await broken.text()]).toEqual([500, expect.not.stringContaining('secret')]);
  expect(errors.at(-1)).toBe('GET /broken: secret detail');
  expect((await fetch(`${url}/hello`)).status).toBe(200);
});

test('a body beyond the limit is refused', async () => {
  const url = await serve();
  const answer = await fetch(`${url}/echo`, { method: 'PUT', body: 'x'.repeat(70_000) });
  expect([answer.status, await answer.text()]).toEqual([413, 'the body is larger than 65536 bytes\n']);
});

test('whoever leaves in the middle of a request is no error', async () => {
  errors.length = 0;
  const url = await serve();
  const words = 'PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf of it';
  const [open] = await holdOpen(url, 1, words);
  for (let turn = 0; turn < 2; turn += 1) expect((await fetch(`${url}/hello`)).status).toBe(200);
  open?.socket.destroy();
  for (let turn = 0; turn < 2; turn += 1) expect((await fetch(`${url}/hello`)).status).toBe(200);
  expect(errors).toEqual([]);
});

test('for programs alone, a request that names another host is refused', async () => {
  const url = await serve({ isForPrograms: true });
  expect((await fetch(`${url}/hello`)).status).toBe(200);
  expect((await ask(url, 'GET', '/hello', { host: 'evil.example' })).status).toBe(403);
});

test('close ends open connections', async () => {
  const [open] = await holdOpen(await serve(), 1);
  await closing.pop()?.();
  await open?.closed;
});

const redacting = new Redaction(() => ['a"secret-key']);

test.each([
  ['application/json', '{"words":"a\\"secret-key"}', '{"words":"[redacted]"}'],
  ['text/plain', 'got a"secret-key', 'got [redacted]'],
  ['text/plain; version=0.0.4', 'x{why="a\\"secret-key"} 1\n', 'x{why="[redacted]"} 1\n'],
  ['text/html', 'a"secret-key', 'a"secret-key'],
  ['text/javascript', 'a"secret-key', 'a"secret-key'],
  ['image/svg+xml', 'a"secret-key', 'a"secret-key'],
])('of %s leaves what has no secret', (type, body, redacted) => {
  expect(redactedReply({ status: 200, type, body, headers: { vary: 'accept' } }, redacting)).toEqual({
    status: 200,
    type,
    body: redacted,
    headers: { vary: 'accept' },
  });
});

const HOST = '127.0.0.1:9848';

test.each([
  ['a program', { host: HOST }],
  ['a program, by name', { host: 'localhost:9848' }],
  ['an address typed into the address bar', { host: HOST, 'sec-fetch-site': 'none' }],
  ['a page of its own', { host: HOST, origin: `http://${HOST}`, 'sec-fetch-site': 'same-origin' }],
])('over TCP %s is answered', (_, headers) => {
  expect(refusalOfForeign(headers, false)).toBeUndefined();
});

test.each([
  ['a page of another origin', { host: HOST, origin: 'https://evil.example' }],
  ['the same address over TLS', { host: HOST, origin: `https://${HOST}` }],
  ['a page without an origin, as a sandboxed frame is', { host: HOST, origin: 'null' }],
  [
    'a request of another site without an Origin, as an image is',
    { host: HOST, 'sec-fetch-site': 'cross-site' },
  ],
  ['a request of the same site and another origin', { host: HOST, 'sec-fetch-site': 'same-site' }],
  ['a word for the site that nobody knows', { host: HOST, 'sec-fetch-site': 'none, same-origin' }],
  ['a name that was rebound to this machine', { host: 'evil.example:9848' }],
  ['a name that only begins as a loopback address', { host: '127.0.0.1.evil.example' }],
  ['a name in front of a loopback address', { host: 'evil.example@127.0.0.1' }],
  ['no host', {}],
])('over TCP %s is refused', (_, headers) => {
  expect(refusalOfForeign(headers, false)).toMatch(/answered here$/);
});

test('on a socket file any Host is fine, and no origin', () => {
  expect(refusalOfForeign({ host: 'pilotlight' }, true)).toBeUndefined();
  expect(refusalOfForeign({}, true)).toBeUndefined();
  expect(refusalOfForeign({ host: 'pilotlight', origin: 'http://pilotlight' }, true)).toContain('origin');
  expect(refusalOfForeign({ host: 'pilotlight', 'sec-fetch-site': 'cross-site' }, true)).toContain('site');
});

/** Somebody else has the port. */
async function taken(): Promise<{ readonly port: number; readonly free: () => Promise<void> }> {
  const server: Server = createServer();
  const port = await freePort();
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve));
  const free = (): Promise<void> => new Promise((resolve) => server.close(() => resolve()));
  closing.push(free);
  return { port, free };
}

async function keeping(port: number) {
  const { logger, lines } = collectedLog();
  const address = { host: '127.0.0.1', port };
  const routes = { 'GET /': () => plain(200, 'here\n') };
  const kept = await keepListening('metrics', { address, routes }, logger);
  closing.push(() => kept.close());
  return { kept, lines };
}

test('one that is taken is tried every five seconds, and said when that begins and ends', async () => {
  const { port, free } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept, lines } = await keeping(port);
  expect(kept.url).toBeUndefined();
  expect(lines).toMatchObject([
    { level: 50, host: '127.0.0.1', port, msg: 'metrics: cannot listen; it is tried again' },
  ]);
  vi.advanceTimersByTime(5_000);
  // The next try has failed when there is a timer for the one after it.
  await vi.waitUntil(() => vi.getTimerCount() > 0, { interval: 1 });
  expect(lines).toHaveLength(1);
  await free();
  vi.advanceTimersByTime(4_999);
  expect(kept.url).toBeUndefined();
  vi.advanceTimersByTime(1);
  vi.useRealTimers();
  await expect.poll(() => kept.url, { interval: 1 }).toBe(`http://127.0.0.1:${port}`);
  expect(lines.slice(1)).toMatchObject([{ level: 30, url: kept.url, msg: 'metrics: listening now' }]);
});

test('closed in the middle of a try that succeeds it leaves the port to others', async () => {
  const { port, free } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept, lines } = await keeping(port);
  await free();
  vi.advanceTimersByTime(5_000);
  await kept.close();
  vi.useRealTimers();
  const other = createServer();
  closing.push(() => new Promise((resolve) => other.close(resolve)));
  other.on('error', () => {});
  await expect
    .poll(() => (other.listening ? port : other.listen(port, '127.0.0.1') && 0), { interval: 5 })
    .toBe(port);
  expect(kept.url).toBeUndefined();
  expect(lines).toHaveLength(1);
});

test('closed while it is tried it is tried no more', async () => {
  const { port } = await taken();
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
  const { kept } = await keeping(port);
  expect(vi.getTimerCount()).toBe(1);
  await kept.close();
  expect(vi.getTimerCount()).toBe(0);
});
