/**
 * 150 deployments with 256 open files live through 0.55 T of a service that cannot be connected to, whatever keeps it
 * from being: attempts that hang while they connect must not use the files up, for then nothing recovers. It needs the
 * machine to itself, being in real time: this process ends the TLS of 300 deployments.
 */
import { readdirSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { startEmulator, type Emulator } from '../../src/emulator/index.ts';
import { until } from '../support/daemon.ts';
import { startFaultProxy } from '../support/fault-proxy.ts';
import { startForwardProxy } from '../support/forward-proxy.ts';
import { describeWith, hasCommand } from '../support/optional.ts';
import { createPrivateCa, startTlsFront } from '../support/private-ca.ts';
import { startProgram } from '../support/process.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { PROGRAM } from '../support/program.ts';

const TTL_S = 40;
const OUTAGE_MS = 0.55 * TTL_S * 1000;
const FILES = 256;
const IDS = Array.from({ length: 150 }, (_, index) => index + 1);
const NO_PROXIES = { HTTP_PROXY: '', HTTPS_PROXY: '', NO_PROXY: '' };

interface Trouble extends AsyncDisposable {
  readonly baseUrl: string;
  readonly environment: Record<string, string>;
  readonly begin: () => Promise<void> | void;
  readonly end: () => Promise<void> | void;
}

/** TLS through a proxy, which in trouble takes each connection and does no more than its mode says. */
async function behindProxy(emulator: Emulator, inTrouble: 'mute' | 'hang'): Promise<Trouble> {
  const folder = temporaryFolder();
  const ca = createPrivateCa(folder.path);
  const front = await startTlsFront(ca.issue('service.internal'), emulator.port);
  const proxy = await startForwardProxy({ tls: front.port, http: emulator.port });
  return {
    baseUrl: 'https://service.internal',
    environment: { ...NO_PROXIES, NODE_EXTRA_CA_CERTS: ca.file, HTTPS_PROXY: proxy.url },
    begin() {
      proxy.mode = inTrouble;
      proxy.drop();
    },
    end: () => void (proxy.mode = 'forward'),
    async [Symbol.asyncDispose]() {
      await proxy[Symbol.asyncDispose]();
      await front[Symbol.asyncDispose]();
      folder[Symbol.dispose]();
    },
  };
}

async function behindNetwork(emulator: Emulator): Promise<Trouble> {
  const proxy = await startFaultProxy(emulator.port);
  return {
    baseUrl: proxy.url,
    environment: NO_PROXIES,
    begin: () => proxy.switchTo({ kind: 'hang-at-connect' }),
    end: () => proxy.switchTo({ kind: 'pass' }),
    [Symbol.asyncDispose]: () => proxy[Symbol.asyncDispose](),
  };
}

describeWith(
  'openssl',
  hasCommand('openssl', 'version') && process.platform === 'linux',
  'Linux, and apt-get install openssl',
)(`${IDS.length} deployments with ${FILES} open files`, () => {
  // Each cuts the way to the service before a request can be written to it.
  test.concurrent.each<[what: string, makeTrouble: (emulator: Emulator) => Promise<Trouble>]>([
    ['TCP is taken and TLS never answered', (emulator) => behindProxy(emulator, 'mute')],
    ['packets are dropped', behindNetwork],
    ['a proxy hangs in CONNECT', (emulator) => behindProxy(emulator, 'hang')],
  ])('live when %s', { timeout: 180_000 }, async (name, makeTrouble) => {
    await using emulator = await startEmulator({
      seed: { deployments: IDS.map((id) => ({ id, ttl: TTL_S })) },
    });
    await using trouble = await makeTrouble(emulator);
    await using program = startProgram(
      'bash',
      ['-c', `ulimit -n ${FILES} && exec "${process.execPath}" "${PROGRAM}" run`],
      {
        ...trouble.environment,
        PILOTLIGHT_API_KEY: emulator.apiKey,
        PILOTLIGHT_BASE_URL: trouble.baseUrl,
        PILOTLIGHT_DEPLOYMENTS: IDS.map((id) => `${id}@${TTL_S}s`).join(','),
        PILOTLIGHT_LISTEN: '127.0.0.1:0',
        PILOTLIGHT_ADMIN_LISTEN: '127.0.0.1:0',
        // The emulator's own connections are in this process: the daemon makes none of its own here.
        PILOTLIGHT_INSTANCES_SCHEDULE: 'off',
        PILOTLIGHT_ACCOUNT_SCHEDULE: 'off',
      },
    );
    const books = () => emulator.deployments.list();
    await until(() => books().every(({ beats }) => beats >= 1));
    await trouble.begin();
    let most = 0;
    for (const end = performance.now() + OUTAGE_MS; performance.now() < end; await delay(100))
      most = Math.max(most, readdirSync(`/proc/${program.child.pid}/fd`).length);
    await trouble.end();
    const beats = books().map((one) => one.beats);
    await until(() => books().every((one, index) => one.beats > (beats[index] ?? 0)));
    expect(books().filter(({ expired }) => expired)).toEqual([]);
    expect(most).toBeLessThan(FILES);
    expect(program.stderr()).not.toMatch(/EMFILE|please report/);
    const closest = Math.min(...books().map(({ minMarginMs }) => minMarginMs ?? 0));
    process.stdout.write(
      `${name}: at most ${most} files, closest approach ${(closest / 1000).toFixed(1)} s\n`,
    );
  });
});
