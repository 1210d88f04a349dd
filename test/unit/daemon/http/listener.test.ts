import { connect } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { Redaction } from '../../../../src/contract/text/redaction.ts';
import { listen, type HttpListener, type ListenerOptions } from '../../../../src/daemon/http/listener.ts';
import { json, plain } from '../../../../src/daemon/http/reply.ts';
import { until } from '../../../support/daemon.ts';

let listener: HttpListener | undefined;
afterEach(async () => {
  await listener?.close();
});

const errors: string[] = [];
async function serve(options: Partial<ListenerOptions> = {}): Promise<string> {
  listener = await listen({
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
  const { port, hostname } = new URL(url);
  const socket = connect(Number(port), hostname);
  socket.write('PUT /echo HTTP/1.1\r\nHost: a\r\nContent-Length: 100\r\n\r\nhalf of it');
  await new Promise((resolve) => socket.once('connect', resolve));
  for (let turn = 0; turn < 2; turn += 1) expect((await fetch(`${url}/hello`)).status).toBe(200);
  socket.destroy();
  for (let turn = 0; turn < 2; turn += 1) expect((await fetch(`${url}/hello`)).status).toBe(200);
  expect(errors).toEqual([]);
});

test('what comes on a connection before the answer to what was asked there is not done', async () => {
  const url = new URL(await serve());
  const socket = connect(Number(url.port), url.hostname);
  const request = 'GET /hello HTTP/1.1\r\nHost: a\r\n\r\n';
  let text = '';
  socket.setEncoding('utf8').on('data', (some: string) => (text += some));
  const statuses = (): string[] =>
    Array.from(text.matchAll(/HTTP\/1\.1 (\d+)/g), ([, status = '']) => status);
  socket.write(request.repeat(4));
  await until(() => statuses().length === 4);
  socket.write(request);
  await until(() => statuses().length === 5);
  expect(statuses()).toEqual(['200', '503', '503', '503', '200']);
  socket.destroy();
});

test('for programs alone, a request that names another host is refused', async () => {
  const url = await serve({ isForPrograms: true });
  expect((await fetch(`${url}/hello`)).status).toBe(200);
  expect(await rawStatus(url, 'evil.example')).toContain('403');
});

test('close ends open connections', async () => {
  const url = new URL(await serve());
  const socket = connect(Number(url.port), url.hostname);
  const closed = new Promise((resolve) => socket.once('close', resolve));
  await new Promise((resolve) => socket.once('connect', resolve));
  await listener?.close();
  await closed;
});

/** fetch does not let a caller set Host. */
function rawStatus(url: string, host: string): Promise<string> {
  const { port, hostname } = new URL(url);
  return new Promise((resolve) => {
    const socket = connect(Number(port), hostname);
    socket.once('data', (data) => {
      socket.destroy();
      resolve(data.toString().split('\r\n')[0] ?? '');
    });
    socket.write(`GET /hello HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
  });
}
