import { readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { transportReason } from '../../../src/client/errors.ts';
import type { Place } from '../../../src/client/transport/address-book.ts';
import { createTransport, type Exchange, type Transport } from '../../../src/client/transport/transport.ts';
import { exchangeOf } from '../../support/answering-transport.ts';
import { startFaultProxy } from '../../support/fault-proxy.ts';
import { listening } from '../../support/listening.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa, startTlsFront } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A server whose answers the test holds back or spoils by path, and which numbers its connections. */
async function startService() {
  const ports = new Map<number | undefined, number>();
  const held: (() => void)[] = [];
  const server = createServer((request, response) => {
    const port = request.socket.remotePort;
    if (!ports.has(port)) ports.set(port, ports.size + 1);
    const body = JSON.stringify({ connection: ports.get(port) });
    if (request.url === '/reset') request.socket.destroy();
    else if (request.url === '/held') held.push(() => response.end(body));
    else response.end(request.url === '/large' ? 'x'.repeat(1001) : body);
  });
  return { ...(await listening(server)), held };
}

let service: Awaited<ReturnType<typeof startService>>;
let transport: Transport;

beforeEach(async () => {
  service = await startService();
  transport = createTransport();
});
afterEach(async () => {
  await transport[Symbol.asyncDispose]();
  await service[Symbol.asyncDispose]();
});

/** Which connection answered, the first being 1. */
async function ask(path = '/', options: Partial<Exchange> = {}): Promise<number> {
  const { text } = await transport.exchange(exchangeOf(service.url + path, options));
  return (JSON.parse(text) as { connection: number }).connection;
}

/** So many connections that are idle at once, 1 the first that became so. */
async function openIdle(count: number): Promise<number[]> {
  const asked = Array.from({ length: count }, () => ask('/held'));
  await expect.poll(() => service.held.length).toBe(count);
  const connections: number[] = [];
  for (const one of asked) {
    service.held.shift()?.();
    connections.push(await one);
  }
  return connections;
}

describe('connections', () => {
  test('the idle one that was used last is used again', async () => {
    const [first, second] = await openIdle(2);
    expect([await ask(), await ask()]).toEqual([second, second]);
    const busy = ask('/held');
    await expect.poll(() => service.held.length).toBe(1);
    expect(await ask()).toBe(first);
    service.held.shift()?.();
    expect(await busy).toBe(second);
    expect(transport.open).toBe(2);
  });

  test('one that fails goes, and those of the others stay, idle or in use', async () => {
    const [first, , third] = await openIdle(3);
    const busy = ask('/held');
    await expect.poll(() => service.held.length).toBe(1);
    await expect(ask('/reset')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(transport.open).toBe(2);
    service.held.shift()?.();
    expect([await busy, await ask(), await ask()]).toEqual([third, third, third]);
    const both = [ask('/held'), ask('/held')];
    await expect.poll(() => service.held.length).toBe(2);
    for (const release of service.held) release();
    expect(new Set(await Promise.all(both))).toEqual(new Set([first, third]));
  });

  test('a fresh one is new, and leaves the idle ones alone', async () => {
    const [first] = await openIdle(1);
    const fresh = await ask('/', { fresh: true });
    expect(fresh).not.toBe(first);
    expect(transport.open).toBe(2);
  });

  test('at most 64 are kept idle: those that were used longest ago go', async () => {
    await openIdle(70);
    expect(transport.open).toBe(64);
  });

  test('an answer that is too large costs its connection', async () => {
    await openIdle(1);
    await expect(ask('/large')).rejects.toThrow('the answer is larger than 1000 bytes');
    expect(transport.open).toBe(0);
  });

  test('each address has its own', async () => {
    await using other = await startService();
    const [first] = await openIdle(1);
    await ask('/', { url: other.url });
    expect([transport.open, await ask()]).toEqual([2, first]);
  });
});

describe('an end', () => {
  test('a signal that has fired opens nothing', async () => {
    const signal = AbortSignal.abort('too late');
    await expect(ask('/', { signal })).rejects.toBe('too late');
    expect(transport.open).toBe(0);
  });

  test('an abort is what the exchange rejects with, and frees its connection at once', async () => {
    const controller = new AbortController();
    const asked = ask('/held', { signal: controller.signal });
    await expect.poll(() => service.held.length).toBe(1);
    controller.abort('enough');
    await expect(asked).rejects.toBe('enough');
    expect(transport.open).toBe(0);
  });

  test('disposing ends what is under way, what is idle, and what comes later', async () => {
    await openIdle(2);
    const asked = [ask('/held'), ask('/held'), ask('/held')];
    const ended = Promise.allSettled(asked);
    await expect.poll(() => service.held.length).toBe(3);
    await transport[Symbol.asyncDispose]();
    expect((await ended).map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    await expect(ask()).rejects.toThrow('disposed');
    expect(transport.open).toBe(0);
    await expect.poll(() => service.sockets.size).toBe(0);
  });
});

describe('an address', () => {
  const failure = () => transport.addresses()[0]?.addresses[0]?.failure?.reason;

  test('is blamed if a new connection breaks, and not for one that was idle', async () => {
    await openIdle(1);
    await expect(ask('/reset')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(failure()).toBe(undefined);
    await expect(ask('/reset')).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' });
    expect(failure()).toBe('reset');
  });

  test('is not blamed if the exchange is given up at once', async () => {
    await ask();
    const controller = new AbortController();
    const asked = ask('/held', { signal: controller.signal });
    controller.abort('enough');
    await expect(asked).rejects.toBe('enough');
    expect(failure()).toBe(undefined);
  });

  test('is named when an exchange ends: with an answer, without one, and before a connection is there', async () => {
    const places: Place[] = [];
    const onPlace = (place: Place): unknown => places.push(place);
    await ask('/', { onPlace });
    const silence = AbortSignal.timeout(100);
    await expect(ask('/held', { onPlace, signal: silence })).rejects.toThrow('timeout');
    await expect(ask('/', { onPlace, url: 'https://no-such.invalid/' })).rejects.toThrow('no-such.invalid');
    await expect(ask('/', { onPlace, url: `https://127.0.0.1:${service.port}/` })).rejects.toThrow('SSL');
    const address = `127.0.0.1:${service.port}`;
    expect(places.map((place) => place.address)).toEqual([address, address, 'no-such.invalid:443', address]);
    expect(places.some(({ isProxy }) => isProxy)).toBe(false);
  });

  test('is told to whoever reads the answer', async () => {
    const { peer } = await transport.exchange(exchangeOf(service.url));
    expect(peer).toMatchObject({ address: '127.0.0.1', addresses: 1 });
    peer?.judge('status 503');
    expect(transport.addresses()).toEqual([
      {
        origin: service.url,
        addresses: [
          {
            address: '127.0.0.1',
            failure: { reason: 'status 503', since: expect.closeTo(Date.now(), -6) },
          },
        ],
      },
    ]);
    peer?.judge();
    expect(failure()).toBe(undefined);
  });
});

test('an exchange tells once that its connection is there, and not where there is none', async () => {
  let told = 0;
  const onConnected = (): void => void (told += 1);
  await ask('/', { onConnected });
  const held = ask('/held', { onConnected });
  await expect.poll(() => service.held.length).toBe(1);
  expect(told).toBe(2);
  service.held.shift()?.();
  await held;
  await using proxy = await startFaultProxy(service.port);
  await proxy.switchTo({ kind: 'hang-at-connect' });
  const controller = new AbortController();
  const hanging = ask('/', { url: proxy.url, signal: controller.signal, onConnected });
  const ended = Promise.allSettled([hanging]);
  // A second server is asked and answers meanwhile.
  await ask();
  controller.abort('enough');
  await ended;
  await proxy.switchTo({ kind: 'refuse' });
  await expect(ask('/', { url: proxy.url, onConnected })).rejects.toMatchObject({ code: 'ECONNREFUSED' });
  expect(told).toBe(2);
});

describeWith(
  'openssl',
  hasCommand('openssl', 'version'),
  'apt-get install openssl',
)('a refused certificate', () => {
  test('has the file of NODE_EXTRA_CA_CERTS read again', async () => {
    using folder = temporaryFolder();
    const ca = createPrivateCa(folder.path);
    await using front = await startTlsFront(ca.issue('127.0.0.1'), service.port);
    await using strange = await startTlsFront(ca.issue('elsewhere.test'), service.port);
    const bundle = join(folder.path, 'bundle.pem');
    const broken = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n';
    writeFileSync(bundle, broken);
    vi.stubEnv('NODE_EXTRA_CA_CERTS', bundle);
    transport = createTransport();
    vi.unstubAllEnvs();
    const reach = ({ port }: { readonly port: number }) =>
      ask('/', { url: `https://127.0.0.1:${port}/` }).then(
        () => 'answered',
        (error: unknown) => transportReason(error as Error),
      );
    expect(await reach(front)).toBe('tls');
    writeFileSync(bundle, broken + readFileSync(ca.file, 'utf8'));
    await expect.poll(() => reach(front)).toBe('answered');
    // The trusted certificates are the same, so idle connections stay open.
    expect([await reach(strange), await reach(strange), transport.open]).toEqual(['tls', 'tls', 1]);
  });
});
