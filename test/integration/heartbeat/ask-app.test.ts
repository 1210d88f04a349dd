import { createServer as createTcpServer } from 'node:net';
import { createServer as createTlsServer } from 'node:https';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { createAskApp } from '../../../src/heartbeat/app-watch.ts';
import { startTestApp, HANGS, WELL, type TestApp } from '../../support/app.ts';
import { until } from '../../support/daemon.ts';
import { listening } from '../../support/listening.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const never = new AbortController().signal;
const bad = (why: string) => ({ healthy: false, why });

let app: TestApp;
beforeEach(async () => {
  app = await startTestApp();
});
afterEach(async () => {
  vi.unstubAllEnvs();
  await app[Symbol.asyncDispose]();
});

const ask = (url = app.url, signal = never) => createAskApp(url)(signal);

describe('over HTTP', () => {
  test.each([200, 201, 204, 299])('%i is well', async (status) => {
    app.answer = (response) => void response.writeHead(status).end();
    expect(await ask()).toEqual({ healthy: true });
  });

  test.each([400, 404, 429, 500, 503])('%i is not, whatever it says', async (status) => {
    app.answer = (response) => void response.writeHead(status).end('{"status":"ok"}');
    expect(await ask()).toEqual(bad(`it answers with status ${status}`));
  });

  test('a redirect is not followed, and said', async () => {
    app.answer = (response) => void response.writeHead(302, { location: app.url }).end();
    expect(await ask()).toEqual(bad('it answers with status 302, and redirects are not followed'));
    expect(app.asked).toBe(1);
  });

  test('100 Continue and 103 Early Hints are not the answer', async () => {
    app.answer = (response) => {
      response.writeEarlyHints({ link: '</style.css>; rel=preload' });
      response.writeHead(503).end();
    };
    expect(await ask()).toEqual(bad('it answers with status 503'));
  });

  test('an answer that has no end is taken once it is long enough, and its connection ends', async () => {
    app.answer = (response) => {
      response.writeHead(200);
      const writing = setInterval(() => response.write('x'.repeat(10_000)), 1);
      response.once('close', () => clearInterval(writing));
    };
    expect(await ask()).toEqual({ healthy: true });
    await until(() => app.open === 0);
  });

  test('one that is cut is none', async () => {
    app.answer = (response) => {
      response.writeHead(200, { 'content-length': '10' }).write('half');
      setTimeout(() => response.destroy(), 20);
    };
    expect(await ask()).toEqual(bad('its answer is not a complete HTTP response'));
  });

  test.each<[string, TestApp['answer']]>([
    ['before the status', HANGS],
    ['in the body', (response) => void response.writeHead(200).write('o')],
  ])('one that hangs %s ends with the question, and its connection too', async (_, answer) => {
    app.answer = answer;
    const question = new AbortController();
    const asked = ask(app.url, question.signal);
    await until(() => app.asked === 1);
    question.abort();
    expect(await asked).toMatchObject({ healthy: false });
    await until(() => app.open === 0);
  });

  test('each question has a connection of its own, which ends with it', async () => {
    const question = createAskApp(app.url);
    for (let times = 0; times < 20; times += 1) await question(never);
    expect(app.asked).toBe(20);
    await until(() => app.open === 0);
  });

  test.each([
    ['', undefined],
    ['me', 'me:'],
    [':p%40ss', ':p@ss'],
    ['me:p%40ss', 'me:p@ss'],
  ])('user and password %s are sent, and path and query as they are', async (login, sent) => {
    let seen: unknown;
    app.answer = (response, { url, headers }) => {
      seen = [url, headers.authorization];
      response.end();
    };
    await ask(app.url.replace('127', `${login}@127`).replace('/health', '/a%20b?full=1&x'));
    expect(seen).toEqual(['/a%20b?full=1&x', sent && `Basic ${Buffer.from(sent).toString('base64')}`]);
  });

  test('no proxy is asked', async () => {
    for (const name of ['http_proxy', 'HTTP_PROXY']) vi.stubEnv(name, 'http://127.0.0.1:9');
    for (const name of ['no_proxy', 'NO_PROXY']) vi.stubEnv(name, '');
    expect(await ask()).toEqual({ healthy: true });
  });

  test('by name', async () => {
    expect(await ask(app.url.replace('127.0.0.1', 'localhost'))).toEqual({ healthy: true });
    expect(await ask('http://no-such-app.invalid/')).toEqual(bad('its name does not resolve'));
  });

  test('where nobody listens', async () => {
    await app.die();
    expect(await ask()).toEqual(bad('it refuses connections'));
    await app.rise();
    expect(await ask()).toEqual({ healthy: true });
  });

  test('an app that does not speak HTTP is unhealthy', async () => {
    await using server = await listening(
      createTcpServer((socket) => void socket.end('SSH-2.0-OpenSSH_9.2\r\n')),
    );
    expect(await ask(server.url)).toEqual(bad('its answer is not a complete HTTP response'));
  });
});

describeWith(
  'openssl',
  hasCommand('openssl', 'version'),
  'apt-get install openssl',
)('over TLS', () => {
  test('a certificate must be valid', async () => {
    using folder = temporaryFolder();
    const { key, cert } = createPrivateCa(folder.path).issue('localhost');
    await using server = await listening(
      createTlsServer({ key, cert }, (request, response) => WELL(response, request)),
    );
    expect(await ask(`https://localhost:${server.port}/`)).toEqual(bad('the TLS handshake failed'));
  });
});

describe('over TCP', () => {
  test('a port that is taken is well, whatever is behind it, and its connection ends', async () => {
    app.answer = HANGS;
    expect(await ask(`tcp://127.0.0.1:${app.port}`)).toEqual({ healthy: true });
    await until(() => app.open === 0);
    expect(app.asked).toBe(0);
  });

  test('a port that is not taken, and a name that does not resolve, are not', async () => {
    await app.die();
    expect(await ask(`tcp://127.0.0.1:${app.port}`)).toEqual(bad('it refuses connections'));
    expect(await ask(`tcp://[::1]:${app.port}`)).toMatchObject({ healthy: false });
    expect(await ask(`tcp://no-such-app.invalid:80`)).toEqual(bad('its name does not resolve'));
  });
});
