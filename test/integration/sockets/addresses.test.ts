/**
 * A name with several addresses, each over real sockets and with a fault of its own: a deployment lives if one of them
 * is well.
 */
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { createPartialClient } from '../../../src/client/caller.ts';
import { createTransport } from '../../../src/client/transport/transport.ts';
import { serverlessOperations } from '../../../src/contract/operations/serverless/serverless.ts';
import { startEmulator } from '../../../src/emulator/index.ts';
import { createBeatPort } from '../../../src/heartbeat/driver/beat.ts';
import { HeartbeatDriver } from '../../../src/heartbeat/driver/driver.ts';
import type { HeartbeatState } from '../../../src/heartbeat/engine/state.ts';
import { hasAddresses, hasIpv6, startAddresses, type Addresses } from '../../support/addresses.ts';
import { until } from '../../support/daemon.ts';
import type { FaultMode } from '../../support/fault-proxy.ts';
import { startForwardProxy } from '../../support/forward-proxy.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa, startTlsFront, type Certificate } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const TTL_MS = 20_000;
const NAME = 'service.internal';
const PASS: FaultMode = { kind: 'pass' };
const SILENT: FaultMode = { kind: 'hang-after-request' };
const DROPPED: FaultMode = { kind: 'hang-at-connect' };
const REFUSED: FaultMode = { kind: 'refuse' };

function answering(status: string, body: string): FaultMode {
  const head = `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}`;
  return { kind: 'answer', bytes: `${head}\r\n\r\n${body}` };
}
const UNAVAILABLE = answering('503 Service Unavailable', '{"success":false,"msg":"no"}');
const STALE = answering(
  '404 Not Found',
  '{"success":false,"error":"not_found","msg":"Deployment not found."}',
);
const FOREIGN = answering('200 OK', '{"success":true,"deployment_id":999999}');

let lastId = 0;
const emulator = await startEmulator();
afterAll(() => emulator[Symbol.asyncDispose]());

/** One deployment that is kept alive over `resolve`. */
function live(baseUrl: string, { resolve }: Pick<Addresses, 'resolve'>) {
  const id = (lastId += 1);
  emulator.deployments.add({ id, ttl: TTL_MS / 1000 });
  const transport = createTransport(resolve);
  const states: HeartbeatState[] = [];
  const client = createPartialClient(
    { 'deployments.heartbeat': serverlessOperations['deployments.heartbeat'] },
    { transport, baseUrl, apiKey: emulator.apiKey },
  );
  const driver = new HeartbeatDriver({
    key: emulator.apiKey,
    ports: {
      clock: { mono: () => performance.now(), wall: Date.now },
      random: Math.random,
      setTimer(ms, fn) {
        const timer = setTimeout(fn, ms);
        return () => clearTimeout(timer);
      },
      beat: createBeatPort(client),
      readKey: async () => emulator.apiKey,
      listener(_, notice) {
        if (notice.type === 'state') states.push(notice.to);
      },
    },
  });
  driver.add({ id, ttl: TTL_MS, interval: 'auto' });
  const books = () => emulator.deployments.get(id);
  return {
    transport,
    states,
    /** Resolves when so many more heartbeats were accepted; fails if the deployment lapses before. */
    async accepted(count: number) {
      const wanted = books().beats + count;
      await until(() => books().expired || books().beats >= wanted);
      expect(books().expired).toBe(false);
    },
    async [Symbol.asyncDispose]() {
      await driver.stop();
      await transport[Symbol.asyncDispose]();
      emulator.deployments.remove(id);
    },
  };
}

const describeWorlds = describeWith('127.0.0.0/8', hasAddresses, 'run it on Linux');

describeWorlds('a deployment lives', () => {
  test.concurrent.each<[what: string, fault: FaultMode, reason: string]>([
    ['takes TCP and stays silent', SILENT, 'timeout'],
    ['answers 503', UNAVAILABLE, 'server-error'],
    ['does not know the deployment', STALE, 'not-found'],
    ['answers for another deployment', FOREIGN, 'wrong-deployment'],
    ['refuses connections', REFUSED, 'refused'],
    ['drops packets', DROPPED, 'slow to connect'],
    ['ends in the middle of the body', { kind: 'cut-body' }, 'reset'],
    ['resets connections', { kind: 'reset' }, 'reset'],
  ])('although the first of two addresses %s', async (_, fault, reason) => {
    await using addresses = await startAddresses(emulator.port, [fault, PASS]);
    await using life = live(`http://${NAME}:${addresses.port}`, addresses);
    await life.accepted(3);
    expect(life.states).not.toContain('gone');
    const [first, second] = addresses.listed;
    const states = () => life.transport.addresses()[0]?.addresses;
    // On a busy machine a heartbeat to the good one may time out as well.
    await until(() => states()?.[1]?.failure === undefined);
    const failure = { reason: expect.toBeOneOf([reason, 'timeout']), since: expect.any(Number) };
    expect(states()).toEqual([{ address: first, failure }, { address: second }]);
  });

  test.skipIf(!hasIpv6).concurrent('although packets over IPv6 are lost after a while', async () => {
    const hosts = ['::1', '127.0.0.1'];
    await using addresses = await startAddresses(emulator.port, [PASS, PASS], hosts);
    await using life = live(`http://${NAME}:${addresses.port}`, addresses);
    await life.accepted(2);
    await addresses.proxies[0]?.switchTo(SILENT);
    await life.accepted(3);
    const [known] = life.transport.addresses();
    expect(known?.addresses).toMatchObject([
      { address: '::1', failure: { reason: 'timeout' } },
      { address: '127.0.0.1' },
    ]);
  });

  test.concurrent('although its name moves while the old address is dead', async () => {
    await using addresses = await startAddresses(emulator.port, [PASS, PASS]);
    const [old = '', next = ''] = addresses.listed;
    addresses.listed = [old];
    await using life = live(`http://${NAME}:${addresses.port}`, addresses);
    await life.accepted(1);
    await addresses.proxies[0]?.switchTo(DROPPED);
    addresses.listed = [next];
    await life.accepted(2);
  });
});

const describeTls = describeWith(
  'openssl',
  hasAddresses && hasCommand('openssl', 'version'),
  'apt-get install openssl, on Linux',
);

describeTls('over TLS', () => {
  const trusted = getCACertificates();
  let certificate: Certificate;

  beforeAll(() => {
    using folder = temporaryFolder();
    const ca = createPrivateCa(folder.path);
    certificate = ca.issue(NAME, 'proxied.internal');
    setDefaultCACertificates([...trusted, readFileSync(ca.file, 'utf8')]);
    for (const name of ['HTTPS_PROXY', 'https_proxy']) vi.stubEnv(name, '');
    for (const name of ['NO_PROXY', 'no_proxy']) vi.stubEnv(name, NAME);
  });
  afterAll(() => {
    setDefaultCACertificates(trusted);
    vi.unstubAllEnvs();
  });

  test('a deployment lives although the first address never answers TLS', async () => {
    await using front = await startTlsFront(certificate, emulator.port);
    await using addresses = await startAddresses(front.port, [SILENT, PASS]);
    await using life = live(`https://${NAME}:${addresses.port}`, addresses);
    await life.accepted(3);
    const [known] = life.transport.addresses();
    const reason = expect.toBeOneOf(['slow to connect', 'timeout']) as string;
    expect(known).toMatchObject({ addresses: [{ failure: { reason } }, {}] });
    expect(known).not.toHaveProperty('proxy');
  });

  test.each<[what: string, fault: FaultMode, reason: string]>([
    ['takes connections and stays silent', SILENT, 'timeout'],
    ['refuses connections', REFUSED, 'refused'],
    ['refuses the tunnel', answering('503 Service Unavailable', ''), 'proxy'],
  ])('a deployment lives although the first address of the proxy %s', async (_, fault, why) => {
    await using front = await startTlsFront(certificate, emulator.port);
    await using proxy = await startForwardProxy({ tls: front.port, http: emulator.port });
    const { username, password, port } = new URL(proxy.url);
    await using addresses = await startAddresses(Number(port), [fault, PASS]);
    const host = `proxy.internal:${addresses.port}`;
    vi.stubEnv('HTTPS_PROXY', `http://${username}:${password}@${host}`);
    await using life = live('https://proxied.internal', addresses);
    await life.accepted(3);
    const reason = expect.toBeOneOf([why, 'timeout']) as string;
    expect(life.transport.addresses()).toMatchObject([
      { origin: 'https://proxied.internal', proxy: host, addresses: [{ failure: { reason } }, {}] },
    ]);
  });
});
