/** Whatever comes to a port, each listener answers or closes, and goes on. */
import { connect } from 'node:net';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { OPERATION_IDS, operationOf } from '../../../src/contract/operations.ts';
import { DEFAULT_TEAM_KEY, startEmulator } from '../../../src/emulator/index.ts';
import { encodeRequest } from '../../../src/wire/request.ts';
import { casesOf, PATIENCE, withoutHang, withoutHangOf } from '../../support/bad-input/cases.ts';
import { damagedBytes } from '../../support/bad-input/damage.ts';
import { startDaemonProcess } from '../../support/daemon-process.ts';
import { serviceOf } from '../../support/daemon.ts';
import * as fc from '../../support/fast-check.ts';
import { ask } from '../../support/raw-http.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** What a listener answers to these bytes, whole or not; empty where it only closes. Rejects where it does neither. */
function exchange(url: string, bytes: Uint8Array): Promise<string> {
  const place = url.startsWith('unix:')
    ? { path: url.slice('unix:'.length) }
    : { host: new URL(url).hostname, port: Number(new URL(url).port) };
  return new Promise((resolve, reject) => {
    let answer = '';
    const socket = connect(place);
    // Far beyond what is asked of it, which is measured in processor time.
    const overdue = setTimeout(() => {
      socket.destroy();
      reject(
        new Error(
          `neither answered nor closed: ${JSON.stringify(Buffer.from(bytes).toString('latin1').slice(0, 2_000))}`,
        ),
      );
    }, 30_000);
    socket.setEncoding('latin1').on('data', (text: string) => (answer += text));
    socket.on('error', () => socket.destroy());
    socket.once('close', () => {
      clearTimeout(overdue);
      resolve(answer);
    });
    // The end of the request is the end of what the client will ever say.
    socket.end(bytes);
  });
}

interface Request {
  readonly method: string;
  readonly target: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
}

function bytesOf({ method, target, headers = {}, body = '' }: Request, more: readonly string[]): Buffer {
  const named = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const lines = [
    `${method} ${target} HTTP/1.1`,
    ...named,
    ...more,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return Buffer.from(`${lines.join('\r\n')}\r\n\r\n${body}`);
}

/** Header lines that a client, a proxy or somebody with bad intentions may add. */
const LINES = fc.constantFrom(
  'Transfer-Encoding: chunked',
  'Transfer-Encoding: gzip',
  'Transfer-Encoding : chunked',
  'Content-Length: 5',
  'Content-Length: -1',
  'Content-Length: 99999999999999999999',
  'Connection: upgrade',
  'Upgrade: websocket',
  'Upgrade: h2c',
  'HTTP2-Settings: AAMAAABkAAQAAP__',
  'Expect: 100-continue',
  'Expect: something',
  'Trailer: x',
  'Host: other.example',
  'X-Forwarded-For: 127.0.0.1',
  'X-HTTP-Method-Override: POST',
  'Accept: text/csv',
  'Accept-Encoding: gzip, deflate, br',
  'Content-Type: application/json; charset=utf-16',
  'Content-Encoding: gzip',
  'Authorization: Bearer',
  'Authorization: Basic ::::',
  `Cookie: ${'a=b; '.repeat(900)}`,
  `X-Long: ${'x'.repeat(17_000)}`,
  ' folded: line',
  '__proto__: x',
  'x\u00FF: \u0080',
);

/** Each of the requests, with other headers, other bytes, cut off, or followed by another. */
function damagedRequests(requests: readonly Request[]): fc.Arbitrary<Buffer> {
  const whole = fc
    .tuple(fc.constantFrom(...requests), fc.array(LINES, { maxLength: 3 }))
    .map(([request, more]) => bytesOf(request, more));
  return fc.weighted(
    [2, whole],
    [6, whole.chain((bytes) => damagedBytes(bytes))],
    [2, fc.tuple(whole, whole).chain((both) => damagedBytes(Buffer.concat(both)))],
    [1, fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes))],
    [1, fc.constantFrom(TLS_HELLO, HTTP2_PREFACE, REDIS, SLASHES)],
  );
}

/** What else speaks first on a port. */
const TLS_HELLO = Buffer.from('16030100c8010000c40303' + '00'.repeat(190), 'hex');
const HTTP2_PREFACE = Buffer.from('PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0', 'latin1');
const REDIS = Buffer.from('*1\r\n$4\r\nPING\r\n');
const SLASHES = Buffer.from(`GET ${'/../'.repeat(2_000)} HTTP/1.0\r\n\r\n`);

const HOST = { host: '127.0.0.1' };
const FLEET = [
  '?endpoint=chat&from=-6h&to=now&rows=500&format=csv',
  '?from=1700000000&to=2026-11-22T06:00:00Z',
  '?endpoint=%00&rows=1e9',
];

/** Those of LISTEN. */
const SHOWN: readonly Request[] = [
  '/',
  '/metrics',
  '/livez',
  '/readyz',
  '/api/status',
  '/api/status/schema',
  '/api/fleet/schema',
  ...FLEET.map((query) => `/api/fleet${query}`),
].flatMap((target) => ['GET', 'HEAD'].map((method) => ({ method, target, headers: HOST })));

/** Those of ADMIN_LISTEN. Whoever may ask for the end gets it, so nobody here may. */
const ADMIN: readonly Request[] = [
  { method: 'GET', target: '/-/config', headers: HOST },
  { method: 'POST', target: '/-/reload', headers: HOST },
  { method: 'PUT', target: '/-/log-level', headers: HOST, body: 'info' },
  ...[{ origin: 'http://evil.example' }, { 'sec-fetch-site': 'cross-site' }].flatMap((foreign) =>
    ['/-/reload', '/-/config'].map((target) => ({
      method: 'POST',
      target,
      headers: { ...HOST, ...foreign },
    })),
  ),
];

/** Answers to one connection: each begins as one does, and none is that of a bug. */
function expectAnswers(text: string): void {
  if (text === '') return;
  expect(text).toMatch(/^HTTP\/1\.1 [1-5]\d\d /);
  expect(text).not.toMatch(/HTTP\/1\.1 500 /);
}

test.each(['127.0.0.1:0', 'unix'])('of the daemon, ADMIN_LISTEN %s', { timeout: PATIENCE }, async (admin) => {
  using folder = temporaryFolder();
  await using emulator = await startEmulator();
  await using daemon = await startDaemonProcess({
    ...serviceOf(emulator),
    DEPLOYMENTS: '42@300s',
    WORKER_GROUPS: '7',
    ENDPOINTS: 'all',
    STATE_DIR: folder.path,
    ADMIN_LISTEN: admin === 'unix' ? `unix:${join(folder.path, 'admin.sock')}` : admin,
  });
  const pid = daemon.daemonPid();
  const requests = fc.oneof(
    damagedRequests(SHOWN).map((bytes) => [daemon.url, bytes] as const),
    damagedRequests(ADMIN).map((bytes) => [daemon.adminUrl, bytes] as const),
  );
  await fc.assert(
    fc.asyncProperty(requests, async ([url, bytes]) => {
      expectAnswers(await withoutHangOf(pid, () => exchange(url, bytes)));
    }),
    casesOf(20),
  );
  expect(daemon.daemonPid()).toBe(pid);
  expect(await ask(daemon.url, 'GET', '/livez')).toEqual({ status: 200, body: 'live\n' });
  expect((await ask(daemon.adminUrl, 'GET', '/-/config')).status).toBe(200);
  // What strangers send is no trouble of the operator's.
  expect(daemon.stderr()).not.toMatch(/"level":"(?:error|fatal)"/);
  // A field that a line has twice is read as one or the other.
  for (const line of daemon.stderr().trim().split('\n')) expect(JSON.stringify(JSON.parse(line))).toBe(line);
});

test('of the emulator', { timeout: PATIENCE }, async () => {
  await using emulator = await startEmulator({ clock: 'frozen' });
  const authorized = { ...HOST, authorization: `Bearer ${DEFAULT_TEAM_KEY}` };
  const requests = OPERATION_IDS.map((id): Request => {
    const encoded = encodeRequest(operationOf(id), operationOf(id).example.input, DEFAULT_TEAM_KEY);
    if (!encoded.ok) throw new Error(id);
    const { method, target, body = '' } = encoded.request;
    return { method, target, body, headers: { ...authorized, 'content-type': 'application/json' } };
  });
  const own = ['/_emulator/journal', '/_emulator/faults', '/docs', '/openapi.json'].map((target) => ({
    method: 'GET',
    target,
    headers: HOST,
  }));
  await fc.assert(
    fc.asyncProperty(damagedRequests([...requests, ...own]), async (bytes) => {
      const count = Math.max(1, bytes.toString('latin1').split(' HTTP/1.').length - 1);
      expectAnswers(await withoutHang(() => exchange(emulator.url, bytes), count));
    }),
    casesOf(20),
  );
  expect((await ask(emulator.url, 'GET', '/_emulator/journal')).status).toBe(200);
});
