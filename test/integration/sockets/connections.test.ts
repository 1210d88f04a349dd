/**
 * Open files and memory through faults of the network: an attempt takes its connection with it in whatever phase it
 * is. Each fault meets hundreds of attempts of a process of its own; what is compared are counts, never times.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect, createServer as createTcpServer } from 'node:net';
import { afterAll, describe, expect, test } from 'vitest';
import type { Count, Order } from '../../support/attempts-child.ts';
import { childBundle } from '../../support/child-bundle.ts';
import { until } from '../../support/daemon.ts';
import { startFaultProxy, type FaultMode } from '../../support/fault-proxy.ts';
import { startForwardProxy } from '../../support/forward-proxy.ts';
import { isLong } from '../../support/long.ts';
import { listening } from '../../support/listening.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa, startTlsFront } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const NO_PASSWORD = Buffer.from([5, 0]);
const ESTABLISHED = Buffer.from([5, 0, 0, 1, 0, 0, 0, 0, 0, 0]);

async function startSocksProxy(target: number) {
  const server = createTcpServer();
  const { port, sockets, [Symbol.asyncDispose]: dispose } = await listening(server);
  const proxy = {
    url: `socks5://127.0.0.1:${port}`,
    /** `mute`: says that the tunnel is there, and takes what comes then in silence. */
    mode: 'forward' as 'forward' | 'mute',
    tunnels: 0,
    get connections() {
      return sockets.size;
    },
    [Symbol.asyncDispose]: dispose,
  };
  server.on('connection', (client) => {
    client.on('error', () => {});
    client.once('data', (greeting: Buffer) => {
      // Whoever says anything else, such as the first bytes of TLS, is at the wrong door.
      if (greeting[0] !== 5) return void client.destroy();
      client.write(NO_PASSWORD);
      client.once('data', () => {
        proxy.tunnels += 1;
        client.write(ESTABLISHED);
        if (proxy.mode === 'mute') return void client.resume();
        const upstream = connect(target, '127.0.0.1');
        upstream.on('error', () => client.destroy());
        client.on('close', () => upstream.destroy());
        client.pipe(upstream).pipe(client);
      });
    });
  });
  return proxy;
}

const bundle = childBundle(new URL('../../support/attempts-child.ts', import.meta.url));
afterAll(() => bundle[Symbol.dispose]());
const PROXIES = /^(https?|no)_proxy$/i;

type Attempts = Awaited<ReturnType<typeof startAttempts>>;

async function startAttempts(
  environment: Readonly<Record<string, string>> = {},
  nodeOptions: readonly string[] = [],
) {
  const own = Object.entries(process.env).filter(([name]) => !PROXIES.test(name));
  const child = fork(bundle.path, {
    execArgv: ['--expose-gc', ...nodeOptions],
    env: { ...Object.fromEntries(own), ...environment },
  });
  await once(child, 'message');
  return {
    async make(order: Order): Promise<Count> {
      const answered = once(child, 'message', { signal: AbortSignal.timeout(50_000) });
      child.send(order);
      return (await answered)[0] as Count;
    },
    /** Lets go of the process, and resolves with its exit code. */
    async end() {
      const exited = once(child, 'exit');
      child.disconnect();
      return (await exited)[0] as number;
    },
    async [Symbol.asyncDispose]() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exited = once(child, 'exit');
      child.kill('SIGKILL');
      await exited;
    },
  };
}

const WIDTH = 10;
/** One leaked kibibyte an attempt shows in a loop of 400, a leaked file or socket in fewer. */
const ATTEMPTS = isLong ? 400 : 120;
const HEAP_BOUND = 512 * 1024;
/** Files of Node's own that come and go: a pipe of the resolver's, the folder that is being counted. */
const SLACK = 4;

/** One for each test, which ends its idle connections. */
async function startService(host = '127.0.0.1') {
  // Longer than a busy machine takes: what is idle is the client's to keep.
  const server = createServer({ keepAliveTimeout: 120_000 }, (request, response) => {
    request.resume();
    response.end('{"success":true}');
  });
  const listener = await listening(server, 'connection', { host });
  return { ...listener, closeIdle: () => server.closeIdleConnections() };
}
type Service = Awaited<ReturnType<typeof startService>>;

type Target = Pick<Order, 'url' | 'resolver'> & Partial<Pick<Order, 'abortAfter'>>;

/** Attempts against a fault, of which none is answered: files stay bounded, and nothing is left of them. */
async function suffer(attempts: Attempts, given: Target) {
  const order = { abortAfter: 30, ...given };
  const idle = await attempts.make({ ...order, attempts: 0, width: 1 });
  // The first ones load and compile what all of them share: on a busy machine, most get no further than a socket in 30 ms.
  const abortAfter = Math.max(order.abortAfter, 300);
  const warm = await attempts.make({ ...order, abortAfter, attempts: 60, width: WIDTH });
  const count = await attempts.make({ ...order, attempts: ATTEMPTS, width: WIDTH });
  expect(count.most.open).toBeLessThanOrEqual(WIDTH);
  expect(count.most.files).toBeLessThanOrEqual(idle.left.files + 2 * WIDTH + SLACK);
  expect(count.left.open).toBe(0);
  expect(count.left.files).toBeLessThanOrEqual(idle.left.files + SLACK);
  let grown = count.left.heap - warm.left.heap;
  // What V8 keeps of its own, such as compiled code, comes once; a leak comes again.
  if (grown >= HEAP_BOUND)
    grown = (await attempts.make({ ...order, attempts: ATTEMPTS, width: WIDTH })).left.heap - count.left.heap;
  expect(grown).toBeLessThan(HEAP_BOUND);
  return count;
}

/** The fault is over: every attempt is answered, what the server closes is gone, and the end leaves nothing that keeps the process. */
async function recover(attempts: Attempts, service: Service, target: Target): Promise<void> {
  const order = { ...target, abortAfter: 20_000 };
  const after = await attempts.make({ ...order, attempts: 30, width: WIDTH });
  expect(after.ends).toEqual({ 200: 30 });
  expect(after.left.open).toBeLessThanOrEqual(WIDTH);
  const idle = async () => (await attempts.make({ ...order, attempts: 0, width: 1 })).left.open;
  expect(await idle()).toBeGreaterThan(0);
  service.closeIdle();
  await until(async () => (await idle()) === 0);
  const end: Count = await attempts.make({ ...order, attempts: 0, width: 1, dispose: true });
  expect([end.left.open, end.active, end.warnings]).toEqual([0, [], []]);
  expect(await attempts.end()).toBe(0);
}

const ABORTED = { aborted: ATTEMPTS };

test.concurrent.each<[what: string, mode: FaultMode, ends: Count['ends'], abortAfter: number]>([
  ['the server takes the request and never answers', { kind: 'hang-after-request' }, ABORTED, 30],
  ['the body stops half way', { kind: 'hang-in-body' }, ABORTED, 30],
  ['nobody listens', { kind: 'refuse' }, { ECONNREFUSED: ATTEMPTS }, 20_000],
])('plain HTTP: %s', async (_, mode, ends, abortAfter) => {
  await using service = await startService();
  await using proxy = await startFaultProxy(service.port);
  await using attempts = await startAttempts();
  await proxy.switchTo(mode);
  expect((await suffer(attempts, { url: proxy.url, abortAfter })).ends).toEqual(ends);
  await until(() => proxy.connections === 0);
  await proxy.switchTo({ kind: 'pass' });
  await recover(attempts, service, { url: proxy.url });
});

// Alone: attempts that nothing holds up have half a second.
test('idle connections fall silent', async () => {
  await using service = await startService();
  await using proxy = await startFaultProxy(service.port);
  await using attempts = await startAttempts();
  const order = { url: proxy.url, attempts: 30, width: WIDTH };
  const before = await attempts.make({ ...order, abortAfter: 20_000 });
  expect([before.ends, before.left.open]).toEqual([{ 200: 30 }, WIDTH]);
  await proxy.switchTo({ kind: 'half-open' });
  // Each silent one costs the attempt that takes it, and goes with it; the new ones work.
  const { ends, left } = await attempts.make({ ...order, abortAfter: 500 });
  expect(ends).toEqual({ aborted: WIDTH, 200: 20 });
  expect(left.open).toBe(WIDTH);
  await recover(attempts, service, { url: proxy.url });
});

describe.concurrent('names', () => {
  test('the resolver hangs', async () => {
    await using service = await startService();
    await using attempts = await startAttempts();
    const url = `http://localhost:${service.port}`;
    expect((await suffer(attempts, { url: 'http://service.test', resolver: 'hang' })).ends).toEqual(ABORTED);
    await recover(attempts, service, { url });
  });

  test('resolve with --no-network-family-autoselection', async () => {
    await using service = await startService('localhost');
    await using attempts = await startAttempts({}, ['--no-network-family-autoselection']);
    await recover(attempts, service, { url: `http://localhost:${service.port}` });
  });
});

/** Nobody resolves it but a proxy, or a resolver that is told. */
const NAME = 'service.internal';

/** The service behind TLS, and a forward proxy that leads to it. */
async function startTls() {
  const folder = temporaryFolder();
  const ca = createPrivateCa(folder.path);
  const service = await startService();
  const front = await startTlsFront(ca.issue(NAME), service.port);
  return {
    service,
    front,
    trust: { NODE_EXTRA_CA_CERTS: ca.file },
    async [Symbol.asyncDispose]() {
      await front[Symbol.asyncDispose]();
      await service[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

describeWith(
  'openssl',
  hasCommand('openssl', 'version'),
  'apt-get install openssl',
)('TLS', () => {
  test.concurrent.each<[what: string, mode: FaultMode]>([
    ['TCP is taken, TLS is silent', { kind: 'hang-after-request' }],
    ['packets are dropped', { kind: 'hang-at-connect' }],
  ])('%s', async (_, mode) => {
    await using tls = await startTls();
    await using proxy = await startFaultProxy(tls.front.port);
    await using attempts = await startAttempts(tls.trust);
    const { hostname, port } = new URL(proxy.url);
    const target = { url: `https://${NAME}:${port}`, resolver: { address: hostname } };
    await proxy.switchTo(mode);
    expect((await suffer(attempts, target)).ends).toEqual(ABORTED);
    await until(() => proxy.connections === 0);
    await proxy.switchTo({ kind: 'pass' });
    await recover(attempts, tls.service, target);
  });

  test.concurrent.each<[what: string, mode: 'hang' | 'mute']>([
    ['the proxy hangs in CONNECT', 'hang'],
    ['TLS is silent behind the proxy', 'mute'],
  ])('%s', async (_, mode) => {
    await using tls = await startTls();
    await using proxy = await startForwardProxy({ tls: tls.front.port, http: tls.service.port });
    await using attempts = await startAttempts({ ...tls.trust, HTTPS_PROXY: proxy.url });
    proxy.mode = mode;
    const url = `https://${NAME}`;
    expect((await suffer(attempts, { url })).ends).toEqual(ABORTED);
    await until(() => proxy.connections === 0);
    expect(proxy.requests.filter((request) => request.startsWith('CONNECT')).length).toBeGreaterThan(WIDTH);
    proxy.mode = 'forward';
    await recover(attempts, tls.service, { url });
  });

  test.concurrent('TLS is silent behind a SOCKS5 proxy', async () => {
    await using tls = await startTls();
    await using proxy = await startSocksProxy(tls.front.port);
    await using attempts = await startAttempts({ ...tls.trust, HTTPS_PROXY: proxy.url });
    proxy.mode = 'mute';
    const url = `https://${NAME}`;
    // Three ways there and back lie before the tunnel: a busy machine needs more than the usual 30 ms for them.
    for (const abortAfter of [30, 200, 1_000]) {
      if (proxy.tunnels > WIDTH) break;
      expect((await suffer(attempts, { url, abortAfter })).ends).toEqual(ABORTED);
      await until(() => proxy.connections === 0);
    }
    expect(proxy.tunnels).toBeGreaterThan(WIDTH);
    proxy.mode = 'forward';
    await recover(attempts, tls.service, { url });
  });

  test.concurrent('the proxy itself is behind a network that drops packets', async () => {
    await using tls = await startTls();
    await using proxy = await startForwardProxy({ tls: tls.front.port, http: tls.service.port });
    await using network = await startFaultProxy(Number(new URL(proxy.url).port));
    const address = Object.assign(new URL(proxy.url), { host: new URL(network.url).host }).href;
    await using attempts = await startAttempts({ ...tls.trust, HTTPS_PROXY: address, HTTP_PROXY: address });
    await network.switchTo({ kind: 'hang-at-connect' });
    for (const url of [`https://${NAME}`, `http://${NAME}`])
      expect((await suffer(attempts, { url })).ends).toEqual(ABORTED);
    await network.switchTo({ kind: 'pass' });
    await recover(attempts, tls.service, { url: `https://${NAME}` });
  });
});
