import { copyFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startEmulator } from '../../../src/emulator/index.ts';
import { startDaemonProcess, type DaemonProcess } from '../../support/daemon-process.ts';
import { until } from '../../support/daemon.ts';
import { startForwardProxy } from '../../support/forward-proxy.ts';
import { describeWith, hasCommand } from '../../support/optional.ts';
import { createPrivateCa, startTlsFront } from '../../support/private-ca.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

/** A name that only the proxy can reach. */
const NAME = 'service.internal';
/** The other case of a name that is set is empty beside it, as compose files pass it on. */
const NO_PROXIES = {
  HTTP_PROXY: '',
  HTTPS_PROXY: '',
  NO_PROXY: '',
  http_proxy: '',
  https_proxy: '',
  no_proxy: '',
};

/** The emulator behind TLS with a certificate of a private CA, and a proxy that leads to it. */
async function startNetwork() {
  const folder = temporaryFolder();
  const emulator = await startEmulator({ seed: { deployments: [{ id: 42, ttl: 60 }] } });
  const ca = createPrivateCa(folder.path);
  const front = await startTlsFront(ca.issue(NAME, 'localhost', '127.0.0.1'), emulator.port);
  const proxy = await startForwardProxy({ tls: front.port, http: emulator.port });
  return {
    emulator,
    ca,
    front,
    proxy,
    start: (baseUrl: string, others: Record<string, string>): Promise<DaemonProcess> =>
      startDaemonProcess(
        { API_KEY: emulator.apiKey, BASE_URL: baseUrl, DEPLOYMENTS: '42@60s', SHUTDOWN_TIMEOUT: '3s' },
        { ...NO_PROXIES, ...others },
      ),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await front[Symbol.asyncDispose]();
      await emulator.close();
      folder[Symbol.dispose]();
    },
  };
}

async function deployment(daemon: DaemonProcess) {
  return (await daemon.status()).deployments[0];
}

async function untilHealthy(daemon: DaemonProcess): Promise<void> {
  await until(async () => (await deployment(daemon))?.state === 'healthy');
}

async function failures(daemon: DaemonProcess, reason: string): Promise<number> {
  return (await deployment(daemon))?.failures[reason] ?? 0;
}

describeWith(
  'openssl',
  hasCommand('openssl', 'version'),
  'apt-get install openssl',
)('a service with a private CA', () => {
  test.concurrent('is trusted as soon as the file of NODE_EXTRA_CA_CERTS is there', async () => {
    await using network = await startNetwork();
    using folder = temporaryFolder();
    const bundle = join(folder.path, 'bundle.pem');
    await using daemon = await network.start(`https://127.0.0.1:${network.front.port}`, {
      NODE_EXTRA_CA_CERTS: bundle,
    });
    await until(async () => (await failures(daemon, 'tls')) > 1);
    copyFileSync(network.ca.file, bundle);
    await untilHealthy(daemon);
  });

  test.concurrent('is reached with NODE_EXTRA_CA_CERTS; without it the status says what is missing', async () => {
    await using network = await startNetwork();
    const address = `https://127.0.0.1:${network.front.port}`;
    await using trusting = await network.start(address, { NODE_EXTRA_CA_CERTS: network.ca.file });
    await untilHealthy(trusting);
    // A slow start may leave time for the second one, for the first does not wait for the rest of the daemon.
    const count = network.emulator.journal.count({ operation: 'deployments.heartbeat', status: 200 });
    expect(count).toBeGreaterThan(0);
    await using wary = await network.start(address, {});
    await until(async () => (await failures(wary, 'tls')) > 0);
    expect((await deployment(wary))?.last_error).toContain('NODE_EXTRA_CA_CERTS');
  });

  test.concurrent('is reached through HTTPS_PROXY, which goes away and comes back', async () => {
    await using network = await startNetwork();
    const { proxy } = network;
    await using daemon = await network.start(`https://${NAME}`, {
      HTTPS_PROXY: proxy.url,
      NODE_EXTRA_CA_CERTS: network.ca.file,
    });
    await untilHealthy(daemon);
    expect(proxy.requests[0]).toBe(`CONNECT ${NAME}:443`);
    proxy.mode = 'refuse';
    // The connections that are open would go on.
    await network.emulator.faults.add({ kind: 'reset', times: 8 });
    await until(async () => (await failures(daemon, 'connect')) > 0);
    proxy.mode = 'forward';
    await untilHealthy(daemon);
    expect((await deployment(daemon))?.lapses).toBe(0);
    expect(daemon.stderr()).not.toContain('s3cret');
  });
});
